/** The projector's page: asks for complete batches, and draws what the answers tell after each of them. */

import { drawLooks } from "./class_chart.js";
import { believing, estimate } from "./class_estimate.js";
import { need } from "./need.js";
import { fill, written } from "./words.js";

const SECONDS = 3;
const TOP = 20;

const screen = need(document, "[data-class-screen]");
const [chart, result] = ["[data-chart]", "[data-result]"].map((mark) => need(screen, mark));
const rows = [...screen.querySelectorAll("[data-half]")];
const halves = rows.map(({ dataset }) => ({ forced: Number(dataset.forced), truth: Number(dataset.truth) }));
let shown = -1;

/** The estimates from all answers up to each batch. */
function looksAt(all) {
  const soFar = halves.map((die) => ({ ...die, n: 0, yes: 0 }));
  return all.map((batch) => {
    batch.forEach(([people, yes], half) => {
      soFar[half].n += people;
      soFar[half].yes += yes;
    });
    const n = soFar.reduce((sum, half) => sum + half.n, 0);
    return { n, ...estimate(soFar), naive: Math.min(1, Math.max(0, believing(soFar))) };
  });
}

function show(all) {
  if (all.length === shown) return;
  shown = all.length;
  const looks = looksAt(all);
  const last = looks.at(-1);
  chart.replaceChildren();
  // One batch is a point in time: it is drawn as a short line from its first person.
  drawLooks(chart, looks.length === 1 ? [{ ...last, n: 0 }, last] : looks, { top: TOP, total: last?.n ?? 1 });
  rows.forEach((row, half) => {
    ["people", "yes"].forEach((name, place) => {
      need(row, `[data-${name}]`).textContent = all.reduce((sum, batch) => sum + batch[half][place], 0);
    });
  });
  if (!last) return;
  const percent = Object.fromEntries(["share", "low", "high", "naive"].map((name) => [name, written(100 * last[name], 0)]));
  result.textContent = fill(result.dataset.words, { ...percent, n: last.n });
}

async function ask() {
  if (document.hidden) return;
  const answer = await fetch(screen.dataset.batches);
  if (answer.ok) show((await answer.json()).batches);
}

const again = () => ask().catch(() => {}); // a network that is away for a moment comes back
again();
setInterval(again, SECONDS * 1000);
