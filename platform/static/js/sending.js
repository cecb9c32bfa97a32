/**
 * Sends a filled form until the server has taken it, so that an outage loses nothing and asks nothing of the participant.
 *
 * The form's content is read once; every attempt sends the same bytes. It is kept in the memory of this page alone: on a shared device
 * nothing stays behind when the page is closed. A step that was taken before is not taken twice, so repeating does no harm.
 */

import { need } from "./need.js";

const OUTAGES = new Set([408, 425, 429, 500, 502, 503, 504]);
const FIRST_PAUSE_MILLISECONDS = 1000;
const LONGEST_PAUSE_MILLISECONDS = 15_000;
const LONGEST_WISH_SECONDS = 60;
const PATIENCE_MILLISECONDS = 30_000;

const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));
const askBeforeLeaving = (event) => event.preventDefault();

/** "taken", "refused" (the server has something to say), or the milliseconds for which the server wishes to be left alone. */
async function attempt(address, body) {
  try {
    const signal = AbortSignal.timeout(PATIENCE_MILLISECONDS);
    const response = await fetch(address, { method: "POST", body, redirect: "manual", headers: { Accept: "text/html" }, signal });
    if (response.type === "opaqueredirect") return "taken";
    if (!OUTAGES.has(response.status)) return "refused";
    return Math.min(Number(response.headers.get("Retry-After")) || 0, LONGEST_WISH_SECONDS) * 1000;
  } catch {
    return 0; // no connection, or no answer in time
  }
}

/** Send `form` after `delay` milliseconds, and again until it is taken; then go where the participant belongs. */
export async function sendUntilAnswered(form, { delay = 0, submitter = null } = {}) {
  const content = new FormData(form);
  if (submitter?.name) content.append(submitter.name, submitter.value);
  const body = new URLSearchParams(content);
  const address = form.action;
  if (delay > 0) await pause(delay);
  let answer = await attempt(address, body);
  for (let times = 0; typeof answer === "number"; times += 1) {
    if (times === 0) {
      addEventListener("beforeunload", askBeforeLeaving);
      need(form, "[data-kept]").textContent = need(form, "[data-kept-words]").content.textContent;
    }
    const backoff = Math.min(FIRST_PAUSE_MILLISECONDS * 2 ** times, LONGEST_PAUSE_MILLISECONDS);
    await pause(Math.max(answer, backoff) * (1 + Math.random() / 2));
    answer = await attempt(address, body);
  }
  removeEventListener("beforeunload", askBeforeLeaving);
  if (answer === "taken") location.assign(address);
  else sendNatively(form, submitter);
}

/** The server's objection is a page, which only the browser can show. An objection changes nothing, so asking twice does no harm. */
function sendNatively(form, submitter) {
  if (submitter?.name) {
    const chosen = document.createElement("input");
    Object.assign(chosen, { type: "hidden", name: submitter.name, value: submitter.value });
    form.append(chosen);
  }
  HTMLFormElement.prototype.submit.call(form);
}
