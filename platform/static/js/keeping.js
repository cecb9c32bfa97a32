/** Forms that are kept and sent again while the server is away: [data-kept-until-sent]. The questions have a script of their own. */

import { onPage } from "./next_page.js";
import { sendUntilAnswered } from "./sending.js";

function keep(form) {
  let sent = false;
  form.addEventListener("submit", (event) => {
    if (event.defaultPrevented) return;
    event.preventDefault();
    if (sent) return;
    sent = true;
    for (const button of form.querySelectorAll("[type=submit]")) button.setAttribute("aria-disabled", "true");
    sendUntilAnswered(form, { submitter: event.submitter });
  });
}

onPage(import.meta.url, () => document.querySelectorAll("form[data-kept-until-sent]").forEach(keep));
