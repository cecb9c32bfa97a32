/**
 * The one submit of the sensitive questions: opens after a fixed time, checks that nothing is missing, sends once.
 * It does not look at the die and sends nothing but the form.
 */

const form = document.querySelector("[data-questions]");
const submit = form.querySelector("[type=submit]");
const summary = document.getElementById("incomplete");
const wait = form.querySelector("[data-wait]");
let sent = false;

/** Keeps the button closed for the same time after the page opened, for everybody. */
function openLater() {
  const remaining = Number(form.dataset.minimumSeconds) * 1000 - performance.now();
  if (remaining <= 0) return;
  submit.disabled = true;
  wait.textContent = form.querySelector("[data-wait-words]").content.textContent;
  setTimeout(() => {
    submit.disabled = false;
    wait.textContent = wait.dataset.now;
  }, remaining);
}

/** Marks every question without an answer, and lists them on top as links. Returns whether all have one. */
function isComplete() {
  const list = summary.querySelector("ul");
  list.replaceChildren();
  for (const group of form.querySelectorAll("fieldset")) {
    const first = group.querySelector("[type=radio]");
    const missing = !group.querySelector(":checked");
    const message = document.getElementById(`${first.name}-error`);
    group.classList.toggle("field-error", missing);
    message.textContent = missing ? form.dataset.missing : "";
    if (!missing) continue;
    const link = document.createElement("a");
    link.href = `#${first.id}`;
    link.textContent = group.querySelector("legend").textContent;
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
