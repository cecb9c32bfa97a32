/**
 * The home page's demonstration: the reader rolls a die and answers; simulated people of their class answer too, and the estimate grows.
 *
 * All of it is drawn here, and nothing is sent or kept.
 */

import { anyNumber } from "./chance.js";
import { WIDTH, drawLooks, put } from "./class_chart.js";
import { believing, estimate } from "./class_estimate.js";
import { need } from "./need.js";
import { fill, written } from "./words.js";

const LOOKS = 40;
const SECONDS = 5;
const DOTS = 130;

const page = need(document, "[data-demonstration]");
const [answering, shown, chart, result] = ["[data-answering]", "[data-class]", "[data-chart]", "[role=status][data-words]"].map((mark) => need(page, mark));
const [people, cheaters] = ["people", "cheaters"].map((name) => need(page, `[name=${name}]`));

/** The reader's half rolls the die of the table, the other half the second one. */
const faces = (says) => need(page, `[data-says=${says}]`).closest("[data-faces]").dataset.faces.split(" ").length;
const dice = [
  { yes: faces("yes"), no: faces("no") },
  { yes: Number(page.dataset.secondYes), no: Number(page.dataset.secondNo) },
].map(({ yes, no }) => ({ forced: yes / 6, truth: (6 - yes - no) / 6 }));

const yesOf = ({ forced, truth }, saysTruly) => {
  const place = anyNumber();
  return place < forced || (place < forced + truth && saysTruly);
};

/** People one after the other, the reader first, whose true answer this page does not know: only what they said. */
function drawClass(own) {
  const rate = 0.25 + 0.35 * anyNumber();
  const others = Array.from({ length: people.value - 1 }, (_, index) => {
    const half = (index + 1) % 2;
    const truth = anyNumber() < rate;
    return { half, truth, yes: anyNumber() >= cheaters.value / 100 && yesOf(dice[half], truth) };
  });
  return { said: [{ half: 0, yes: own }, ...others], truth: others.filter(({ truth }) => truth).length / others.length };
}

/** The estimates after the first people, at `LOOKS` moments. */
function looksAt(said) {
  const halves = dice.map((die) => ({ ...die, n: 0, yes: 0 }));
  const looks = [];
  said.forEach(({ half, yes }, index) => {
    halves[half].n += 1;
    halves[half].yes += Number(yes);
    const n = index + 1;
    if (Math.floor((n * LOOKS) / said.length) > Math.floor((index * LOOKS) / said.length)) {
      looks.push({ n, ...estimate(halves), naive: Math.min(1, Math.max(0, believing(halves))) });
    }
  });
  return looks;
}

/** The first `n` answers as dots, and below what they tell. */
function draw({ said, truth, looks }, n) {
  const columns = Math.ceil(Math.sqrt((said.length * WIDTH) / DOTS));
  const size = WIDTH / columns;
  const place = (index) => [(index % columns) * size + size / 2, Math.floor(index / columns) * size + size / 2];
  const dots = (yes) => said.slice(0, n).flatMap((one, index) => (one.yes === yes ? [`M${place(index).join(" ")}h0`] : [])).join("");
  chart.replaceChildren();
  for (const yes of [true, false]) put(chart, "path", { d: dots(yes) || "M0 0", class: yes ? "said-yes" : "said-no", "stroke-width": size * 0.7 });
  put(chart, "circle", { cx: size / 2, cy: size / 2, r: size / 2, class: "own" });
  drawLooks(chart, looks.filter((look) => look.n <= n), { top: DOTS + 20, total: said.length, truth });
}

function tell({ said, truth, looks }) {
  const last = looks.at(-1);
  const percent = Object.fromEntries(["share", "low", "high", "naive"].map((name) => [name, written(100 * last[name], 0)]));
  const yes = said.filter((one) => one.yes).length;
  result.textContent = fill(result.dataset.words, { ...percent, n: said.length, yes, truth: written(100 * truth, 0) });
}

let own = false;
let running = 0;

function begin({ slowly = false } = {}) {
  cancelAnimationFrame(running);
  const drawn = drawClass(own);
  const everybody = { ...drawn, looks: looksAt(drawn.said) };
  const total = drawn.said.length;
  if (!slowly || matchMedia("(prefers-reduced-motion: reduce)").matches) {
    draw(everybody, total);
    tell(everybody);
    return;
  }
  result.textContent = "";
  const start = performance.now();
  const step = (now) => {
    const n = Math.min(total, Math.max(1, Math.round((total * (now - start)) / (1000 * SECONDS))));
    draw(everybody, n);
    if (n < total) running = requestAnimationFrame(step);
    else tell(everybody);
  };
  running = requestAnimationFrame(step);
}

function follow() {
  for (const slider of [people, cheaters]) {
    const words = need(slider.parentElement, "output");
    words.textContent = fill(words.dataset.words, { number: slider.value });
  }
}

need(page, "[data-die]").addEventListener("rolled", () => {
  answering.hidden = false;
});
for (const button of answering.querySelectorAll("button")) {
  button.addEventListener("click", () => {
    own = button.dataset.answer === "yes";
    for (const words of page.querySelectorAll("[data-own]")) words.hidden = words.dataset.own !== button.dataset.answer;
    shown.hidden = false;
    need(shown, "h3").focus();
    begin({ slowly: true });
  });
}
for (const slider of [people, cheaters]) {
  slider.addEventListener("input", () => {
    follow();
    begin();
  });
}
need(page, "[data-again]").addEventListener("click", () => begin({ slowly: true }));
follow();
page.hidden = false;
