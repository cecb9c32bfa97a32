/**
 * Manners of a part that htmx refreshes: it rests while nobody looks, keeps open what a reader has opened,
 * and goes to the login page as a whole when the login has run out.
 */

let open = [];

document.addEventListener("htmx:beforeRequest", (event) => {
  if (document.hidden) event.preventDefault();
});

document.addEventListener("htmx:beforeSwap", (event) => {
  if (new URL(event.detail.xhr.responseURL).pathname !== location.pathname) {
    event.detail.shouldSwap = false;
    location.reload();
    return;
  }
  open = [...document.querySelectorAll("details[open][id]")].map((details) => details.id);
});

document.addEventListener("htmx:afterSwap", () => {
  for (const id of open) document.getElementById(id)?.setAttribute("open", "");
});
