/**
 * The estimates of a data package, computed again from data.csv and protocol.json: `candorEstimates.recomputed(csv, protocol, results)`.
 *
 * Of yes/no questions it computes what has a closed form or is the top of a concave likelihood: effects, cheaters and prevalence with standard
 * errors, p-values, Fieller's and Wald's intervals. Their likelihood region and the bootstrap stay with replicate.py. Formulas:
 * docs/methods.md; the same as in candor/estimators, function for function. Needs numbers.js, and named_answers.js for named answers.
 */

globalThis.candorEstimates = (() => {
  const { column, dot, fraction, gram, holm, inverse, minus, number, pairs, parallel, pValue, quadratic, quantile, range, rowsOf, same, solve, sum, upperTail } =
    globalThis.candorNumbers;
  const ROUNDING = 1e-9;
  const [NO, YES] = [0, 1];

  /** The design as numbers, and what it identifies. */
  function designOf({ arms, control, subsamples, cheater_model: model, allocation }) {
    const rules = Object.values(subsamples).map((one) => ({ no: fraction(one.forced_no), yes: fraction(one.forced_yes) }));
    const truth = rules.map(({ no, yes }) => minus(minus([1n, 1n], no), yes));
    const rate = { always_no: "0", always_yes: "1" }[model] ?? model?.yes_rate;
    const known = rate === undefined ? null : fraction(rate);
    const points = rules.map(({ yes }, at) => [minus(truth[at], truth[0]), minus(yes, rules[0].yes)]);
    const line = pairs(points).every(parallel);
    const equal = truth.every((one) => same(one, truth[0]));
    const found = known ? !pairs(rules.map(({ yes }, at) => [truth[at], minus(yes, known)])).every(parallel) : equal || !line;
    const names = Object.keys(subsamples);
    return {
      arms, names, control: arms.indexOf(control), treatments: range(arms.length).filter((at) => arms[at] !== control),
      truth: truth.map(number), forced: rules.map(({ yes }) => number(yes)), known: known && number(known),
      shares: names.map((name) => (allocation?.subsamples ? number(fraction(allocation.subsamples[name])) : 1 / names.length)),
      equal, found, prevalence: known ? found : !line,
    };
  }

  /** Rows without an answer to a question are left out; [arm][subsample][no, yes]. */
  function countsOf(rows, protocol, design) {
    const counts = (one) => {
      const table = design.arms.map(() => design.names.map(() => [0, 0]));
      for (const row of rows) {
        const answer = row[one.column];
        if (answer) table[design.arms.indexOf(row.arm)][design.names.indexOf(row.subsample)][Number(answer)] += 1;
      }
      return table;
    };
    return { n: rows.length, tables: Object.fromEntries(protocol.questions.map((one) => [one.name, counts(one)])) };
  }

  /** The linear model of the cell means: candor.estimators.cell_means.cell_model. */
  function cellModel({ arms, truth, forced, known, equal, found }) {
    const offset = known ?? 0;
    const extra = (s) => (!found ? (known === null ? [1] : []) : known !== null || equal ? [forced[s] - offset] : [forced[s], 1]);
    const cells = arms.flatMap((_, a) => truth.map((_one, s) => [a, s]));
    return {
      offset, honest: found ? arms.length : null,
      matrix: cells.map(([a, s]) => [...arms.map((_, arm) => (arm === a ? truth[s] : 0)), ...extra(s)]),
      inside: cells.map(([, s]) => (truth[s] / 2 + forced[s]) / 2 + (known ?? 0.5) / 2),
    };
  }

  /** The top of the concave likelihood by Newton's steps, cut and halved as in candor.fitting.identity_link. */
  function mostLikely(table, matrix, { offset, inside }) {
    const [y, z] = [YES, NO].map((answer) => table.map((cell) => cell[answer] || 0.5));
    const height = (means) => sum(means.map((mean, at) => y[at] * Math.log(mean) + z[at] * Math.log(1 - mean)));
    const start = inside.map((mean) => mean - offset);
    let beta = solve(gram(matrix, start.map(() => 1)), range(matrix[0].length).map((at) => dot(column(matrix, at), start)));
    for (const _ of range(100)) {
      const mu = matrix.map((row) => dot(row, beta) + offset);
      const slope = range(beta.length).map((at) => sum(mu.map((mean, cell) => (y[cell] / mean - z[cell] / (1 - mean)) * matrix[cell][at])));
      let change = solve(gram(matrix, mu.map((mean, cell) => y[cell] / mean ** 2 + z[cell] / (1 - mean) ** 2)), slope);
      const shift = matrix.map((row) => dot(row, change));
      const way = Math.max(...shift.map((step, cell) => Math.max(-step / mu[cell], step / (1 - mu[cell]))));
      if (way > 0.2) {
        let length = 0.95 / Math.max(way, 0.95);
        const before = height(mu);
        for (const _half of range(30)) {
          const gained = height(mu.map((mean, cell) => mean + length * shift[cell])) - before;
          if (gained >= 0.1 * length * dot(slope, change) - 1e-12 * Math.abs(before)) break;
          length /= 2;
        }
        change = change.map((step) => step * length);
      }
      beta = beta.map((value, at) => value + change[at]);
      const near = Math.max(...shift.map((step, cell) => Math.abs(step / Math.min(mu[cell], 1 - mu[cell])))) <= 1e-5;
      if (near || Math.max(...change.map(Math.abs)) <= 1e-9) break;
    }
    return beta;
  }

  function fitted(table, matrix, model) {
    const beta = mostLikely(table, matrix, model);
    const means = matrix.map((row) => dot(row, beta) + model.offset);
    const weights = means.map((mean, cell) => {
      const size = sum(table[cell]);
      const least = 0.5 / (size + 1);
      const share = Math.min(Math.max(mean, least), 1 - least);
      return size / (share * (1 - share));
    });
    return { beta, means, weights };
  }

  /** Efficient Δ̂ and x̂ with their covariance, and the fit. */
  function efficient(counts, design) {
    const [table, model] = [counts.flat(), cellModel(design)];
    const { matrix, honest } = model;
    const { beta, means, weights } = fitted(table, matrix, model);
    const covariance = inverse(gram(matrix, weights));
    const n = sum(table.flat());
    const contrasts = design.treatments.map((arm) => {
      const row = range(beta.length).map((at) => Number(at === arm) - Number(at === design.control));
      const alike = matrix.map((cells) => cells.map((value, at) => (at === design.control ? value + cells[arm] : value)).filter((_, at) => at !== arm));
      const pooled = inverse(gram(matrix, fitted(table, alike, model).weights));
      return {
        value: dot(row, beta), variance: quadratic(row, covariance),
        nullVariance: (quadratic(row, pooled) * n) / Math.max(n - alike[0].length, 1),
        covariance: honest === null ? NaN : dot(row, covariance[honest]),
      };
    });
    const [x, xVariance] = honest === null ? [NaN, NaN] : [beta[honest], covariance[honest][honest]];
    const df = matrix.length - beta.length;
    const statistic = sum(table.map((cell, at) => weights[at] * (cell[YES] / sum(cell) - means[at]) ** 2));
    const test = df ? { statistic, df, p_value: upperTail(df / 2, Math.max(statistic, 0) / 2) } : null;
    return { beta, covariance, contrasts, honest, x, xVariance, test };
  }

  /** The paper's moment estimator: candor.estimators.difference_in_means. */
  function differenceInMeans(counts, design) {
    const { truth, forced, known, equal, found, shares, control } = design;
    const bySubsample = truth.map((_, s) => [NO, YES].map((answer) => sum(counts.map((arm) => arm[s][answer]))));
    const byArm = counts.map((arm) => [NO, YES].map((answer) => sum(arm.map((cell) => cell[answer]))));
    const n = sum(byArm.flat());
    const mean = (cell) => cell[YES] / sum(cell);
    const meanTruth = sum(truth.map((t, s) => (t * sum(bySubsample[s])) / n));
    const total = (each) => sum(counts.flatMap((arm, a) => arm.flatMap((cell, s) => cell.map((people, y) => people * each(a, s, y))))) / n ** 2;
    let [x, ξ] = [NaN, () => NaN];
    if (found) {
      const rows = [forced.map((yes) => yes - (known ?? 0)), ...(equal ? [] : [truth]), ...(known === null || equal ? [truth.map(() => 1)] : [])];
      const spread = rows.map((row) => rows.map((other) => sum(row.map((value, s) => value * shares[s] * other[s]))));
      const solved = solve(spread, rows.map((_, at) => Number(at === 0)));
      const weights = truth.map((_, s) => shares[s] * sum(rows.map((row, at) => row[s] * solved[at])));
      x = sum(weights.map((weight, s) => weight * (mean(bySubsample[s]) - (known ?? 0))));
      ξ = (_a, s, y) => ((weights[s] * n) / sum(bySubsample[s])) * (y - mean(bySubsample[s]));
    }
    const contrasts = design.treatments.map((arm) => {
      const [treated, untreated] = [byArm[arm], byArm[control]];
      const value = (mean(treated) - mean(untreated)) / meanTruth;
      const both = sum(treated) + sum(untreated);
      const pooled = (treated[YES] + untreated[YES]) / both;
      const part = (a, y) => (a === arm || a === control ? ((a === arm ? 1 : -1) * n * (y - mean(byArm[a]))) / sum(byArm[a]) : 0);
      const ψ = (a, s, y) => (part(a, y) - value * (truth[s] - meanTruth)) / meanTruth;
      return {
        value, variance: total((...at) => ψ(...at) ** 2), covariance: total((...at) => ψ(...at) * ξ(...at)),
        nullVariance: (pooled * (1 - pooled) * (1 / sum(treated) + 1 / sum(untreated)) * both) / Math.max(both - 1, 1) / meanTruth ** 2,
      };
    });
    return { contrasts, x, xVariance: total((...at) => ξ(...at) ** 2) };
  }

  function fieller(top, x, { variance, xVariance, covariance, level, z }) {
    const [a, b, c] = [x ** 2 - z ** 2 * xVariance, top * x - z ** 2 * covariance, top ** 2 - z ** 2 * variance];
    if (!(a > 0) || Math.abs(x) <= ROUNDING) return { kind: "unbounded", low: null, high: null, level };
    const root = Math.sqrt(Math.max(b ** 2 - a * c, 0));
    const [low, high] = [(b - root) / a, (b + root) / a];
    if (x <= 0 || low > 1 || high < -1) return { kind: "empty", low: null, high: null, level };
    return { kind: "fieller", low: Math.max(low, -1), high: Math.min(high, 1), level };
  }

  const ratioError = (ratio, x, { variance, xVariance, covariance }) =>
    Math.sqrt(Math.max(variance - 2 * ratio * covariance + ratio ** 2 * xVariance, 0)) / x;

  /** One effect for each treatment; without the value where limits move the estimate, which only the likelihood region tells. */
  function effectsOf({ contrasts, x, xVariance }, method, design, { level, contradicted }) {
    const z = quantile(level);
    const tests = contrasts.map(({ value, variance, nullVariance }) => {
      const error = Math.sqrt(Math.max(variance, 0));
      if (!(error > 1e-12)) return { value, standard_error: null, p_value: null };
      return { value, standard_error: error, p_value: pValue(value, Math.sqrt(Math.max(variance, nullVariance))) };
    });
    const adjusted = holm(tests.map((test) => test.p_value));
    return contrasts.map(({ value: delta, variance, nullVariance, covariance }, at) => {
      const test = tests[at];
      const found = {
        treatment: design.arms[design.treatments[at]], control: design.arms[design.control], method, p_value: test.p_value,
        adjusted_p_value: adjusted[at], honest_times_effect: test, fieller: null,
      };
      if (Number.isNaN(x)) return { ...found, value: null, standard_error: null, wald: null, honest_proportion: null };
      if (test.standard_error !== null) {
        found.fieller = fieller(delta, x, { variance: Math.max(variance, nullVariance), xVariance, covariance, level, z });
      }
      if (contradicted) return { ...found, value: null, standard_error: null, wald: null };
      const value = delta / x;
      if (!(x > ROUNDING && x <= 1 && Math.abs(value) <= 1)) return found;
      const error = test.standard_error === null ? null : ratioError(value, x, { variance, xVariance, covariance });
      const wald = error === null ? null : { kind: "wald", low: error > 0 ? value - z * error : null, high: error > 0 ? value + z * error : null, level };
      return { ...found, value, standard_error: error, wald, honest_proportion: x };
    });
  }

  function outcomeOf(counts, design, options) {
    const n = sum(counts.flat(2));
    if (counts.flat().some((cell) => sum(cell) === 0)) return { n };
    const fit = efficient(counts, design);
    const { beta, covariance, honest, x } = fit;
    const constant = design.names.every((_, s) => [NO, YES].some((answer) => counts.every((arm) => arm[s][answer] === 0)));
    const largest = Math.max(0, ...fit.contrasts.map(({ value }) => Math.abs(value)));
    const cheaters = honest === null ? { value: null, raw: null, standard_error: null } : { raw: 1 - x, standard_error: constant ? null : Math.sqrt(fit.xVariance) };
    if (honest !== null && options.contradicted) cheaters.value = null;
    else if (honest !== null && largest <= x && x <= 1 + ROUNDING) cheaters.value = Math.max(0, 1 - x);
    const prevalence = design.arms.map((arm, at) => {
      const value = beta[at] / x;
      if (options.contradicted) return { arm, value: null, standard_error: null };
      if (!(x > ROUNDING && x <= 1 && value >= 0 && value <= 1)) return { arm };
      const parts = { variance: covariance[at][at], xVariance: fit.xVariance, covariance: covariance[at][honest] };
      return { arm, value, standard_error: ratioError(value, x, parts) };
    });
    return {
      n,
      cheater_proportion: cheaters,
      effects: [...effectsOf(fit, "efficient", design, options), ...effectsOf(differenceInMeans(counts, design), "difference_in_means", design, options)],
      specification_test: fit.test,
      ...(design.prevalence ? { prevalence } : {}),
    };
  }

  /** The part of results.json that a browser can compute; from that file come the level, and whether answers contradict the model. */
  function recomputed(csv, protocol, results) {
    const [rows, design, named] = [rowsOf(csv), designOf(protocol.design), protocol.category_questions ?? []];
    const { n, tables } = countsOf(rows, protocol, design);
    const level = results.level ?? 0.95;
    const whole = protocol.allocation?.unit === "cluster";
    const outcomes = Object.entries(tables).map(([name, counts]) => {
      const test = results.outcomes[name]?.model_test;
      return [name, whole ? { n: sum(counts.flat(2)) } : outcomeOf(counts, design, { level, contradicted: Boolean(test && test.p_value < 1 - level) })];
    });
    const categories = named.map((one) => [one.name, whole ? { n: rows.filter((row) => row[one.column]).length } : globalThis.candorNamedAnswers.recomputed(rows, one, level)]);
    return { n, outcomes: Object.fromEntries(outcomes), ...(named.length ? { categories: Object.fromEntries(categories) } : {}) };
  }

  /** Compare all that was computed with what was published, by place: how many values, and those that differ. Effects are found by method and arm. */
  function compared(again, published, place = "") {
    if (again === undefined) return { values: 0, different: [] };
    if (again !== null && typeof again === "object") {
      const other = (key) => {
        const one = again[key];
        if (!Array.isArray(again) || !published || one === null || typeof one !== "object") return published?.[key];
        return published.find((each) => ["method", "treatment", "arm", "measure", "category"].every((name) => each[name] === one[name]));
      };
      const parts = Object.keys(again).map((key) => compared(again[key], other(key), place ? `${place}.${key}` : key));
      return { values: sum(parts.map((part) => part.values)), different: parts.flatMap((part) => part.different) };
    }
    const near = (a, b) => Math.abs(a - b) <= Math.max(1e-9 * Math.max(Math.abs(a), Math.abs(b)), 1e-9);
    const alike = typeof again === "number" && typeof published === "number" ? near(again, published) : again === published;
    return { values: 1, different: alike ? [] : [{ place, published, again }] };
  }

  return { recomputed, compared };
})();
