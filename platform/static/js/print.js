/** A button that prints the page. */

import { need } from "./need.js";

const button = need(document, "#print");
button.hidden = false;
button.addEventListener("click", () => print());
