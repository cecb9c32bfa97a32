/** A form that was given back because a login had ended goes at the first press after the next one. */

import { takeFreshTokens } from "./fresh_tokens.js";
import { need } from "./need.js";
import { nameFields } from "./sent_labels.js";

const login = need(document, "[data-login]");
const form = document.querySelector("form[data-again]"); // none, if nothing could be given back
let isReady = false;

if (form) nameFields(form);

form?.addEventListener("submit", async (event) => {
  if (isReady) return;
  event.preventDefault();
  const { submitter } = event;
  if (await takeFreshTokens(login.href, { isLogin: true })) {
    isReady = true;
    form.requestSubmit(submitter);
    return;
  }
  need(document, "p[data-not-yet]").textContent = login.dataset.notYet;
  login.focus();
});
