/**
 * Repeated rows ("courses with grade"): shows those that are filled and one more, the others one by one on demand.
 * Sliders: the line sets the number, the number sets the line, and an untouched line says nothing.
 */

import { need } from "./need.js";
import { onPage } from "./next_page.js";

const isFilled = (row) =>
  [...row.querySelectorAll("input:not([type=range]), select")].some((input) =>
    input.type === "radio" || input.type === "checkbox" ? input.checked && input.value !== "" : input.value !== "",
  );

function showOneByOne(group) {
  const rows = [...group.querySelectorAll("[data-row]")];
  const add = need(group, "[data-add-row]");
  const lastFilled = rows.findLastIndex(isFilled);
  rows.forEach((row, index) => {
    row.hidden = index > Math.max(lastFilled, 0);
  });
  const update = () => {
    add.hidden = rows.every((row) => !row.hidden);
  };
  add.addEventListener("click", () => {
    const next = rows.find((row) => row.hidden);
    next.hidden = false;
    need(next, "input, select").focus();
    update();
  });
  update();
}

function slide(field) {
  const number = need(field, "input[type=text]");
  const line = need(field, "input[type=range]");
  const middle = line.value;
  const follow = () => {
    const typed = Number(number.value.replace(/[٠-٩۰-۹０-９]/g, (digit) => digit.charCodeAt(0) & 15).replace(/[,٫，]/, "."));
    const answered = number.value.trim() !== "" && Number.isFinite(typed);
    line.value = answered ? typed : middle;
    line.classList.toggle("is-untouched", !answered);
    const word = { [line.min]: line.dataset.low, [line.max]: line.dataset.high }[number.value];
    line.setAttribute("aria-valuetext", answered ? [number.value, word].filter(Boolean).join(" – ") : line.dataset.nothing);
  };
  const choose = () => {
    number.value = line.value;
    follow();
  };
  line.addEventListener("input", choose);
  line.addEventListener("click", choose); // the middle, where the line stands already
  line.addEventListener("keydown", (event) => {
    if (event.key === " ") choose();
  });
  number.addEventListener("input", follow);
  line.hidden = false;
  follow();
}

onPage(import.meta.url, () => {
  document.querySelectorAll("[data-rows]").forEach(showOneByOne);
  document.querySelectorAll("[data-slider]").forEach(slide);
});
