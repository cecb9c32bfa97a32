/**
 * The part that this browser keeps of credit for a study, between the page that gives it and the page that hands it in. It alone knows
 * that the two belong together, so it compares here what no server could.
 */

const HOUR = 60 * 60 * 1000;
const SHORTEST_WAIT_HOURS = 1;
const LONGEST_WAIT_HOURS = 8;
const name = (slug) => `candor-credit ${slug}`;

/** The key that the course's page showed, the student it was shown to (a mark without a name), and the credit, as far as there is any. */
export function kept(slug) {
  try {
    return JSON.parse(localStorage.getItem(name(slug))) ?? {};
  } catch {
    return {};
  }
}

export function keep(slug, more) {
  localStorage.setItem(name(slug), JSON.stringify({ ...kept(slug), ...more }));
}

export function forget(slug) {
  localStorage.removeItem(name(slug));
}

/** A moment in the next hours, drawn by chance: by then the time of handing in tells nothing about the time of finishing. */
export function momentByChance() {
  const [drawn] = crypto.getRandomValues(new Uint32Array(1));
  return Date.now() + (SHORTEST_WAIT_HOURS + (drawn / 2 ** 32) * (LONGEST_WAIT_HOURS - SHORTEST_WAIT_HOURS)) * HOUR;
}
