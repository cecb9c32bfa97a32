/** Repeated rows ("courses with grade"): shows those that are filled and one more, the others one by one on demand. */

import { need } from "./need.js";

const isFilled = (row) =>
  [...row.querySelectorAll("input, select")].some((input) =>
    input.type === "radio" || input.type === "checkbox" ? input.checked && input.value !== "" : input.value !== "",
  );

for (const group of document.querySelectorAll("[data-rows]")) {
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
