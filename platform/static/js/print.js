/** A button that prints the page, also where the part of the page around it is fetched again. */

import { need } from "./need.js";

const show = () => {
  need(document, "#print").hidden = false;
};
document.addEventListener("click", ({ target }) => {
  if (target.closest("#print")) print();
});
document.addEventListener("htmx:afterSwap", show);
show();
