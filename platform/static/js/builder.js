/**
 * The builder saves itself: a moment after somebody has typed, and when they leave. Text that cannot be stored yet stays in this tab.
 * Without a script every page has its button, and does the same.
 */

import { takeFreshTokens } from "./fresh_tokens.js";
import { KeptText } from "./kept_text.js";
import { need } from "./need.js";
import { refreshPreview } from "./beside.js";

const PAUSE_MILLISECONDS = 1200;
const LONGEST_RETRY_MILLISECONDS = 60_000;
const LONGEST_KEEPALIVE = 60_000;
const COMPANY_MILLISECONDS = 20_000;
const BY_ITSELF = { "X-By-Itself": "1" }; // nobody pressed a button: no page that gives the form back is wanted
const PARTS = ["#builder-parts", "#builder-steps", "#builder-conflict"];

const bar = document.querySelector("[data-saved]");

function say(state, problem = "") {
  if (!bar) return;
  bar.textContent = bar.dataset[state] ?? "";
  bar.dataset.state = state;
  need(document, "[data-problem]").textContent = problem;
}

/** Puts the parts of the answer that changed into the page; the focus stays where it was. */
function show(answer) {
  const focused = document.activeElement?.id;
  for (const part of PARTS) {
    const [old, fresh] = [document.querySelector(part), answer.querySelector(part)];
    if (old && fresh && !old.isEqualNode(fresh)) old.replaceChildren(...fresh.childNodes);
  }
  if (focused && document.activeElement?.id !== focused) document.getElementById(focused)?.focus();
}

/** Each error at its field, as the page itself would show it. */
function showErrors(form, answer) {
  for (const old of form.querySelectorAll(".error-message[id]")) old.remove();
  for (const field of form.querySelectorAll("[aria-invalid]")) field.removeAttribute("aria-invalid");
  for (const group of form.querySelectorAll(".field-error")) group.classList.remove("field-error");
  for (const error of answer.querySelectorAll("#builder-form .error-message[id]")) {
    const name = error.id.replace(/-error$/, "");
    const field = document.getElementById(name);
    const beside = document.getElementById(`${name}-group`)?.querySelector(".choices") ?? field;
    if (!beside) continue;
    beside.before(error);
    beside.parentElement.classList.add("field-error");
    const described = new Set((field.getAttribute("aria-describedby") ?? "").split(" ").filter(Boolean));
    field.setAttribute("aria-describedby", [...described.add(error.id)].join(" "));
    field.setAttribute("aria-invalid", "true");
  }
}

/** The form that saves itself. */
class Saving {
  constructor(form, kept) {
    this.form = form;
    this.kept = kept;
    this.failures = 0;
    this.isStopped = form.matches("[data-refused]") && document.querySelector("[data-take-theirs]") !== null;
  }

  /** Saves after a pause. A choice between two versions stops that until somebody has chosen. */
  soon(milliseconds = PAUSE_MILLISECONDS) {
    clearTimeout(this.timer);
    if (!this.isStopped) this.timer = setTimeout(() => this.save(), milliseconds);
  }

  async save() {
    clearTimeout(this.timer);
    if (this.isStopped || !this.kept.isChanged) return;
    if (this.running) {
      await this.running;
      if (this.kept.isChanged && this.kept.typed() !== this.tried) await this.save();
      return;
    }
    this.running = this.send();
    await this.running;
    this.running = null;
  }

  async send({ isAgain = false } = {}) {
    this.tried = this.kept.typed();
    say("saving");
    let answer, arrived;
    try {
      const response = await this.request();
      arrived = !response.redirected;
      answer = new DOMParser().parseFromString(await response.text(), "text/html");
      this.failures = 0;
    } catch {
      this.failures += 1;
      say("lost", bar?.dataset.lost);
      this.soon(Math.min(1000 * 2 ** this.failures, LONGEST_RETRY_MILLISECONDS));
      return;
    }
    const form = arrived && answer.querySelector("#builder-form");
    if (!form) {
      if (!isAgain && (await takeFreshTokens(location.href))) {
        await this.send({ isAgain: true });
        return;
      }
      say("out", bar?.dataset.out);
      showLogin();
      return;
    }
    this.take(form, answer);
  }

  /** It goes on when the page is left, where the browser allows that. */
  request() {
    const body = new URLSearchParams([...new FormData(this.form)].filter(([, value]) => typeof value === "string"));
    const keepalive = body.toString().length < LONGEST_KEEPALIVE;
    return fetch(location.href, { method: "POST", headers: BY_ITSELF, body, keepalive });
  }

  take(form, answer) {
    const summary = answer.querySelector(".error-summary li")?.textContent.trim();
    const isConflict = answer.querySelector("[data-take-theirs]") !== null;
    show(answer);
    showErrors(this.form, answer);
    if (form.matches("[data-refused]")) {
      this.isStopped = isConflict;
      say("refused", summary ?? bar?.dataset.refused);
      return;
    }
    this.kept.before = this.tried;
    const isAlike = !form.dataset.mine || this.takeTheirs(form);
    const loaded = isAlike ? need(form, "[name=loaded]").value : form.dataset.mine;
    for (const input of document.querySelectorAll("[name=loaded]")) input.value = loaded;
    if (this.kept.isChanged) {
      this.kept.keep();
      this.soon();
    } else {
      this.kept.forget();
      say("done");
    }
    refreshPreview();
  }

