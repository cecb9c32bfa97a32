/**
 * Behaviour of an auto-refreshed region: it rests while nobody looks, keeps open what a reader has opened and scrolled to,
 * and goes to the login page as a whole when the login has run out. A link to a closed explanation opens it.
 */

import "./figures.js"; // first, so that the points of a new figure can have the focus again
import { need } from "./need.js";
import { hearsOfNews } from "./news.js";

let open = [];
let scrolled = [];
let focused = "";

document.addEventListener("htmx:beforeRequest", (event) => {
  if (document.hidden || (event.detail.elt.id === "results" && hearsOfNews())) event.preventDefault();
});

document.addEventListener("htmx:beforeSwap", (event) => {
  if (new URL(event.detail.xhr.responseURL).pathname !== location.pathname) {
    event.detail.shouldSwap = false;
    location.reload();
    return;
  }
  open = [...document.querySelectorAll("details[open][id]")].map((details) => details.id);
  scrolled = [...document.querySelectorAll("[role=region][id]")].map((region) => [region.id, region.scrollLeft]);
  focused = positionOf(document.activeElement);
});

document.addEventListener("htmx:afterSwap", () => {
  for (const id of open) document.getElementById(id)?.setAttribute("open", "");
  for (const [id, left] of scrolled) {
    const region = document.getElementById(id);
    if (region) region.scrollLeft = left;
  }
  if (focused) document.querySelector(focused)?.focus({ preventScroll: true });
});

addEventListener("hashchange", openTarget);
openTarget();

/** How to find the element again after its copy has taken its place: by its id, its address, or the details it belongs to. */
function positionOf(element) {
  if (!element?.closest("#results")) return "";
  if (element.id) return `#${CSS.escape(element.id)}`;
  const point = element.dataset.mark;
  if (point) return `#${CSS.escape(element.closest(".figure-scroll").id)} .${element.closest(".wide, .narrow").className} [data-mark="${CSS.escape(point)}"]`;
  const within = element.closest("#results details[id], #results section[aria-labelledby]");
  const start = within?.id ? `#${CSS.escape(within.id)} ` : within ? `[aria-labelledby=${CSS.escape(within.getAttribute("aria-labelledby"))}] ` : "#results ";
  const address = element.getAttribute("href");
  return start + element.localName + (address ? `[href=${CSS.escape(address)}]` : "");
}

function openTarget() {
  const target = location.hash && document.getElementById(location.hash.slice(1));
  if (target instanceof HTMLDetailsElement) {
    target.open = true;
    target.scrollIntoView();
    need(target, "summary").focus();
  }
}
