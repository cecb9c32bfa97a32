/**
 * Typed text that the server does not have yet. This tab alone keeps it, until the form is stored or put aside.
 */

const OWN = new Set(["csrfmiddlewaretoken", "loaded", "action"]);
const PREFIX = "typed ";
const NO_TEXT = new Set(["submit", "button", "reset", "image", "file", "fieldset", "output"]);

/** Scripts move hidden inputs and sliders, so that theirs are the values as they are. */
function valuesAsLoaded(field) {
  if (field.type === "checkbox" || field.type === "radio") return field.defaultChecked ? [field.value] : [];
  if (field.type === "hidden" || field.type === "range") return [field.value];
  if (!field.options) return [field.defaultValue];
  const chosen = [...field.options].filter((option) => option.defaultSelected);
  return (chosen.length || field.multiple ? chosen : [...field.options].slice(0, 1)).map((option) => option.value);
}

export class KeptText {
  constructor(form) {
    this.form = form;
    this.key = `${PREFIX}${form.dataset.keep} ${location.pathname} ${form.id}`;
    this.before = this.loaded();
  }

  /** The same as the server sent it: somebody may type, and a browser put back what it held, before a script runs. */
  loaded() {
    const values = [];
    for (const field of this.form.elements) {
      if (!field.name || OWN.has(field.name) || NO_TEXT.has(field.type) || field.matches(":disabled")) continue;
      for (const value of valuesAsLoaded(field)) values.push([field.name, value]);
    }
    return JSON.stringify(values);
  }

  /** The names and values of all inputs, as text, so that two moments can be compared. */
  typed(form = this.form) {
    return JSON.stringify([...new FormData(form)].filter(([name, value]) => typeof value === "string" && !OWN.has(name)));
  }

  get isChanged() {
    return this.typed() !== this.before;
  }

  keep() {
    write(this.key, { typed: this.typed(), loaded: this.form.elements.loaded?.value });
  }

  forget() {
    this.before = this.typed();
    sessionStorage.removeItem(this.key);
  }

  /** The form is on its way with its button: the next page shows what became of it. */
  send() {
    write(this.key, { typed: this.typed(), loaded: this.form.elements.loaded?.value, sent: true });
  }

  /** Puts back what was typed here before, with the version it started from; whether there was anything. */
  restore() {
    const kept = read(this.key);
    if (!kept || kept.typed === this.before) {
      sessionStorage.removeItem(this.key);
      return false;
    }
    const values = new Map();
    for (const [name, value] of JSON.parse(kept.typed)) values.set(name, [...(values.get(name) ?? []), value]);
    for (const field of this.form.elements) {
      if (!field.name || OWN.has(field.name) || field.type === "hidden") continue;
      const given = values.get(field.name) ?? [];
      if (field.type === "checkbox" || field.type === "radio") field.checked = given.includes(field.value);
      else if (given.length && field.type !== "submit") field.value = given[0];
    }
    if (kept.loaded) this.form.elements.loaded.value = kept.loaded;
    return true;
  }
}

function read(key) {
  return JSON.parse(sessionStorage.getItem(key));
}

function write(key, value) {
  sessionStorage.setItem(key, JSON.stringify(value));
}

// A form that was sent is stored, or shown again with all that was typed, unless the browser went back to it.
const [arrival] = performance.getEntriesByType("navigation");
for (const key of Object.keys(sessionStorage).filter((name) => name.startsWith(PREFIX))) {
  const kept = read(key);
  if (kept.sent && arrival?.type === "navigate") sessionStorage.removeItem(key);
}
