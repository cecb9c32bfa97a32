/** Forms that are kept and sent again while the server is away: [data-kept-until-sent]. The questions have a script of their own. */

import { sendUntilAnswered } from "./sending.js";

for (const form of document.querySelectorAll("form[data-kept-until-sent]")) {
  let sent = false;
  form.addEventListener("submit", (event) => {
    if (event.defaultPrevented) return;
    event.preventDefault();
    if (sent) return;
    sent = true;
    for (const button of form.querySelectorAll("[type=submit]")) button.setAttribute("aria-disabled", "true");
    sendUntilAnswered(form, { submitter: event.submitter });
  });
  // A page that comes back out of the browser's memory can be sent again.
  addEventListener("pageshow", ({ persisted }) => {
    if (persisted) location.reload();
  });
}
