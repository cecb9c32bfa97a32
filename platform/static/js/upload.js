/** Files go up with a progress bar, and what else is being written on the page stays. Without a script the forms do the same. */

import { need } from "./need.js";

document.addEventListener("submit", (event) => {
  const form = event.target.closest("[data-upload]");
  if (!form || !form.elements.content.files.length) return;
  event.preventDefault();

  const area = need(form, "[data-progress]");
  const bar = need(area, "progress");
  const status = need(area, "[data-status]");
  const button = need(form, "button");
  const request = new XMLHttpRequest();
  let told = -1;

  const finish = (words) => {
    status.textContent = words;
    button.disabled = false;
  };

  request.upload.addEventListener("progress", ({ loaded, total }) => {
    const percent = Math.floor((100 * loaded) / total);
    bar.value = percent;
    // Screen readers are told every tenth, not every packet.
    if (percent === 100) status.textContent = status.dataset.checking;
    else if (Math.floor(percent / 10) > told) {
      told = Math.floor(percent / 10);
      status.textContent = status.dataset.sending.replace("{percent}", percent);
    }
  });

  request.addEventListener("load", () => {
    const answer = new DOMParser().parseFromString(request.responseText, "text/html");
    const files = answer.querySelector("#files");
    if (!files) {
      finish(answer.querySelector("h1")?.textContent.trim() ?? status.dataset.lost);
      return;
    }
    const field = form.elements.content.id;
    need(document, "#files").replaceWith(files);
    document.getElementById(field)?.focus();
    const told = answer.querySelector(".notice[role=status]");
    document.querySelector("main > .notice[role=status]")?.remove();
    if (told) need(document, "main").prepend(told);
  });
  request.addEventListener("error", () => finish(status.dataset.lost));
  request.addEventListener("abort", () => finish(status.dataset.lost));

  request.open("POST", window.location.pathname);
  button.disabled = true;
  area.hidden = false;
  request.send(new FormData(form));
});
