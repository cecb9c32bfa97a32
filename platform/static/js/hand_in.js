/** The page to which a course sends a student: it shows the study's key to this browser, and hands in the credit that the browser keeps. */

import { forget, keep, kept } from "./credit_kept.js";
import { need } from "./need.js";

const root = need(document, "[data-course-credit]");
const { slug, modulus, person } = root.dataset;
const here = kept(slug);

if (root.hasAttribute("data-has-credit")) forget(slug);
else if (person && root.querySelector("[data-hand-in]")) offer();

function offer() {
  if (here.token && here.modulus !== modulus) return say("other-key");
  if (here.token && here.person && here.person !== person) return say("other-person");
  keep(slug, { modulus, person });
  if (!here.token) return undefined;
  const form = need(root, "[data-hand-in]");
  need(form, "[data-token]").value = here.token;
  form.hidden = false;
  need(root, "[data-begin]").hidden = true;
  if (Date.now() >= here.after && !root.hasAttribute("data-refused")) return form.requestSubmit();
  const time = new Intl.DateTimeFormat(document.documentElement.lang, { dateStyle: "short", timeStyle: "short" });
  need(form, "[data-after]").textContent = `→ ${time.format(here.after)}`;
  return undefined;
}

function say(mark) {
  const said = need(root, "[data-said]");
  said.textContent = need(root, `template[data-${mark}]`).content.textContent.trim();
  said.hidden = false;
}
