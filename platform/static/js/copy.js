/** Buttons that copy a code to the clipboard, where the browser allows it, or save it as a file. */

import { need } from "./need.js";

const words = (id) => need(document, `#${CSS.escape(id)}`).textContent.trim();

if (navigator.clipboard) {
  for (const button of document.querySelectorAll("[data-copy]")) {
    button.hidden = false;
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(words(button.dataset.copy));
      button.textContent = button.dataset.done;
    });
  }
}

for (const button of document.querySelectorAll("[data-download]")) {
  button.hidden = false;
  button.addEventListener("click", () => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([`${words(button.getAttribute("aria-describedby"))}: ${words(button.dataset.download)}\n`]));
    link.download = button.dataset.file;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  });
}

// A page with codes that comes back out of the browser's memory asks the server, which shows them once.
addEventListener("pageshow", ({ persisted }) => {
  if (persisted && document.querySelector("[data-forget-rolls]")) location.reload();
});
