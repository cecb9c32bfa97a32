/**
 * A list that is put in order by buttons or by dragging. The page stays: the focus stays on what moved, and a sentence says where it is now.
 * Without a script the buttons do the same.
 */

import { refreshPreview } from "./beside.js";
import { need } from "./need.js";

const names = (form) => [...need(form, "ol").children].map((item) => item.dataset.name).join(" ");

function makeDraggable(form) {
  const items = form.elements.order ? [...need(form, "ol").children] : [];
  if (items.length > 1) for (const item of items) item.draggable = true;
}

async function send(form, submitter) {
  const body = new URLSearchParams(new FormData(form));
  if (submitter) body.append(submitter.name, submitter.value);
  const response = await fetch(location.pathname, { method: "POST", body });
  const answer = new DOMParser().parseFromString(await response.text(), "text/html");
  const fresh = answer.querySelector("[data-ordering]");
  if (!fresh) {
    location.reload();
    return;
  }
  form.replaceChildren(...fresh.childNodes);
  makeDraggable(form);
  form.querySelector("[autofocus]")?.focus();
  const [said, told] = [document.querySelector("[data-moved]"), answer.querySelector("main > .notice[role=status], .error-summary li")];
  document.querySelector("main > .notice[role=status]")?.remove();
  if (said) said.textContent = told?.textContent.trim() ?? "";
  document.getElementById("builder-steps")?.replaceChildren(...(answer.getElementById("builder-steps")?.childNodes ?? []));
  refreshPreview();
}

for (const form of document.querySelectorAll("[data-ordering]")) {
  let dragged = null;
  let before = "";
  makeDraggable(form);

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    send(form, event.submitter).catch(() => location.reload());
  });

  form.addEventListener("dragstart", (event) => {
    dragged = event.target.closest("[data-name]");
    if (!dragged) return;
    before = names(form);
    event.dataTransfer.effectAllowed = "move";
    event.dataTransfer.setData("text/plain", dragged.dataset.name);
    dragged.classList.add("is-dragged");
  });

  form.addEventListener("dragover", (event) => {
    const over = event.target.closest("[data-name]");
    if (!dragged || !over) return;
    event.preventDefault();
    const middle = over.getBoundingClientRect();
    const after = event.clientY > middle.top + middle.height / 2;
    need(form, "ol").insertBefore(dragged, after ? over.nextElementSibling : over);
  });

  form.addEventListener("drop", (event) => event.preventDefault());

  form.addEventListener("dragend", () => {
    if (!dragged) return;
    dragged.classList.remove("is-dragged");
    dragged = null;
    if (names(form) === before) return;
    form.elements.order.value = names(form);
    form.requestSubmit();
  });
}
