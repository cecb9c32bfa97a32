/**
 * The arithmetic of estimates.js, named_answers.js and likelihood_region.js: exact fractions, matrices as lists of rows, χ² and Holm's test.
 * Classic scripts without imports, in this order, so that a page on a disk can use them, too.
 */

globalThis.candorNumbers = (() => {
  /* Exact fractions, which decide what a design identifies. */
  const fraction = (text) => {
    const [top, bottom = "1"] = String(text).split("/");
    const digits = top.split(".")[1]?.length ?? 0;
    return [BigInt(top.replace(".", "")), BigInt(bottom) * 10n ** BigInt(digits)];
  };
  const minus = ([a, b], [c, d]) => [a * d - c * b, b * d];
  const times = ([a, b], [c, d]) => [a * c, b * d];
  const same = ([a, b], [c, d]) => a * d === c * b;
  const number = ([a, b]) => Number(a) / Number(b);
  const pairs = (list) => list.flatMap((one, at) => list.slice(at + 1).map((other) => [one, other]));
  const parallel = ([[a, b], [c, d]]) => same(times(a, d), times(b, c));

  /* Matrices as lists of rows. */
  const sum = (list) => list.reduce((total, one) => total + one, 0);
  const dot = (a, b) => {
    let total = 0;
    for (let at = 0; at < a.length; at += 1) total += a[at] * b[at];
    return total;
  };
  const range = (n) => Array.from({ length: n }, (_, at) => at);
  const column = (matrix, at) => matrix.map((row) => row[at]);
  const unit = (n, at) => range(n).map((other) => Number(other === at));

  /** Σ weight · row · rowᵀ. */
  function gram(matrix, weights) {
    const found = matrix[0].map(() => matrix[0].map(() => 0));
    matrix.forEach((row, cell) => {
      for (let i = 0; i < row.length; i += 1) {
        const left = weights[cell] * row[i];
        if (left) for (let j = 0; j <= i; j += 1) found[i][j] += left * row[j];
      }
    });
    return found.map((row, i) => row.map((one, j) => (j > i ? found[j][i] : one)));
  }

  function inverse(matrix) {
    const size = matrix.length;
    const rows = matrix.map((row, at) => [...row, ...unit(size, at)]);
    for (const at of range(size)) {
      const best = range(size).slice(at).reduce((a, b) => (Math.abs(rows[b][at]) > Math.abs(rows[a][at]) ? b : a));
      [rows[at], rows[best]] = [rows[best], rows[at]];
      const scale = rows[at][at];
      rows[at] = rows[at].map((value) => value / scale);
      for (const other of range(size)) {
        const share = rows[other][at];
        if (other !== at) rows[other] = rows[other].map((value, place) => value - share * rows[at][place]);
      }
    }
    return rows.map((row) => row.slice(size));
  }

  /** Gauss's elimination, with the largest pivot of each column. */
  function solve(matrix, target) {
    const [size, rows] = [matrix.length, matrix.map((row, at) => [...row, target[at]])];
    for (const at of range(size)) {
      let best = at;
      for (let other = at + 1; other < size; other += 1) if (Math.abs(rows[other][at]) > Math.abs(rows[best][at])) best = other;
      [rows[at], rows[best]] = [rows[best], rows[at]];
      for (let other = at + 1; other < size; other += 1) {
        const share = rows[other][at] / rows[at][at];
        if (share) for (let place = at; place <= size; place += 1) rows[other][place] -= share * rows[at][place];
      }
    }
    const found = rows.map((row) => row[size]);
    for (let at = size - 1; at >= 0; at -= 1) {
      for (let other = at + 1; other < size; other += 1) found[at] -= rows[at][other] * found[other];
      found[at] /= rows[at][at];
    }
    return found;
  }

  const quadratic = (row, matrix, other = row) => dot(row, matrix.map((line) => dot(line, other)));

  /** Q(a, x) for half a whole number a: the upper tail of χ² with 2a degrees of freedom at 2x, and of |N(0, 1)| for a = ½. */
  function upperTail(a, x) {
    if (x <= 0) return 1;
    if (!a) return 0;
    let gamma = a % 1 ? Math.sqrt(Math.PI) : 1;
    for (let at = a % 1 ? 0.5 : 1; at < a; at += 1) gamma *= at;
    const height = Math.exp(a * Math.log(x) - x) / gamma;
    if (x < a + 1) {
      let [term, total] = [1 / a, 1 / a];
      for (let at = a + 1; term > total * 1e-17; at += 1) total += term *= x / at;
      return 1 - height * total;
    }
    let [c, d] = [1e300, 1 / (x + 1 - a)];
    let found = d;
    for (let at = 1; at < 500; at += 1) {
      const [above, below] = [-at * (at - a), x + 1 - a + 2 * at];
      d = 1 / (above * d + below);
      c = below + above / c;
      found *= d * c;
      if (Math.abs(d * c - 1) < 1e-16) break;
    }
    return height * found;
  }

  const pValue = (value, error) => (error > 0 ? upperTail(0.5, (value / error) ** 2 / 2) : null);

  function quantile(level) {
    let z = 2;
    for (const _ of range(60)) z += (upperTail(0.5, (z * z) / 2) - (1 - level)) / (Math.sqrt(2 / Math.PI) * Math.exp((-z * z) / 2));
    return z;
  }

  function holm(values) {
    const adjusted = values.map(() => null);
    let largest = 0;
    const order = range(values.length).filter((at) => values[at] !== null).sort((a, b) => values[a] - values[b]);
    order.forEach((at, rank) => (adjusted[at] = largest = Math.max(largest, Math.min(1, (values.length - rank) * values[at]))));
    return adjusted;
  }

  /** Rows of a data.csv as texts, by the names of its columns. */
  function rowsOf(csv) {
    const [head, ...lines] = csv.replace(/^\uFEFF/, "").split(/\r?\n/).filter(Boolean).map((line) => line.split(","));
    return lines.map((line) => Object.fromEntries(head.map((name, place) => [name, line[place]])));
  }

  return {
    fraction, minus, times, same, number, pairs, parallel, sum, dot, range, column, unit, gram, inverse, solve, quadratic, upperTail, pValue,
    quantile, holm, rowsOf,
  };
})();
