/**
 * The estimates of questions whose answers are named: `candorNamedAnswers.recomputed(rows, question, level)`, as results.json has them under
 * `categories`. The same as candor/categories, function for function. Needs numbers.js and likelihood_region.js.
 */

globalThis.candorNamedAnswers = (() => {
  const { column, dot, fraction, gram, holm, inverse, minus, number, pairs, parallel, quadratic, quantile, range, same, solve, sum, unit, upperTail } =
    globalThis.candorNumbers;
  const { on, region } = globalThis.candorRegion;
  const [ROUNDING, TOLERANCE] = [1e-9, 1e-12];
  const EVERYBODY = "all arms";
  const chiSquare = (df, statistic) => upperTail(df / 2, Math.max(statistic, 0) / 2);

  /** The design as numbers, and what it identifies, which exact fractions decide. */
  function designOf({ arms, control, categories, scores = [], subsamples, cheater_model: model }) {
    const rules = Object.values(subsamples).map((one) => categories.map((name) => fraction(one[name])));
    const truth = rules.map((forced) => forced.reduce(minus, [1n, 1n]));
    const stated = model?.always ? { [model.always]: "1" } : model?.distribution;
    const q = stated ? categories.map((name) => fraction(stated[name] ?? "0")) : null;
    const everywhere = (points) => categories.every((_, c) => pairs(rules.map((forced, s) => points(forced[c], s, c))).every(parallel));
    const line = everywhere((yes, s, c) => [minus(truth[s], truth[0]), minus(yes, rules[0][c])]);
    const equal = truth.every((one) => same(one, truth[0]));
    const found = q ? !everywhere((yes, s, c) => [truth[s], minus(yes, q[c])]) : equal || !line;
    return {
      arms, names: Object.keys(subsamples), categories, control: arms.indexOf(control), scores: scores.map((one) => number(fraction(one))),
      treatments: range(arms.length).filter((at) => arms[at] !== control), truth: truth.map(number),
      forced: rules.map((forced) => forced.map(number)), q: q?.map(number), equal, found, tellsCheaters: !line, prevalence: q ? found : !line,
    };
  }

  /** The numbers that are told of each arm: weights of the answers between 0 and 1, which stand for low + (high − low) times them. */
  function measuresOf({ categories, scores }) {
    const found = categories.map((category, c) => ({ measure: "category", category, weights: unit(categories.length, c), low: 0, spread: 1 }));
    if (!scores.length) return found;
    const [low, spread] = [scores[0], scores[scores.length - 1] - scores[0]];
    const above = categories.map((category, c) => ({ measure: "at_least", category, weights: categories.map((_, at) => Number(at >= c)), low: 0, spread: 1 }));
    return [...found, ...above.slice(1), { measure: "mean_score", category: null, weights: scores.map((one) => (one - low) / spread), low, spread }];
  }

  /** The linear model of the shares of every answer in every cell: candor.categories.linear_model.category_model. */
  function categoryModel({ arms, categories, truth, forced, q, equal, found }) {
    const [size, others] = [categories.length, categories.length - 1];
    const stated = q ?? categories.map(() => 0);
    const cells = arms.flatMap((_, a) => truth.flatMap((_one, s) => range(size).map((c) => [a, s, c])));
    const x = (s, c) => sum(range(others).map((k) => (forced[s][k + 1] - stated[k + 1]) * on(c, k)));
    const matrix = cells.map(([a, s, c]) => [
      ...arms.flatMap((_, arm) => range(others).map((k) => (arm === a ? truth[s] * on(c, k) : 0))),
      ...(found ? [x(s, c)] : []),
      ...(q || equal ? [] : range(others).map((k) => on(c, k))),
    ]);
    const offset = cells.map(([, , c]) => (c ? stated[c] : 1 - sum(stated.slice(1))));
    const middle = cells.map(([, s, c]) => (truth[s] / size + forced[s][c]) / 2 + (q ? q[c] : 1 / size) / 2);
    return { matrix, offset, honest: found ? arms.length * others : null, inside: nearest(matrix, middle.map((one, at) => one - offset[at])) };
  }

  /** Least squares. */
  const nearest = (matrix, target) => solve(gram(matrix, target.map(() => 1)), matrix[0].map((_, at) => dot(column(matrix, at), target)));

  /** The top of the concave likelihood by Newton's steps, with its shares and the weights of the expected information. */
  function fitted(counts, { matrix, offset }, start, size) {
    const answers = counts.map((n) => n || 0.5);
    let beta = start;
    const sharesAt = () => matrix.map((row, at) => dot(row, beta) + offset[at]);
    for (const _ of range(100)) {
      const mu = sharesAt();
      const slope = matrix[0].map((_one, at) => sum(matrix.map((row, cell) => (answers[cell] / mu[cell]) * row[at])));
      const step = solve(gram(matrix, answers.map((n, cell) => n / mu[cell] ** 2)), slope);
      const shift = matrix.map((row) => dot(row, step));
      const gain = sum(answers.map((n, cell) => (n * shift[cell]) / mu[cell]));
      const height = (length) => sum(answers.map((n, cell) => n * Math.log(mu[cell] + length * shift[cell])));
      let length = 0.95 / Math.max(0.95, ...shift.map((one, cell) => -one / mu[cell]));
      const before = height(0);
      for (let half = 0; half < 40 && !(height(length) - before >= 0.1 * length * gain - 1e-12 * Math.abs(before)); half += 1) length /= 2;
      beta = beta.map((one, at) => one + length * step[at]);
      const far = (list) => Math.max(...list.map(Math.abs));
      if (far(step) <= TOLERANCE || far(shift.map((one, cell) => (length * one) / mu[cell])) <= TOLERANCE) break;
    }
    const shares = sharesAt();
    const weights = shares.map((one, cell) => {
      const people = sum(counts.slice(cell - (cell % size), cell - (cell % size) + size));
      const least = 0.5 / (people + 1);
      return people / Math.min(Math.max(one, least), 1 - least);
    });
    return { beta, shares, weights };
  }

  /** The fit of one question: rows of arms, ratios to x, the covariance, and that without an effect of one treatment. */
  function fitOf(counts, design) {
    const [model, size] = [categoryModel(design), design.categories.length];
    const { matrix, honest, inside } = model;
    const { beta, shares, weights } = fitted(counts, model, inside, size);
    const covariance = inverse(gram(matrix, weights));
    const others = size - 1;
    const ofArm = (arm, own) => beta.map((_, at) => (at < design.arms.length * others && Math.floor(at / others) === arm ? own[(at % others) + 1] - own[0] : 0));
    const contrast = (arm, own) => ofArm(arm, own).map((one, at) => one - ofArm(design.control, own)[at]);
    const ratio = (row, cut = false) => {
      if (honest === null || beta[honest] <= ROUNDING) return { value: null, error: null };
      const x = cut ? Math.min(beta[honest], 1) : beta[honest];
      const value = (dot(row, beta) - (dot(row, covariance[honest]) / covariance[honest][honest]) * (beta[honest] - x)) / x;
      const gradient = row.map((one, at) => (one - (at === honest ? value : 0)) / x);
      return { value, error: Math.sqrt(Math.max(quadratic(gradient, covariance), 0)) };
    };
    const shareOf = (arm, own) => ofArm(arm, own).map((one, at) => one + (at === honest ? own[0] : 0));
    /** Whether two shares, or what effects leave of x, are less than two standard errors from 0: the region's quantiles are not for that. */
    const manyAtEnds = () => {
      if (honest === null || (size === 2 && design.arms.length <= 2)) return false;
      const by = design.arms.map((_, arm) => range(size).map((c) => shareOf(arm, unit(size, c))));
      const apart = by.flatMap((one, at) => by.flatMap((other, to) => (at === to ? [] : one.map((row, c) => row.map((value, p) => Number(p === honest) - value + other[c][p])))));
      return [...by.flat(), ...apart].filter((row) => dot(row, beta) < 2 * Math.sqrt(quadratic(row, covariance))).length > 1;
    };
    /** Fieller's limits of row·β/x for x above 0, from the lowest to 1; null where there is none. */
    const withoutLimits = (row, z, lowest) => {
      const [only, x] = [unit(beta.length, honest), beta[honest]];
      const [top, spread] = [dot(row, beta), (one, other) => z ** 2 * quadratic(one, covariance, other)];
      const [a, b, c] = [x ** 2 - spread(only, only), top * x - spread(row, only), top ** 2 - spread(row, row)];
      if (a <= 0 && b ** 2 <= a * c) return { low: lowest, high: 1 };
      const root = Math.sqrt(Math.max(b ** 2 - a * c, 0));
      const below = top * spread(only, only) < x * spread(row, only);
      const least = (below ? -b : b) + root;
      const end = least ? c / least : Infinity;
      const oneSided = below ? [lowest, -end] : [end, 1];
      const [low, high] = a <= 0 ? oneSided : [(b - root) / a, (b + root) / a];
      return (a > 0 && x <= 0) || low > 1 || high < lowest ? null : { low: Math.max(low, lowest), high: Math.min(high, 1) };
    };
    const without = (arm) => {
      const merged = matrix.map((row) => row.map((one, at) => (Math.floor(at / others) === design.control ? one + row[arm * others + (at % others)] : one)));
      const alike = merged.map((row) => row.filter((_, at) => Math.floor(at / others) !== arm));
      const start = nearest(alike, matrix.map((row) => dot(row, inside)));
      const people = sum(counts);
      const unscaled = inverse(gram(matrix, fitted(counts, { ...model, matrix: alike }, start, size).weights));
      return unscaled.map((row) => row.map((one) => (one * people) / Math.max(people - alike[0].length, 1)));
    };
    const nulls = Object.fromEntries(design.treatments.map((arm) => [arm, without(arm)]));
    return { model, beta, covariance, honest, shares, weights, ofArm, shareOf, contrast, ratio, limited: manyAtEnds(), withoutLimits, nulls };
  }

  /** χ² of no effect on any answer, by contrast: the smaller one of those with two covariances. */
  function noEffectTests({ beta, covariance, contrast, nulls }, { arms, categories, control, treatments }) {
    const df = categories.length - 1;
    const tests = treatments.map((arm) => {
      const rows = range(df).map((k) => contrast(arm, unit(df + 1, k + 1)));
      const delta = rows.map((row) => dot(row, beta));
      const statistics = [covariance, nulls[arm]].map((which) => dot(delta, solve(rows.map((row) => rows.map((other) => quadratic(row, which, other))), delta)));
      const statistic = Math.min(...statistics);
      return { treatment: arms[arm], control: arms[control], statistic, df, p_value: chiSquare(df, statistic) };
    });
    const adjusted = holm(tests.map((test) => test.p_value));
    return tests.map((test, at) => ({ ...test, adjusted_p_value: adjusted[at] }));
  }

  function effectsOf(fit, found, design, { measures, level, possible, contradicted }) {
    const z = quantile(level);
    const effects = design.treatments.flatMap((arm, at) => measures.map(({ measure, category, weights, spread }, index) => {
      const row = fit.contrast(arm, weights);
      const [delta, error, none] = [dot(row, fit.beta), ...[fit.covariance, fit.nulls[arm]].map((which) => Math.sqrt(quadratic(row, which)))].map((one) => spread * one);
      const [raw, cut] = [fit.ratio(row), fit.ratio(row, true)];
      const { best, ...shadow } = found.effects[at][index];
      const { low, high } = holding(shadow, design.found && fit.limited ? fit.withoutLimits(row, z, -1) : null);
      const value = possible && raw.value !== null ? spread * raw.value : design.found && !Number.isNaN(best) ? spread * best : null;
      const wald = raw.value === null || contradicted ? null
        : { kind: "wald", low: spread * (raw.value - z * cut.error), high: spread * (raw.value + z * cut.error), level };
      return {
        treatment: design.arms[arm], control: design.arms[design.control], measure, category, value: contradicted ? null : value,
        standard_error: cut.error === null ? null : spread * cut.error, interval: intervalOf(spread * low, spread * high, contradicted, level), wald,
        honest_times_effect: { value: delta, standard_error: error, p_value: chiSquare(1, (delta / Math.max(error, none)) ** 2) },
      };
    }));
    for (const kind of new Set(measures.map(({ measure }) => measure))) {
      const alike = effects.filter(({ measure }) => measure === kind);
      const oneForTwo = kind === "category" && design.categories.length === 2;
      const adjusted = holm(alike.filter((_, at) => !oneForTwo || at % 2 === 0).map((one) => one.honest_times_effect.p_value));
      alike.forEach((one, at) => Object.assign(one, { p_value: one.honest_times_effect.p_value, adjusted_p_value: adjusted[oneForTwo ? Math.floor(at / 2) : at] }));
    }
    return effects;
  }

  /** Ends that hold others, too. */
  const holding = ({ low, high }, others) => (others ? { low: Math.min(low, others.low), high: Math.max(high, others.high) } : { low, high });

  const intervalOf = (low, high, contradicted, level) =>
    contradicted ? { kind: "empty", low: null, high: null, level } : { kind: "likelihood", low, high, level };

  function prevalenceOf(fit, found, design, { measures, level, contradicted }) {
    if (!design.prevalence && design.arms.length > 1) return [];
    return design.arms.flatMap((arm, a) => {
      const shares = design.categories.map((_, c) => fit.ratio(fit.ofArm(a, unit(design.categories.length, c))).value + Number(c === 0));
      const known = design.prevalence && fit.beta[fit.honest] > ROUNDING;
      const possible = known && fit.beta[fit.honest] <= 1 && shares.every((one) => one >= 0 && one <= 1);
      return measures.map(({ measure, category, weights, low, spread }, index) => {
        const raw = known ? fit.ratio(fit.ofArm(a, weights)) : null;
        const shadow = found.prevalences[a][index];
        const ends = holding(shadow, design.prevalence && fit.limited ? fit.withoutLimits(fit.shareOf(a, weights), quantile(level), 0) : null);
        const best = Number.isNaN(shadow.best) ? null : low + spread * shadow.best;
        const value = possible ? low + spread * (weights[0] + raw.value) : best;
        return {
          arm, measure, category, value: contradicted || !design.prevalence ? null : value,
          standard_error: raw === null || contradicted ? null : spread * raw.error,
          interval: intervalOf(low + spread * ends.low, low + spread * ends.high, contradicted, level),
        };
      });
    });
  }

  function cheatersOf(fit, { honest }, { level, possible, contradicted }) {
    const ends = { low: 1 - honest.high, high: 1 - honest.low };
    if (fit.honest === null) return { value: null, raw: null, standard_error: null, interval: intervalOf(ends.low, ends.high, contradicted, level) };
    const [raw, error] = [1 - fit.beta[fit.honest], Math.sqrt(fit.covariance[fit.honest][fit.honest])];
    const wald = { low: Math.max(raw - quantile(level) * error, 0), high: Math.min(raw + quantile(level) * error, 1) };
    const { low, high } = holding(ends, fit.limited && wald.low <= wald.high ? wald : null);
    const value = possible ? Math.min(Math.max(raw, 0), 1) : 1 - honest.best;
    return { value: contradicted ? null : value, raw, standard_error: error, interval: intervalOf(low, high, contradicted, level) };
  }

  /** Pearson's χ² of the model; null where it fits everything. */
  function specificationTest(counts, { beta, shares, weights }, { arms, names, categories }) {
    const [size, df] = [categories.length, arms.length * names.length * (categories.length - 1) - beta.length];
    if (!df) return null;
    const statistic = sum(counts.map((n, cell) => {
      const people = sum(counts.slice(cell - (cell % size), cell - (cell % size) + size));
      return (n / people - shares[cell]) ** 2 * weights[cell];
    }));
    return { statistic, df, p_value: chiSquare(df, statistic) };
  }

  /** All numbers of one table, [arm][subsample][answer] in one list. */
  function outcomeOf(counts, design, level) {
    const [fit, measures] = [fitOf(counts, design), measuresOf(design)];
    const found = region(counts, design, measures, fit.model, level);
    const largest = Math.max(0, ...design.treatments.flatMap((arm) => measures.map(({ weights }) => Math.abs(dot(fit.contrast(arm, weights), fit.beta)))));
    const x = fit.honest === null ? NaN : fit.beta[fit.honest];
    const options = {
      measures, level, contradicted: found.test.contradicts(level), possible: largest - ROUNDING <= x && x <= 1 + ROUNDING,
    };
    const ratios = design.forced.flatMap((forced, s) => forced.map((one) => (design.truth[s] + one) / one));
    return {
      n: sum(counts), epsilon: ratios.every(Number.isFinite) ? Math.log(Math.max(...ratios)) : null, identified: design.found,
      cheater_proportion: cheatersOf(fit, found, options), no_effect: noEffectTests(fit, design), effects: effectsOf(fit, found, design, options),
      prevalence: prevalenceOf(fit, found, design, options), model_test: { ...found.test, contradicts: undefined }, specification_test: specificationTest(counts, fit, design),
    };
  }

  /** The test that answers are missing alike in every cell, and what they could change: candor.estimators.missing_answers. */
  function missingAnswers(counts, absent, { arms, categories, control, names, treatments, truth }) {
    const [size, all] = [categories.length, sum(absent)];
    if (!all) return null;
    const answered = peopleIn(counts, size);
    const cells = answered.map((one, at) => [one, absent[at]]);
    const totals = [sum(answered), all];
    const n = sum(totals);
    const statistic = sum(cells.flatMap((cell) => cell.map((one, at) => (one - (sum(cell) * totals[at]) / n) ** 2 / ((sum(cell) * totals[at]) / n))));
    const meanTruth = sum(cells.map((cell, at) => (sum(cell) * truth[at % names.length]) / n));
    const inArm = (list, arm) => sum(list.slice(arm * names.length, (arm + 1) * names.length));
    const facts = (arm, c) => {
      const [yes, there, gone] = [sum(range(names.length).map((s) => counts[(arm * names.length + s) * size + c])), inArm(answered, arm), inArm(absent, arm)];
      return { share: yes / there, rate: there / (there + gone), low: yes / (there + gone), high: (yes + gone) / (there + gone) };
    };
    const contrasts = treatments.flatMap((arm) => categories.map((category, c) => {
      const [one, other] = [facts(arm, c), facts(control, c)];
      const excess = 1 - Math.min(one.rate, other.rate) / Math.max(one.rate, other.rate);
      const trimmed = ({ share }) => [Math.max(0, (share - excess) / (1 - excess)), Math.min(1, share / (1 - excess))];
      const [left, right] = one.rate >= other.rate ? [trimmed(one), [other.share, other.share]] : [[one.share, one.share], trimmed(other)];
      const pair = (low, high) => [low / meanTruth, high / meanTruth];
      return {
        treatment: arms[arm], control: arms[control], category, answered: [one.rate, other.rate], observed: (one.share - other.share) / meanTruth,
        lee: pair(left[0] - right[1], left[1] - right[0]), worst_case: pair(one.low - other.high, one.high - other.low),
      };
    }));
    return { missing: all, share: all / n, statistic, df: cells.length - 1, p_value: chiSquare(cells.length - 1, statistic), contrasts };
  }

  const peopleIn = (counts, size) => range(counts.length / size).map((cell) => sum(counts.slice(cell * size, (cell + 1) * size)));

  /** The answers to one question as [arm][subsample][answer] in one list, and the rows without one as [arm][subsample]. */
  function countsOf(rows, { column: name }, { arms, names, categories }) {
    const absent = Array(arms.length * names.length).fill(0);
    const counts = Array(absent.length * categories.length).fill(0);
    for (const row of rows) {
      const cell = arms.indexOf(row.arm) * names.length + names.indexOf(row.subsample);
      if (row[name]) counts[cell * categories.length + categories.indexOf(row[name])] += 1;
      else absent[cell] += 1;
    }
    return { counts, absent };
  }

  function recomputed(rows, question, level) {
    const design = designOf(question.design);
    const { counts, absent } = countsOf(rows, question, design);
    if (peopleIn(counts, design.categories.length).includes(0)) return { n: sum(counts) };
    if (question.purpose !== "background") return { ...outcomeOf(counts, design, level), missing_answers: missingAnswers(counts, absent, design) };
    if (design.arms.length === 1) return outcomeOf(counts, design, level);
    const inArm = counts.length / design.arms.length;
    const together = range(inArm).map((at) => sum(design.arms.map((_, arm) => counts[arm * inArm + at])));
    const everybody = outcomeOf(together, { ...design, arms: [EVERYBODY], control: 0, treatments: [] }, level);
    return { ...everybody, no_effect: noEffectTests(fitOf(counts, design), design) };
  }

  return { recomputed };
})();
