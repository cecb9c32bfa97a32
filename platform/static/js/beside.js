/** The preview beside the builder: it shows what is chosen at once, follows the language that is written, and keeps its place. */

const form = document.querySelector("[data-preview]");
const frame = document.querySelector("iframe[name=preview-frame]");

/** Loads the page in the frame anew, where it was scrolled to. */
export function refreshPreview() {
  const shown = readable();
  if (!shown || shown.location.href === "about:blank") return;
  const { scrollX, scrollY } = shown;
  frame.addEventListener("load", () => readable()?.scrollTo(scrollX, scrollY), { once: true });
  shown.location.reload();
}

/** The window in the frame; null where the login page, which nobody may frame, would stand in it. */
function readable() {
  return frame?.contentDocument ? frame.contentWindow : null;
}

/** The choices say what the frame shows, also after somebody went on inside it. */
function follow() {
  const shown = new URLSearchParams(readable()?.location.search);
  for (const choice of form.querySelectorAll("select")) if (shown.has(choice.name)) choice.value = shown.get(choice.name);
}

if (form) {
  frame.addEventListener("load", follow);
  form.addEventListener("change", () => form.requestSubmit());
  const language = form.elements.language;
  document.getElementById("builder-form")?.addEventListener("focusin", ({ target }) => {
    const code = target.getAttribute("lang");
    if (!code || code === language.value || ![...language.options].some(({ value }) => value === code)) return;
    language.value = code;
    form.requestSubmit();
  });
}
