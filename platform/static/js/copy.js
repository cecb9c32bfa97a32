/** Buttons that copy a code to the clipboard, where the browser allows it. */

import { need } from "./need.js";

if (navigator.clipboard) {
  for (const button of document.querySelectorAll("[data-copy]")) {
    button.hidden = false;
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(need(document, `#${CSS.escape(button.dataset.copy)}`).textContent.trim());
      button.textContent = button.dataset.done;
    });
  }
}
