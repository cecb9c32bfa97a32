/** The page that gives credit: a number of this browser's own is signed without being seen, and stays here until it is handed in. */

import { keep, kept, momentByChance } from "./credit_kept.js";
import { begun, fromText, toText } from "./credit_token.js";
import { need } from "./need.js";

const form = need(document, "[data-credit]");
const { slug, modulus } = form.dataset;
const said = need(form, "[data-said]");
const show = (mark) => {
  said.textContent = need(form, `template[data-${mark}]`).content.textContent.trim();
};

let asked = null; // kept for another try: each participant gets one number signed

if (globalThis.crypto?.subtle) form.hidden = false;

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  const button = need(form, "button");
  button.disabled = true;
  try {
    const earlier = kept(slug).modulus;
    if (earlier && earlier !== modulus) return show("other-key");
    asked ??= await begun(modulus, `candor credit ${slug}`);
    const body = new URLSearchParams([...new FormData(form), ["blinded", toText(asked.blinded)]]);
    const answer = await fetch(form.action, { method: "POST", body, headers: { Accept: "application/json" } });
    if (!answer.ok) throw new Error(`${answer.status}`);
    const { signature } = await answer.json();
    const { token } = await asked.finish(fromText(signature));
    keep(slug, { modulus, token, after: momentByChance() });
    show("done");
    button.hidden = true;
    for (const other of document.querySelectorAll("[data-other-way]")) other.hidden = true;
  } catch {
    show("failed");
    button.disabled = false;
  }
  return undefined;
});
