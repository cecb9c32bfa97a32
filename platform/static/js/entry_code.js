/**
 * Takes a personal code out of the part of the address that browsers keep to themselves (#code=…), into its field. The address then forgets it.
 */

import { need } from "./need.js";

const code = new URLSearchParams(location.hash.slice(1)).get("code");
if (code) {
  need(document, "#code").value = code;
  history.replaceState(null, "", location.pathname + location.search);
}
