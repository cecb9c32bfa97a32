/** A list that can be put in order by dragging. Its buttons "up" and "down" do the same without a script. */

import { need } from "./need.js";

for (const form of document.querySelectorAll("[data-ordering]")) {
  const list = need(form, "ol");
  const names = () => [...list.children].map((item) => item.dataset.name).join(" ");
  const before = names();
  let dragged = null;

  if (list.children.length > 1) for (const item of list.children) item.draggable = true;

  list.addEventListener("dragstart", (event) => {
    dragged = event.target.closest("[data-name]");
    if (!dragged) return;
    event.dataTransfer.effectAllowed = "move";
    event.dataTransfer.setData("text/plain", dragged.dataset.name);
    dragged.classList.add("is-dragged");
  });

  list.addEventListener("dragover", (event) => {
    const over = event.target.closest("[data-name]");
    if (!dragged || !over) return;
    event.preventDefault();
    const middle = over.getBoundingClientRect();
    const after = event.clientY > middle.top + middle.height / 2;
    list.insertBefore(dragged, after ? over.nextElementSibling : over);
  });

  list.addEventListener("drop", (event) => event.preventDefault());

  list.addEventListener("dragend", () => {
    if (!dragged) return;
    dragged.classList.remove("is-dragged");
    dragged = null;
    if (names() === before) return;
    form.elements.order.value = names();
    form.submit();
  });
}
