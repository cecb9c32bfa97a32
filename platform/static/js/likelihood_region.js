/**
 * The likelihood region of a question with named answers: `candorRegion.region(counts, design, level)`, the intervals of all its numbers.
 * The same as candor/categories/region.py and candor/categories/likelihood.py, step for step. Needs numbers.js.
 */

globalThis.candorRegion = (() => {
  const { dot, gram, quantile, range, solve, sum, unit, upperTail } = globalThis.candorNumbers;
  const [GAP, NEARLY_ALL, SHRINKAGE, RIDGE, IMPOSSIBLE] = [1e-10, 0.99, 0.06, 1e-12, 1e-100];
  const [EDGE, NOBODY, ROUNDED] = [1e-7, 1e-5, 1e-6];
  const logLikelihood = (counts, mu) => sum(counts.map((n, at) => n * Math.log(Math.max(mu[at], IMPOSSIBLE))));
  const largest = (list) => list.reduce((a, b) => (b > a ? b : a));
  const combined = (rows, factors) => rows[0].map((_, at) => sum(rows.map((row, place) => row[at] * factors[place])));

  /** A share of the answer c is the sum over k of ON(c, k) times that of the answer k + 1; the first one follows from the others. */
  const on = (c, k) => (c === 0 ? -1 : Number(c === k + 1));

  /** All possible parameters: shares matrix · φ + offset, limits · φ ≤ ends. φ is each arm's x·p of all answers but the first, x, and Q. */
  function possible({ arms, truth, forced, q }) {
    const [size, others] = [forced[0].length, forced[0].length - 1];
    const at = arms.length * others;
    const rates = q ? 0 : others;
    const width = at + 1 + rates;
    const honest = (s, c) => forced[s][c] + (c ? 0 : truth[s]) - (q ? q[c] : Number(c === 0));
    const cells = arms.flatMap((_, a) => truth.flatMap((_one, s) => range(size).map((c) => [a, s, c])));
    const matrix = cells.map(([a, s, c]) => [
      ...range(at).map((place) => (Math.floor(place / others) === a ? truth[s] * on(c, place % others) : 0)),
      honest(s, c), ...range(rates).map((k) => on(c, k)),
    ]);
    const minus = (place) => unit(width, place).map((one) => -one);
    const limits = [
      ...range(at).map(minus),
      ...arms.map((_, a) => range(width).map((place) => (place === at ? -1 : Number(place < at && Math.floor(place / others) === a)))),
      ...range(rates).map((k) => minus(at + 1 + k)),
      range(width).map((place) => Number(place >= at)),
    ];
    return {
      matrix, limits, honest: at, offset: cells.map(([, , c]) => (q ? q[c] : Number(c === 0))),
      ends: limits.map((_, place) => Number(place === limits.length - 1)),
      inside: range(width).map((place) => (place === at ? 0.5 : 0.5 / size)),
    };
  }

  /** The largest log-likelihood between the limits, where normal · φ stays what it is at the start: a primal-dual interior-point method. */
  function highest(counts, { matrix, offset, limits, ends, inside }, normal = null, start = inside) {
    const people = sum(counts);
    const flatEnough = 1e-4 * Math.max(1, people / 1e4);
    let phi = start;
    let slack = ends.map((end, at) => end - dot(limits[at], phi));
    let force = slack.map((one) => (0.1 * people) / limits.length / one);
    const shares = () => matrix.map((row, at) => dot(row, phi) + offset[at]);
    for (const _ of range(120)) {
      const mu = shares().map((one) => Math.max(one, IMPOSSIBLE));
      const gap = dot(slack, force);
      const target = (SHRINKAGE * Math.max(gap, GAP)) / limits.length;
      const [curvature, held] = [gram(matrix, counts.map((n, at) => n / mu[at] ** 2)), gram(limits, force.map((one, at) => one / slack[at]))];
      const system = curvature.map((row, i) => [...row.map((one, j) => (one + held[i][j]) * (i === j ? 1 + RIDGE : 1)), ...(normal ? [normal[i]] : [])]);
      if (normal) system.push([...normal, 0]);
      const score = combined(matrix, counts.map((n, at) => n / mu[at]));
      const away = combined(limits, slack.map((one) => target / one));
      const solved = solve(system, [...score.map((one, at) => one - away[at]), ...(normal ? [0] : [])]);
      const step = solved.slice(0, phi.length);
      const change = limits.map((row) => -dot(row, step));
      const lifted = force.map((one, at) => (target - one * change[at]) / slack[at] - one);
      const reach = Math.max(largest(matrix.map((row, at) => -dot(row, step) / mu[at])), largest(change.map((one, at) => -one / slack[at])));
      const length = NEARLY_ALL / Math.max(reach, NEARLY_ALL);
      const climbed = NEARLY_ALL / Math.max(largest(lifted.map((one, at) => -one / force[at])), NEARLY_ALL);
      const pull = combined(limits, force);
      const slope = largest(score.map((one, at) => Math.abs(one - pull[at] - (normal ? solved[phi.length] * normal[at] : 0))));
      phi = phi.map((one, at) => one + length * step[at]);
      slack = slack.map((one, at) => one + length * change[at]);
      force = force.map((one, at) => one + climbed * lifted[at]);
      if (gap < GAP && (slope < flatEnough || Math.abs(dot(score, step)) < 1e-8)) break;
    }
    return { phi, logLikelihood: logLikelihood(counts, shares()) };
  }

  /** Where `excess`, −critical at the start, passes zero on the way to `end`; `end` where it does not. Anderson and Björck's false position. */
  function crossing(excess, start, end, critical) {
    let [near, below, far, above] = [start, -critical, end, excess(end)];
    if (above <= 0 || Number.isNaN(near)) return end;
    for (const attempt of range(80)) {
      const middle = attempt < 30 ? near - (below * (near - far)) / (below - above) : (near + far) / 2;
      const found = excess(middle);
      if (Math.abs(middle - near) <= 1e-10 || found === 0) return middle;
      if (found * below < 0) [far, above] = [near, below];
      else above *= 1 - found / below > 0 ? 1 - found / below : 0.5;
      [near, below] = [middle, found];
    }
    return near;
  }

  /** The quantile for numbers beside which another share may be at its end: that of ¾ χ² with 1 and ¼ with 2 degrees of freedom. */
  function quantileAtAnEnd(level) {
    let [low, high] = [0, 1000];
    while (high - low > 1e-13) {
      const middle = (low + high) / 2;
      if (middle === low || middle === high) break;
      if (0.75 * upperTail(0.5, middle / 2) + 0.25 * upperTail(1, middle / 2) > 1 - level) low = middle;
      else high = middle;
    }
    return Math.sqrt((low + high) / 2);
  }

  /** Shares above 0 with weights · p = value, where 0 and 1 are the ends of the weights. */
  function withMean(value, weights) {
    const mean = sum(weights) / weights.length;
    const above = value > mean;
    const even = above ? (1 - value) / (1 - mean) : value / mean;
    const end = weights.indexOf(above ? largest(weights) : -largest(weights.map((one) => -one)));
    return weights.map((_, at) => even / weights.length + (1 - even) * Number(at === end));
  }

  const cleaned = (value) => (Math.abs(value - Math.round(value)) < NOBODY ? Math.round(value) : value);

  /** The likelihood with the limits against that of the same linear model (`model`, which has them not). A statistic that is rounding alone has no p-value. */
  function modelTest(counts, model, free) {
    const unlimited = { ...model, limits: model.matrix.map((row) => row.map((one) => -one)), ends: model.offset };
    const [df, statistic] = [model.inside.length, Math.max(2 * (highest(counts, unlimited).logLikelihood - free.logLikelihood), 0)];
    const p = (upperTail((df - 1) / 2, statistic / 2) + upperTail(df / 2, statistic / 2)) / 2;
    return { statistic, df, p_value: statistic < ROUNDED ? undefined : p, contradicts: (level) => p < 1 - level };
  }

  /**
   * The region from each side: `honest`, `prevalences` by arm and measure and `effects` by contrast and measure, each with its most likely
   * value (`best`) and the ends of its interval. Counts as [arm][subsample][answer] in one list; `model` is that of named_answers.js.
   */
  function region(counts, design, measures, model, level) {
    const [shares, others] = [possible(design), design.forced[0].length - 1];
    const [free, width] = [highest(counts, shares), shares.inside.length];
    const x = free.phi[shares.honest];
    const estimated = !design.q && design.tellsCheaters;
    const [plain, wide] = [quantile(level), quantileAtAnEnd(level)];
    const even = range(others + 1).map(() => 1 / (others + 1));

    /** The ends of one number: `row` · φ = value · x, or = value for x itself; `parts` gives the shares of the arms at a value. */
    const shadow = (row, { isX = false, lowest = 0, critical, parts }) => {
      const start = isX ? x : x > NOBODY ? dot(row, free.phi) / x : NaN;
      const excess = (value) => {
        const at = Math.min(Math.max(value, lowest + EDGE), 1 - EDGE);
        const honest = isX ? at : 0.5;
        const begin = [
          ...parts(at).flatMap((arm) => arm.slice(1).map((one) => honest * one)), honest,
          ...(design.q ? [] : even.slice(1).map((one) => (1 - honest) * one)),
        ];
        const normal = isX ? row : row.map((one, place) => one - (place === shares.honest ? at : 0));
        return Math.sqrt(Math.max(2 * (free.logLikelihood - highest(counts, shares, normal, begin).logLikelihood), 0)) - critical;
      };
      const [low, high] = [lowest, 1].map((end) => crossing(excess, start, end, critical));
      return { best: cleaned(start), low, high };
    };
    const arms = (own) => design.arms.map((_, a) => own[a] ?? even);
    const difference = (a, { weights }) => range(width).map((place) =>
      place < shares.honest && Math.floor(place / others) === a ? weights[(place % others) + 1] - weights[0] : 0);
    const prevalences = design.arms.map((_, a) => measures.map((one) => {
      const row = difference(a, one).map((value, place) => (place === shares.honest ? one.weights[0] : value));
      return shadow(row, { critical: plain, parts: (value) => arms({ [a]: withMean(value, one.weights) }) });
    }));
    const effects = design.treatments.map((a) => measures.map((one) => {
      const [row, control] = [difference(a, one), difference(design.control, one)];
      const parts = (value) => arms({ [a]: withMean((1 + value) / 2, one.weights), [design.control]: withMean((1 - value) / 2, one.weights) });
      return shadow(row.map((value, place) => value - control[place]), { lowest: -1, critical: estimated ? wide : plain, parts });
    }));
    const honest = shadow(unit(width, shares.honest), { isX: true, critical: wide, parts: () => arms({}) });
    return { honest, prevalences, effects, test: modelTest(counts, model, free) };
  }

  return { on, region };
})();
