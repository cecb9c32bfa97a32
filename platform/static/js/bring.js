/** The first line of the chosen file comes into the form, so that its columns are shown before anything is sent. */

import { need } from "./need.js";

const LONGEST = 65536;
const form = need(document, "[data-bring]");
const header = need(form, "#header");
const tell = () => form.dispatchEvent(new Event("header"));

need(form, "#file").addEventListener("change", async ({ target }) => {
  const [file] = target.files;
  if (!file) return;
  header.value = (await file.slice(0, LONGEST).text()).split(/\r?\n/, 1)[0];
  tell();
});
header.addEventListener("change", tell);
