/**
 * The first part of the page of a release: computes its numbers again from data.csv, in this browser, and copies its table. Without it the
 * page shows those of results.json.
 */

import { need } from "./need.js";

const section = need(document, "[data-findings]");
const status = need(section, "[data-recomputed]");

function written(value, signed) {
  const points = Math.round(100 * value);
  return signed && points ? `${points > 0 ? "+" : "−"}${Math.abs(points)}` : `${points}`;
}

/** The number of one cell among the estimates of its question; nothing where only replicate.py tells it. */
function valueOf(outcome, { again, arm }) {
  if (again === "cheaters") return outcome.cheater_proportion?.value;
  if (again === "test") return outcome.no_effect?.find(({ treatment }) => treatment === arm)?.adjusted_p_value;
  const list = again === "effect" ? outcome.effects?.filter(({ treatment }) => treatment === arm) : outcome.prevalence?.filter((one) => one.arm === arm);
  return list?.[0]?.value;
}

async function recompute() {
  status.textContent = status.dataset.working;
  const { csv, protocol, results } = section.dataset;
  const answers = await Promise.all([csv, protocol, results].map((address) => fetch(address)));
  if (answers.some(({ ok }) => !ok)) throw new Error("A file of the release could not be read.");
  const [rows, design, published] = [await answers[0].text(), await answers[1].json(), await answers[2].json()];
  const again = globalThis.candorEstimates.recomputed(rows, design, published);
  const { values, different } = globalThis.candorEstimates.compared(again, published);
  for (const cell of section.querySelectorAll("[data-again]")) {
    const { question } = cell.closest("[data-question]").dataset;
    const value = valueOf(again.outcomes[question] ?? again.categories[question], cell.dataset);
    if (typeof value !== "number") continue;
    if (cell.dataset.again !== "test") cell.textContent = written(value, cell.dataset.again === "effect");
    cell.classList.toggle("is-same", different.length === 0);
  }
  const words = different.length ? status.dataset.different : status.dataset.same;
  status.textContent = words.replace("{n}", new Intl.NumberFormat(document.documentElement.lang).format(values));
}

recompute().catch((error) => {
  console.error(error);
  status.textContent = status.dataset.away;
});

const button = need(section, "[data-copy-table]");
if (navigator.clipboard) {
  button.hidden = false;
  button.addEventListener("click", async () => {
    const rows = [...need(document, `#${CSS.escape(button.dataset.copyTable)}`).rows];
    const words = (cell) => cell.innerText.replace(/\s+/g, " ").trim();
    await navigator.clipboard.writeText(rows.map((row) => [...row.cells].map(words).join("\t")).join("\n"));
    button.textContent = button.dataset.done;
  });
}
