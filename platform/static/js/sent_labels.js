/**
 * The names of fields as people read them, kept in this tab when a form is sent: if the login has ended meanwhile, the page that gives the
 * form back can only count its fields. Nothing of what was typed is kept. For pages of staff.
 */

const KEY = "sent labels";

function labelOf(field, form) {
  const isOneOfMany = ["radio", "checkbox"].includes(field.type) && form.querySelectorAll(`[name="${CSS.escape(field.name)}"]`).length > 1;
  const place = isOneOfMany ? field.closest("fieldset")?.querySelector("legend") : field.labels?.[0];
  return (place?.textContent ?? field.getAttribute("aria-label") ?? "").replace(/\s+/g, " ").trim();
}

/** A field may be called “action”, and then stands in the place of the form's own. */
const addressOf = (form) => new URL(form.getAttribute("action") || location.href, location.href).href;

addEventListener("submit", ({ target: form, submitter }) => {
  if (form.method !== "post") return;
  const labels = {};
  for (const field of form.elements) if (field.name) labels[field.name] ||= labelOf(field, form);
  if (submitter?.name) labels[submitter.name] = "";
  sessionStorage.setItem(KEY, JSON.stringify({ address: addressOf(form), labels }));
});

/** Puts them above the fields that came back. A field without a label was a button or hidden: nobody typed it, so it is hidden again. */
export function nameFields(form) {
  const kept = JSON.parse(sessionStorage.getItem(KEY));
  if (kept?.address !== addressOf(form)) return;
  for (const field of form.querySelectorAll("textarea")) {
    const label = kept.labels[field.name];
    if (label) field.labels[0].textContent = label;
    else if (label === "") field.closest(".field").hidden = true;
  }
}
