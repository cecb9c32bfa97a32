/**
 * The die of Candor.
 *
 * What it shows exists in three places only: the memory of this page, the picture and words on the screen, and this tab's
 * sessionStorage (so that a reload cannot roll again; another tab or device does). It goes into no request, address, cookie, form field, log or
 * localStorage; nothing is loaded because of it; and every face takes the same time.
 *
 * Marks in the page: [data-die] one die, [data-die-key] the table of what the faces mean (a question may have
 * its own), [data-roll-key] whose rolls these are,
 * [data-forget-rolls] a page after which no roll is needed any more.
 */

import { need } from "./need.js";
import { onPage } from "./next_page.js";

const STORED = "candor-die:";
const ROLL_MILLISECONDS = 1200;

/** A fair face from 1 to `sides`: bytes that would favour the low faces are thrown away. `fill` puts random bytes into an array. */
export function drawFace(sides, fill = (bytes) => crypto.getRandomValues(bytes)) {
  const byte = new Uint8Array(1);
  const limit = 256 - (256 % sides);
  do fill(byte);
  while (byte[0] >= limit);
  return (byte[0] % sides) + 1;
}

/** Face → what it says, in the words of the table that the participant sees. */
function meaningsIn(table) {
  const meanings = new Map();
  for (const row of table.querySelectorAll("[data-faces]")) {
    const says = need(row, "[data-says]").textContent.trim();
    for (const face of row.dataset.faces.split(" ")) meanings.set(Number(face), says);
  }
  return meanings;
}

/** One die: the practice die may roll again and is not kept, the die of a question rolls once. */
class Die {
  constructor(element, meanings, storageKey) {
    this.element = element;
    this.meanings = meanings;
    this.storageKey = storageKey;
    this.sides = Number(element.dataset.sides);
    this.button = need(element, "[data-roll]");
    this.button.hidden = false;
    this.button.addEventListener("click", () => this.roll());
    const kept = storageKey && Number(sessionStorage.getItem(storageKey));
    if (kept) this.show(kept);
  }

  roll() {
    if (this.button.getAttribute("aria-disabled") === "true") return;
    this.button.setAttribute("aria-disabled", "true");
    const face = drawFace(this.sides);
    if (this.storageKey) sessionStorage.setItem(this.storageKey, String(face));
    need(this.element, "[data-status]").textContent = "";
    this.element.classList.remove("rolled", ...[...this.element.classList].filter((name) => name.startsWith("shows-")));
    this.element.getBoundingClientRect(); // lays the die down before it jumps
    this.element.classList.add("rolling");
    this.turnTo(face);
    const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
    setTimeout(() => this.show(face, { justRolled: true }), still ? 0 : ROLL_MILLISECONDS);
  }

  turnTo(face) {
    this.element.classList.add("rolled", `shows-${face}`);
    const numeral = this.element.querySelector("[data-numeral]");
    if (numeral) numeral.textContent = String(face);
  }

  show(face, { justRolled = false } = {}) {
    this.turnTo(face);
    this.element.classList.remove("rolling");
    this.button.removeAttribute("aria-disabled");
    const picture = need(this.element, "[data-picture]");
    picture.setAttribute("aria-label", this.element.dataset.shows.replace("{face}", String(face)));
    if (this.storageKey) {
      // The keyboard must not fall back to the top of the page with the button; and it must not land on one of the two answers.
      if (justRolled && this.element.contains(document.activeElement)) need(this.element, "[data-result]").focus();
      this.button.hidden = true;
    }
    need(this.element, "[data-status]").textContent = this.meanings.get(face);
    this.element.dataset.rolled = ""; // for scripts that come later
    this.element.dispatchEvent(new CustomEvent("rolled"));
  }
}

/** Removes the rolls of this tab, except those that belong to `rollKey`. */
function forgetRolls({ except } = {}) {
  for (const key of Object.keys(sessionStorage)) {
    if (key.startsWith(STORED) && !(except && key.startsWith(`${STORED}${except}:`))) sessionStorage.removeItem(key);
  }
}

onPage(import.meta.url, () => {
  if (document.querySelector("[data-forget-rolls]")) forgetRolls();

  const rollKey = document.querySelector("[data-roll-key]")?.dataset.rollKey;
  if (rollKey) forgetRolls({ except: rollKey });

  for (const element of document.querySelectorAll("[data-die]")) {
    const own = element.closest("[data-question-page]")?.querySelector("[data-die-key]");
    const table = own ?? document.querySelector("[data-die-key]");
    const { question } = element.dataset;
    if (table) new Die(element, meaningsIn(table), question && `${STORED}${rollKey}:${question}`);
  }
});
