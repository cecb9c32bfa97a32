/**
 * The plan answers while it is being changed: sliders move their numbers, numbers their sliders, and faces turn at once.
 * htmx then asks the server, which computes everything; without JavaScript the form does.
 */

import { need } from "./need.js";

const form = need(document, "[data-plan]");
const NEXT = { y: "n", n: "t", t: "y" };
const CSS_CLASS = { y: "says-yes", n: "says-no", t: "says-truth" };
const POSITIONS = 400;
const written = new Intl.NumberFormat(document.documentElement.lang, { useGrouping: false, maximumFractionDigits: 6 });

/** A logarithmic slider moves over positions; its numbers have two digits. */
const sliders = [...form.querySelectorAll("[data-slider]")].map((slider) => {
  const number = form.elements[slider.dataset.slider];
  const [low, high] = [Number(slider.min), Number(slider.max)];
  const logarithmic = "logarithmic" in slider.dataset;
  if (logarithmic) Object.assign(slider, { min: 0, max: POSITIONS, step: 1 });
  const read = () => {
    if (!logarithmic) return written.format(slider.value);
    return written.format((low * (high / low) ** (slider.value / POSITIONS)).toPrecision(2));
  };
  const follow = () => {
    const value = Number(number.value.replace(",", "."));
    if (number.value && Number.isFinite(value)) {
      slider.value = logarithmic ? (Math.log(Math.max(value, low) / low) / Math.log(high / low)) * POSITIONS : value;
    }
    slider.setAttribute("aria-valuetext", number.value);
  };
  follow();
  return { slider, number, read, follow };
});

form.addEventListener("input", (event) => {
  const pair = sliders.find(({ slider, number }) => event.target === slider || event.target === number);
  if (!pair) return;
  if (event.target === pair.slider) pair.number.value = pair.read();
  pair.follow();
});

form.addEventListener("click", (event) => {
  const face = event.target.closest("[data-face]");
  if (!face) return;
  event.preventDefault();
  const letters = need(face.closest("[role=group]"), "input[type=hidden]");
  const position = Number(face.dataset.face);
  const said = letters.value[position];
  const says = NEXT[said];
  letters.value = letters.value.slice(0, position) + says + letters.value.slice(position + 1);
  face.classList.replace(CSS_CLASS[said], CSS_CLASS[says]);
  need(face, "[data-says]").textContent = need(form, "[data-words]").dataset[says];
  form.dispatchEvent(new Event("input", { bubbles: true }));
});

/** htmx sends the button that was pressed last with whatever comes next, but this script has already done what a face asks for. */
form.addEventListener("htmx:configRequest", (event) => {
  if (event.detail.triggeringEvent?.type !== "submit") delete event.detail.parameters.change;
});

document.addEventListener("htmx:afterSettle", () => {
  for (const { number } of sliders) {
    const error = need(document, `#${CSS.escape(number.name)}-error`);
    if (error.textContent) number.setAttribute("aria-invalid", "true");
    else number.removeAttribute("aria-invalid");
  }
});
