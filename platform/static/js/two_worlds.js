/**
 * Two worlds that differ in one answer, a number published with noise, and a guess. It sends and keeps nothing.
 */

import { anyNumber } from "./chance.js";
import { need } from "./need.js";
import { fill, written } from "./words.js";

const NO = 23;
const [FIRST, LAST] = [11, 36];
const [WIDTH, MIDDLE, HEIGHT] = [640, 115, 108];

const page = need(document, "[data-worlds]");
const slider = need(page, "[data-epsilon]");
const picture = need(page, "[data-picture]");
const caption = need(page, "[data-caption]");
const round = need(page, "[data-round]");
const result = need(page, "[data-result]");

/** From 0.1 to 10, in equal ratios. */
const epsilon = () => 0.1 * 100 ** (slider.value / slider.max);

/** The promises of this page say "at most", so their numbers are rounded upwards. */
const atMost = (number, digits) => written(Math.ceil(number * 10 ** digits) / 10 ** digits, digits);

/** Discrete Laplace noise of scale 1/ε: the chance that a count of `count` is published as `number`. */
function chance(number, count) {
  const shrink = Math.exp(-epsilon());
  return ((1 - shrink) / (1 + shrink)) * shrink ** Math.abs(number - count);
}

function bar(number, height, className) {
  const width = WIDTH / (LAST - FIRST + 1);
  const rect = document.createElementNS(picture.namespaceURI, "rect");
  const sizes = { x: (number - FIRST) * width + 2, y: Math.min(MIDDLE, MIDDLE - height), width: width - 4, height: Math.abs(height), class: className };
  for (const [name, value] of Object.entries(sizes)) rect.setAttribute(name, value);
  return rect;
}

function label(number) {
  const text = document.createElementNS(picture.namespaceURI, "text");
  const place = { x: ((number - FIRST + 0.5) * WIDTH) / (LAST - FIRST + 1), y: 246, class: "words", "text-anchor": "middle" };
  for (const [name, value] of Object.entries(place)) text.setAttribute(name, value);
  text.textContent = number;
  return text;
}

let published = null;

function draw() {
  const numbers = Array.from({ length: LAST - FIRST + 1 }, (_, place) => FIRST + place);
  const highest = chance(NO, NO);
  picture.replaceChildren(
    ...numbers.flatMap((number) => [
      bar(number, (HEIGHT * chance(number, NO)) / highest, number === published ? "world-no published" : "world-no"),
      bar(number, (-HEIGHT * chance(number, NO + 1)) / highest, number === published ? "world-yes published" : "world-yes"),
    ]),
    ...numbers.filter((number) => number % 4 === 3).map(label),
  );
  need(page, "[data-shown]").textContent = written(epsilon(), 1);
  caption.textContent = fill(caption.dataset.caption, { ratio: atMost(Math.exp(epsilon()), 1) });
}

let world = 0;
let [rounds, right] = [0, 0];

function publish() {
  world = anyNumber() < 0.5 ? 0 : 1;
  const steps = () => Math.floor(Math.log(anyNumber()) / -epsilon());
  published = NO + world + steps() - steps();
  need(round, "[data-number]").textContent = published;
  round.hidden = false;
  result.textContent = "";
  draw();
}

function guess(chosen) {
  rounds += 1;
  right += Number(chosen === world);
  const best = (100 * Math.exp(epsilon())) / (1 + Math.exp(epsilon()));
  const words = fill(result.dataset.words, { right, rounds, best: atMost(best, best > 99 ? 1 : 0) });
  result.textContent = `${chosen === world ? result.dataset.right : result.dataset.wrong} ${words}`;
  round.hidden = true;
  need(page, "[data-publish]").focus();
}

slider.addEventListener("input", () => {
  [rounds, right, published] = [0, 0, null];
  round.hidden = true;
  result.textContent = "";
  draw();
});
need(page, "[data-publish]").addEventListener("click", publish);
for (const button of round.querySelectorAll("[data-guess]")) {
  button.addEventListener("click", () => guess(Number(button.dataset.guess)));
}
draw();
page.hidden = false;
