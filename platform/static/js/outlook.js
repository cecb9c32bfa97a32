/**
 * The things that a student reads about themselves from released tables. Everything is computed in this page, from what is chosen in it; nothing is
 * sent, stored or put into an address.
 *
 * The numbers are those of `candor.queries`. Marks in the page: [data-recommendation] and [data-classifier] a table with its noisy counts,
 * [data-choice] one thing that holds for the reader, [data-result] the rows whose numbers are filled in.
 */

import { need } from "./need.js";

const LEAST_DENOMINATOR = 1e-9; // see candor.estimators.intervals

const sum = (numbers) => numbers.reduce((total, one) => total + one, 0);
const within = (value) => Math.min(Math.max(value, 0), 1);

/** yes/(yes + no) of two counts with noise of this SD, and Fieller's interval; null where no share fits. */
export function shareOf(yes, no, { sd, multiplier }) {
  const all = yes + no;
  const noise = (multiplier * sd) ** 2;
  const a = all ** 2 - 2 * noise;
  const b = yes * all - noise;
  const c = yes ** 2 - noise;
  if (a <= 0 || Math.abs(all) <= LEAST_DENOMINATOR) return { value: null, low: 0, high: 1 };
  const root = Math.sqrt(Math.max(b ** 2 - a * c, 0));
  const [low, high] = [(b - root) / a, (b + root) / a];
  if (all < 0 || low > 1 || high < 0) return { value: null, low: null, high: null };
  return { value: within(yes / all), low: within(low), high: within(high) };
}

/**
 * The chances of the classes for somebody whose values of the features are `chosen`, null for one that is not said here. `counts` are the noisy
 * tables of class by feature, one after the other; `sizes` says how many values each feature has.
 */
export function chancesOfClasses(counts, sizes, chosen) {
  const classes = counts.length / sum(sizes);
  let start = 0;
  const tables = sizes.map((size) => {
    const rows = Array.from({ length: classes }, (_, place) => counts.slice(start + place * size, start + (place + 1) * size));
    start += classes * size;
    return rows.map((row) => row.map((count) => Math.max(count, 0) + 1));
  });
  const people = tables[sizes.indexOf(Math.min(...sizes))].map(sum);
  const logarithms = people.map((one, place) =>
    tables.reduce((total, rows, feature) => {
      const value = chosen[feature];
      return value === null ? total : total + Math.log(rows[place][value] / sum(rows[place]));
    }, Math.log(one / sum(people))),
  );
  const highest = Math.max(...logarithms);
  const weights = logarithms.map((one) => Math.exp(one - highest));
  return weights.map((one) => one / sum(weights));
}

const percent = new Intl.NumberFormat(document.documentElement.lang, { style: "percent" });
const written = (share) => (share === null ? "?" : percent.format(share));

function begin(section, show) {
  const result = need(section, "[data-result]");
  const choices = [...section.querySelectorAll("[data-choice]")];
  const counts = JSON.parse(section.dataset.counts);
  const rows = [...result.querySelectorAll("tbody tr")];
  section.addEventListener("change", () => {
    const chosen = choices.map((choice) => (choice.value === "" ? null : Number(choice.value)));
    result.hidden = chosen.every((one) => one === null);
    if (!result.hidden) show({ counts, rows, chosen, bands: choices[0].options.length - 1 });
  });
}

for (const section of document.querySelectorAll("[data-recommendation]")) {
  const noise = { sd: Number(section.dataset.sd), multiplier: Number(section.dataset.multiplier) };
  begin(section, ({ counts, rows, chosen, bands }) =>
    rows.forEach((row, option) => {
      const cell = 2 * (option * bands + chosen[0]);
      const { value, low, high } = shareOf(counts[cell], counts[cell + 1], noise);
      need(row, "[data-share]").textContent = written(value);
      need(row, "[data-low]").textContent = written(low);
      need(row, "[data-high]").textContent = written(high);
    }),
  );
}

for (const section of document.querySelectorAll("[data-classifier]")) {
  const sizes = JSON.parse(section.dataset.sizes);
  begin(section, ({ counts, rows, chosen }) => {
    const chances = chancesOfClasses(counts, sizes, chosen);
    rows.forEach((row, place) => (need(row, "[data-share]").textContent = written(chances[place])));
  });
}
