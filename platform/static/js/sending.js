/**
 * Sends a filled form until the server has taken it, so that an outage loses nothing and asks nothing of the participant.
 *
 * The form's content is read once; every attempt sends the same bytes. It is kept in the memory of this page alone: on a shared device
 * nothing stays behind when the page is closed. A step that was taken before is not taken twice, so repeating does no harm.
 */

import { need } from "./need.js";
import { showNextPage } from "./next_page.js";

const NEXT_PAGE = "Next-Page"; // asked for only where it has the address of this page, so that history stays as it is
const OUTAGES = new Set([408, 425, 429, 500, 502, 503, 504]);
const FIRST_PAUSE_MILLISECONDS = 1000;
const LONGEST_PAUSE_MILLISECONDS = 15_000;
const LONGEST_WISH_SECONDS = 60;
const PATIENCE_MILLISECONDS = 30_000;

const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));
const askBeforeLeaving = (event) => event.preventDefault();

/** How to go on, once the server has said something; or the milliseconds for which it wishes to be left alone. */
async function attempt(address, body, objected) {
  try {
    const signal = AbortSignal.timeout(PATIENCE_MILLISECONDS);
    const headers = { Accept: "text/html", ...(location.href === address && { [NEXT_PAGE]: "wanted" }) };
    const response = await fetch(address, { method: "POST", body, redirect: "manual", headers, signal });
    const goThere = () => location.assign(address);
    if (response.type === "opaqueredirect") return goThere;
    if (response.headers.has(NEXT_PAGE)) {
      const html = await response.text();
      return () => showNextPage(html).then((shown) => shown || goThere(), (error) => (reportError(error), goThere()));
    }
    if (!OUTAGES.has(response.status)) return objected;
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
  const objected = () => sendNatively(form, submitter);
  let answer = await attempt(address, body, objected);
  for (let times = 0; typeof answer === "number"; times += 1) {
    if (times === 0) {
      addEventListener("beforeunload", askBeforeLeaving);
      need(form, "[data-kept]").textContent = need(form, "[data-kept-words]").content.textContent;
    }
    const backoff = Math.min(FIRST_PAUSE_MILLISECONDS * 2 ** times, LONGEST_PAUSE_MILLISECONDS);
    await pause(Math.max(answer, backoff) * (1 + Math.random() / 2));
    answer = await attempt(address, body, objected);
  }
  removeEventListener("beforeunload", askBeforeLeaving);
  answer();
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

// A page that comes back out of the browser's memory asks the server where the participant belongs.
addEventListener("pageshow", ({ persisted }) => {
  if (persisted) location.reload();
});
