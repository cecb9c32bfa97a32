/**
 * The things that a student learns from the released difficulties of a quiz. Everything is computed in this page, from what is ticked in it; nothing is
 * sent, stored or put into an address.
 *
 * The numbers are those of `candor.rasch.feedback`. Marks in the page: [data-feedback] the quiz with what was released of it, [data-item] one
 * question, [data-result] the words whose numbers are filled in.
 */

import { need } from "./need.js";
import { written } from "./words.js";

const STEPS = 320;
const STEP = 0.025; // of the ability, in standard deviations of the class
const LOGISTIC_VARIANCE = (16 * Math.sqrt(3)) / (15 * Math.PI); // see candor.rasch.feedback
const TAIL = 0.025;
const HALVINGS = 60;
const FARTHEST = 30;

const logistic = (x) => 1 / (1 + Math.exp(-x));
const spread = ({ deviation }) => Math.sqrt(1 + (LOGISTIC_VARIANCE * deviation) ** 2);
const sum = (numbers) => numbers.reduce((total, one) => total + one, 0);

/** The chance to solve each item at one ability. */
export const chancesRight = (ability, items) => items.map((item) => logistic((ability - item.difficulty) / spread(item)));

/** The chance of each number of right answers. */
export function scoreDistribution(chances) {
  let found = [1];
  for (const chance of chances) {
    const next = new Array(found.length + 1).fill(0);
    found.forEach((share, score) => {
      next[score] += share * (1 - chance);
      next[score + 1] += share * chance;
    });
    found = next;
  }
  return found;
}

/**
 * Mean and 95 % interval of the posterior under N(mean, sd²), with what the release leaves open of each difficulty; and Warm's estimate.
 * `items` have `difficulty`, `deviation` and `solved`.
 */
export function abilityOf(items, { mean, sd }) {
  const slopes = items.map((item) => 1 / spread(item));
  const abilities = [];
  const logarithms = [];
  for (let place = -STEPS; place <= STEPS; place += 1) {
    const standard = place * STEP;
    const ability = mean + sd * standard;
    let logarithm = -(standard ** 2) / 2;
    items.forEach((item, index) => {
      const logit = (ability - item.difficulty) * slopes[index];
      logarithm -= Math.log1p(Math.exp(item.solved ? -logit : logit));
    });
    abilities.push(ability);
    logarithms.push(logarithm);
  }
  const highest = Math.max(...logarithms);
  const weights = logarithms.map((one) => Math.exp(one - highest));
  const total = sum(weights);
  const value = sum(weights.map((weight, place) => weight * abilities[place])) / total;
  return { value, low: quantile(TAIL), high: quantile(1 - TAIL), warm: warm(items) };

  function quantile(share) {
    let below = 0;
    let [lastShare, lastAbility] = [0, abilities[0]];
    for (const [place, weight] of weights.entries()) {
      const middle = (below + weight / 2) / total;
      if (middle >= share) {
        return place ? lastAbility + ((share - lastShare) / (middle - lastShare)) * (abilities[place] - lastAbility) : abilities[0];
      }
      below += weight;
      [lastShare, lastAbility] = [middle, abilities[place]];
    }
    return abilities.at(-1);
  }
}

/** Warm's weighted likelihood estimate: the root of Σ(x − P) + J/(2I). */
function warm(items) {
  const solved = items.filter((item) => item.solved).length;
  const difficulties = items.map((item) => item.difficulty);
  const slope = (ability) => {
    const right = difficulties.map((difficulty) => logistic(ability - difficulty));
    const information = right.map((one) => one * (1 - one));
    return solved - sum(right) + sum(information.map((one, place) => one * (1 - 2 * right[place]))) / (2 * sum(information));
  };
  let [low, high] = [Math.min(...difficulties) - FARTHEST, Math.max(...difficulties) + FARTHEST];
  for (let step = 0; step < HALVINGS; step += 1) {
    const middle = (low + high) / 2;
    [low, high] = slope(middle) > 0 ? [middle, high] : [low, middle];
  }
  return (low + high) / 2;
}

const quiz = document.querySelector("[data-feedback]");
if (quiz) begin(quiz);

function begin(quiz) {
  const result = need(document, "[data-result]");
  const wanted = need(result, "[data-wanted]");
  const fields = [...quiz.querySelectorAll("[data-item]")];
  const group = { mean: Number(quiz.dataset.mean), sd: Number(quiz.dataset.sd) };
  const isOmittedWrong = quiz.dataset.omitted === "wrong";
  const ofTheClass = quiz.dataset.values ? { values: JSON.parse(quiz.dataset.values), shares: JSON.parse(quiz.dataset.shares) } : null;
  const whole = new Intl.NumberFormat(document.documentElement.lang, { style: "percent" });

  const items = () =>
    fields.map((field) => {
      const ticked = need(field, "input:checked");
      return {
        difficulty: Number(field.dataset.difficulty),
        deviation: Number(field.dataset.deviation),
        solved: "right" in ticked.dataset,
        given: ticked.value !== "",
      };
    });
  const say = (name, text) => {
    for (const place of result.querySelectorAll(`[data-say="${name}"]`)) place.textContent = text;
  };

  const show = () => {
    const all = items();
    const given = all.filter((item) => item.given);
    result.hidden = !given.length;
    if (!given.length) return;
    const found = abilityOf(isOmittedWrong ? all : given, group);
    const chances = chancesRight(found.value, all);
    const distribution = scoreDistribution(chances);
    say("solved", all.filter((item) => item.solved).length);
    say("ability", written(found.value, 1));
    say("low", written(found.low, 1));
    say("high", written(found.high, 1));
    say("warm", written(found.warm, 1));
    say("expected", written(sum(chances), 1));
    say("at-least", whole.format(sum(distribution.slice(Math.max(0, Math.ceil(Number(wanted.value) || 0))))));
    if (ofTheClass) say("below", whole.format(sum(ofTheClass.shares.filter((_share, place) => ofTheClass.values[place] < found.value))));
    chances.forEach((chance, place) => say(`chance-${place}`, whole.format(chance)));
  };

  quiz.addEventListener("change", show);
  wanted.addEventListener("input", show);
  show();
}
