/** Sentences with gaps, and numbers as the page's language writes them. */

export const fill = (words, values) => words.replace(/\{(\w+)\}/g, (_, name) => values[name]);

export function written(number, digits) {
  return number.toLocaleString(document.documentElement.lang, { minimumFractionDigits: digits, maximumFractionDigits: digits });
}
