/**
 * Asks at once about what stood in a form before htmx could listen: somebody typed while scripts were still coming, or the browser put
 * back what it held. A slider is left out, because a page's own script moves it.
 */

function changed(field) {
  if (field.type === "range") return false;
  if (field.type === "checkbox" || field.type === "radio") return field.checked !== field.defaultChecked;
  if (field.options) return field.selectedOptions[0] !== ([...field.options].find((option) => option.defaultSelected) ?? field.options[0]);
  return field.value !== field.defaultValue;
}

document.addEventListener("DOMContentLoaded", () => {
  for (const asking of document.querySelectorAll("[hx-trigger^='input ']")) {
    const field = [asking, ...asking.querySelectorAll("*")].find((one) => one.matches("input, select, textarea") && changed(one));
    field?.dispatchEvent(new Event("input", { bubbles: true }));
  }
});
