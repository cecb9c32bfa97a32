/**
 * The next page in the place of this one, when it came in the answer to a form: the same document goes on, and no second request is made.
 *
 * A script that works on such pages says by `onPage` how it begins on one, because browsers run no module twice in a document. Everything
 * that outlives a page's own elements (listeners on the window, timers, lectures) ends with the page's signal.
 */

const scripts = new Map();
let end = new AbortController();
let opened = 0; // when the page opened, by the clock of performance.now()

/** Begin on this page, and on every later one that names the script at `address`; `begin` takes { signal, opened }. */
export function onPage(address, begin) {
  scripts.set(address, begin);
  if (!end.signal.aborted) begin({ signal: end.signal, opened });
}

/**
 * Show the page in `html`. Resolves with false if it has to be loaded: its scripts come from another version of the server than this one.
 * Fails if something that it needs does not come; this page has ended then, too.
 */
export async function showNextPage(html) {
  const next = new DOMParser().parseFromString(html, "text/html");
  const named = [...next.querySelectorAll("script[src]")].map(({ src }) => src);
  const preloaded = [...next.querySelectorAll("link[rel=modulepreload]")].map(({ href }) => href);
  if (named.length > 0 && !preloaded.includes(import.meta.url)) return false;
  for (const one of next.querySelectorAll("noscript, script")) one.remove();
  end.abort();
  const old = [...styles(document)];
  await Promise.all([...named.map((address) => import(address)), ...[...styles(next)].map(applied)]);

  const { lang, dir } = next.documentElement;
  Object.assign(document.documentElement, { lang, dir });
  document.title = next.title;
  document.body.replaceWith(document.importNode(next.body, true));
  const kept = new Set([...styles(next)].map(({ href }) => href));
  for (const style of old) if (!kept.has(style.href)) style.remove();

  end = new AbortController();
  opened = performance.now();
  for (const address of named) scripts.get(address)?.({ signal: end.signal, opened });
  beginAtTheTop();
  history.replaceState(history.state, "", location.href); // for programs that drive a browser, and wait until it has gone on
  return true;
}

const styles = (of) => of.querySelectorAll("link[rel=stylesheet]");

/** Resolves once the style sheet of another document applies in this one. */
function applied({ href }) {
  if ([...styles(document)].some((style) => style.href === href)) return undefined;
  const style = Object.assign(document.createElement("link"), { rel: "stylesheet", href });
  return new Promise((resolve, reject) => {
    style.addEventListener("load", resolve);
    style.addEventListener("error", reject);
    document.head.append(style);
  });
}

/** As a page that was loaded: at its top, with the next Tab at its first link; a screen reader says its title. */
function beginAtTheTop() {
  scrollTo({ top: 0, behavior: "instant" });
  document.body.tabIndex = -1;
  document.body.focus({ preventScroll: true });
  document.body.removeAttribute("tabindex");
  const said = Object.assign(document.createElement("p"), { className: "visually-hidden", ariaLive: "polite" });
  document.body.append(said);
  setTimeout(() => (said.textContent = document.title), 100); // a region speaks when it changes, not when it comes
}
