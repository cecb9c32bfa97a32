/** Sentences with gaps, and numbers as the page's language writes them, with a minus before what is negative. */

export const fill = (words, values) => words.replace(/\{(\w+)\}/g, (_, name) => values[name]);

export function written(number, digits) {
  const places = { minimumFractionDigits: digits, maximumFractionDigits: digits };
  return number.toLocaleString(document.documentElement.lang, places).replace("-", "−");
}
