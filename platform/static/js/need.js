/** The element that a script cannot do without; names the mark when the page has lost it. */
export function need(within, selector) {
  const found = within.querySelector(selector);
  if (!found) throw new Error(`Expected an element ${selector} in ${described(within)}, found none.`);
  return found;
}

function described(node) {
  if (node === document) return "the page";
  const marks = [...node.attributes].map(({ name }) => name).filter((name) => name === "id" || name.startsWith("data-"));
  return `<${[node.localName, ...marks.map((name) => (name === "id" ? `id=${node.id}` : name))].join(" ")}>`;
}
