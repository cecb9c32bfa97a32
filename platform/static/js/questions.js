/**
 * The one submit of the sensitive questions: opens after a fixed time, checks that nothing is missing, sends once.
 * It does not look at the die and sends nothing but the form.
 */

import { need } from "./need.js";

const form = need(document, "[data-questions]");
const submit = need(form, "[type=submit]");
const summary = need(document, "#incomplete");
const wait = need(form, "[data-wait]");
let sent = false;

/** Keeps the button closed for the same time after the page opened, for everybody. */
function openLater() {
  const remaining = Number(form.dataset.minimumSeconds) * 1000 - performance.now();
  if (remaining <= 0) return;
  submit.disabled = true;
  wait.textContent = need(form, "[data-wait-words]").content.textContent;
  setTimeout(() => {
    submit.disabled = false;
    wait.textContent = wait.dataset.now;
  }, remaining);
}

/** Marks every question without an answer, and lists them on top as links. Returns whether all have one. */
function isComplete() {
  const list = need(summary, "ul");
  list.replaceChildren();
  for (const group of form.querySelectorAll("fieldset")) {
    const first = need(group, "[type=radio]");
    const missing = !group.querySelector(":checked");
    const message = need(form, `#${CSS.escape(first.name)}-error`);
    group.classList.toggle("field-error", missing);
    message.textContent = missing ? form.dataset.missing : "";
    if (!missing) continue;
    const link = document.createElement("a");
    link.href = `#${first.id}`;
    link.textContent = need(group, "legend").textContent;
    link.addEventListener("click", (event) => {
      event.preventDefault();
      first.focus();
      group.scrollIntoView({ block: "nearest" });
    });
    const item = document.createElement("li");
    item.append(link);
    list.append(item);
  }
  return list.childElementCount === 0;
}

form.addEventListener("submit", (event) => {
  if (sent || submit.disabled) {
    event.preventDefault();
    return;
  }
  if (!isComplete()) {
    event.preventDefault();
    summary.hidden = false;
    summary.focus();
    return;
  }
  sent = true;
  submit.setAttribute("aria-disabled", "true");
});

// A page that comes back out of the browser's memory asks the server where the participant belongs.
addEventListener("pageshow", (event) => {
  if (event.persisted) location.reload();
});

openLater();