  /** Shows what somebody else wrote in other places, unless more was typed meanwhile; whether the page then says what is stored. */
  takeTheirs(form) {
    if (this.kept.typed() !== this.tried) return false;
    for (const theirs of form.elements) {
      const own = theirs.id && this.form.elements[theirs.id];
      if (own?.type !== theirs.type || ["hidden", "submit"].includes(own.type)) continue;
      if (own.checked !== theirs.checked) own.checked = theirs.checked;
      if (own.value !== theirs.value) own.value = theirs.value;
    }
    const isAlike = this.kept.typed() === this.kept.typed(form);
    if (isAlike) this.kept.before = this.kept.typed();
    return isAlike;
  }

  /** The page goes: what is not stored is sent without waiting for the answer. This tab keeps it all the same. */
  leave() {
    if (this.isStopped || this.isSubmitted || !this.kept.isChanged || this.kept.typed() === this.tried) return;
    this.request().catch(() => {});
  }
}

function begin(form) {
  const kept = new KeptText(form);
  const saving = form.matches("[data-saves-itself]") ? new Saving(form, kept) : null;
  if (form.matches("[data-refused]")) {
    kept.keep();
    kept.before = "";
    if (form.id === "builder-form") say("refused");
  } else if (kept.restore()) {
    say("back", bar?.dataset.back);
    saving?.soon();
  } else if (kept.isChanged) {
    kept.keep();
    if (form.id === "builder-form") say("kept");
    if (!document.activeElement.closest("[data-whole]")) saving?.soon();
  } else if (saving) {
    say("done");
  }

  let last = kept.typed();
  const changed = (milliseconds) => {
    const typed = kept.typed();
    if (typed !== last) {
      last = typed; // leaving a field changes nothing, and must not move what somebody is about to press
      if (kept.isChanged) kept.keep();
      else kept.forget();
      if (form.id === "builder-form") say(kept.isChanged ? "kept" : saving ? "done" : "");
    }
    if (kept.isChanged && typed !== saving?.tried) saving?.soon(milliseconds);
  };
  form.addEventListener("input", ({ target }) => {
    changed();
    if (target.closest("[data-whole]")) clearTimeout(saving?.timer); // a list makes names in the data, so no half line is stored
  });
  form.addEventListener("change", () => changed(200));
  form.addEventListener("submit", async (event) => {
    if (saving?.running) {
      event.preventDefault(); // or this page would be in its own way
      await saving.running;
      form.requestSubmit(event.submitter);
      return;
    }
    kept.send();
    if (saving) saving.isSubmitted = true;
    clearTimeout(saving?.timer);
  });
  addEventListener("pagehide", () => saving?.leave());
  addEventListener("pageshow", ({ persisted }) => {
    if (persisted && saving) saving.isSubmitted = false;
  });
  document.addEventListener("click", ({ target }) => {
    if (form.id === "builder-form" && target.closest("[data-take-theirs]")) kept.forget();
  });
  return saving;
}

const savings = [...document.querySelectorAll("form[data-keep]")].map(begin).filter(Boolean);
dispatchEvent(new Event("kept")); // leaving.js need not ask any more

// Undo takes back what has just been typed, too.
document.getElementById("builder-steps")?.addEventListener("submit", async (event) => {
  const [saving] = savings;
  if (!saving || saving.isStopped || !saving.kept.isChanged) return;
  event.preventDefault();
  const pressed = event.submitter.id;
  await saving.save();
  const button = document.getElementById(pressed);
  if (!saving.kept.isChanged && !button.disabled) button.click();
});

// Two people on one page see each other. Nothing is asked while nobody looks.
const company = document.querySelector("[data-company]");
const login = document.querySelector("[data-login]");
const asking = company && setInterval(() => lookAround().catch(() => {}), COMPANY_MILLISECONDS);

/** Once: what was not saved says it, too. */
function showLogin() {
  if (login) login.hidden = false;
  if (company) company.textContent = bar?.dataset.state === "out" ? "" : company.dataset.out;
}

async function lookAround() {
  if (document.visibilityState !== "visible") return;
  const body = new URLSearchParams({ page: location.pathname });
  const response = await fetch(company.dataset.company, { method: "POST", headers: BY_ITSELF, body });
  if (response.status === 404) clearInterval(asking); // this study is not theirs any more
  if (!response.ok || response.redirected) return;
  if (response.status === 204) {
    showLogin();
    return;
  }
  const words = await response.text();
  if (company.textContent !== words) company.textContent = words;
  if (login?.hidden === false && (await takeFreshTokens(location.href))) {
    login.hidden = true;
    for (const saving of savings) saving.soon(0);
  }
}

// Somebody comes back from the tab in which they logged in.
document.addEventListener("visibilitychange", () => {
  if (login?.hidden === false) lookAround().catch(() => {});
});
