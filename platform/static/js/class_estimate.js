/**
 * The share of a class that would truly say yes, from two halves with different dice, when some people ignore the die and say no.
 *
 * With x the share of people who follow the die and p the share sought, half s says yes with probability x·(f_s + t_s·p), where its die says
 * yes with f_s and asks for the truth with t_s. The interval holds each p for which some x explains the answers almost as well as the best
 * pair does: twice the logarithm of the likelihood ratio is at most the 95 % quantile of χ² with one degree of freedom. It is the region of
 * docs/methods.md for this case, and a test compares both.
 */

const QUANTILE = 3.841458820694124;
const STEPS = 60;

/** The largest log-likelihood for this p, over all x. It is concave in x. */
function profile(halves, p) {
  const chances = halves.map(({ forced, truth }) => forced + truth * p);
  const slope = (x) => halves.reduce((sum, { n, yes }, s) => sum + yes / x - ((n - yes) * chances[s]) / (1 - x * chances[s]), 0);
  let x = 1;
  if (chances.some((chance) => chance >= 1) || slope(1) < 0) {
    let [low, high] = [0, 1];
    for (let step = 0; step < STEPS; step += 1) {
      x = (low + high) / 2;
      if (slope(x) > 0) low = x;
      else high = x;
    }
  }
  return halves.reduce((sum, { n, yes }, s) => sum + times(yes, x * chances[s]) + times(n - yes, 1 - x * chances[s]), 0);
}

const times = (count, chance) => (count === 0 ? 0 : count * Math.log(chance));

/** Where a condition that holds at `from` ceases to hold on the way to `to`. */
function lastPlace(from, to, holds) {
  if (holds(to)) return to;
  let [inside, outside] = [from, to];
  for (let step = 0; step < STEPS; step += 1) {
    const middle = (inside + outside) / 2;
    if (holds(middle)) inside = middle;
    else outside = middle;
  }
  return inside;
}

/** `halves`: for each, `n` people, `yes` answers, and the chances `forced` and `truth` of its die. Returns `share`, `low`, `high`. */
export function estimate(halves) {
  let [low, high] = [0, 1];
  for (let step = 0; step < 2 * STEPS; step += 1) {
    const third = (high - low) / 3;
    if (profile(halves, low + third) < profile(halves, high - third)) low += third;
    else high -= third;
  }
  const share = (low + high) / 2;
  const least = profile(halves, share) - QUANTILE / 2;
  const isPossible = (p) => profile(halves, p) >= least;
  return { share, low: lastPlace(share, 0, isPossible), high: lastPlace(share, 1, isPossible) };
}

/** The estimate of somebody who believes that everybody follows the die. */
export function believing(halves) {
  const over = (count) => halves.reduce((sum, half) => sum + count(half), 0);
  return over(({ n, yes, forced }) => yes - n * forced) / over(({ n, truth }) => n * truth);
}
