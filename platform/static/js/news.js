/**
 * Hears of news about the results that a page shows, and has the page ask for itself then. Where nothing can be heard, it asks at its own
 * intervals. A page that nobody looks at hears of nothing.
 */

const AGAIN_SECONDS = 30;

let stream = null;
let pace = 0;
let asked = performance.now();
let restsUntil = 0;
let heard = "";

/** Whether the page need not ask for itself now, because it would be told of news. */
export function hearsOfNews() {
  return stream?.readyState === EventSource.OPEN && performance.now() - asked < pace * 1000;
}

function results() {
  return document.getElementById("results");
}

function close() {
  stream?.close();
  stream = null;
}

function askNow() {
  close();
  results()?.dispatchEvent(new Event("news"));
}

/** Listen with the newest token, from the version on that the page shows. */
function listen() {
  const { news, token, version } = results()?.dataset ?? {};
  if (!news || document.hidden || performance.now() < restsUntil) return;
  close();
  stream = new EventSource(`${news}?${new URLSearchParams({ token, since: version })}`);
  stream.addEventListener("pace", ({ data }) => {
    pace = Number(data) * (0.8 + 0.4 * Math.random());
  });
  stream.addEventListener("news", ({ data }) => {
    if (data && data === heard) return; // the page has asked since, and shows what nobody announces
    heard = data;
    askNow();
  });
  stream.addEventListener("renew", askNow);
  stream.addEventListener("error", () => {
    close();
    restsUntil = performance.now() + AGAIN_SECONDS * 1000;
  });
}

document.addEventListener("htmx:afterSettle", listen);
document.addEventListener("htmx:afterRequest", ({ detail }) => {
  if (detail.elt.id !== "results") return;
  asked = performance.now();
  const region = results();
  if (detail.xhr.status !== 204 || !region) return;
  for (const name of ["token", "version"]) {
    const value = detail.xhr.getResponseHeader(`News-${name}`);
    if (value) region.dataset[name] = value;
  }
  if (!stream) listen();
});
document.addEventListener("visibilitychange", () => {
  if (document.hidden) close();
  else askNow();
});
listen();
