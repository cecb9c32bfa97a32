/** The first line of each chosen file comes into the form, so that its columns are shown before anything is sent. */

import { need } from "./need.js";

const LONGEST = 65536;
const form = need(document, "[data-bring]");
const header = need(form, "#header");
/** Nothing of a file in JSON, whose first line may be all of it. */
const firstLine = async (file) =>
  file.name.endsWith(".json") ? "" : (await file.slice(0, LONGEST).text()).split(/\r?\n/, 1)[0];
const tell = () => form.dispatchEvent(new Event("header"));

need(form, "#file").addEventListener("change", async ({ target }) => {
  if (!target.files.length) return;
  const lines = await Promise.all([...target.files].map(firstLine));
  header.value = lines.map((line, at) => (target.multiple ? `${target.files[at].name}: ${line}` : line)).join("\n");
  tell();
});
header.addEventListener("change", tell);
