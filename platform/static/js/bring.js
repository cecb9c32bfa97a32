/** The first line of each chosen file comes into the form, so that its columns are shown before anything is sent. */

import { need } from "./need.js";

const LONGEST = 65536;
/** Cells and what is between them, up to the end of the line; one in quotes may have line breaks. Nothing of quotes that do not end. */
const LINE = /^(?:"(?:[^"]|"")*"[^,;\t\n]*|[^",;\t\n][^,;\t\n]*|[,;\t])*(?=\n|$)/;
const form = need(document, "[data-bring]");
const header = need(form, "#header");
/** Nothing of a file in JSON, whose first line may be all of it, and null of one without lines of text: a spreadsheet, an empty file. */
async function firstLine(file) {
  if (file.name.endsWith(".json")) return "";
  try {
    const start = await file.slice(0, LONGEST).arrayBuffer();
    const text = new TextDecoder("utf-8", { fatal: true }).decode(start, { stream: true }); // the last letter may be cut
    const lines = text.replaceAll("\r\n", "\n");
    const line = (LINE.exec(lines)?.[0] ?? lines.split("\n", 1)[0]).replace(/\s*\n\s*/g, " ");
    return !line.trim() || /[\0\r]/.test(line) ? null : line;
  } catch {
    return null;
  }
}
const tell = () => form.dispatchEvent(new Event("header"));

const chosen = need(form, "#file");

async function readChosen() {
  if (!chosen.files.length) return;
  const files = [...chosen.files];
  const lines = await Promise.all(files.map(firstLine));
  const refused = files.filter((_file, at) => lines[at] === null);
  header.value = refused.length ? "" : lines.map((line, at) => (chosen.multiple ? `${files[at].name}: ${line}` : line)).join("\n");
  tell();
  if (refused.length) refuse(refused.map(({ name }) => form.dataset.notText.replace("{name}", name)).join(" "));
}

/** Before anything is sent, at the field. */
function refuse(words) {
  const error = Object.assign(document.createElement("p"), { className: "error-message", id: `${chosen.id}-error`, textContent: words });
  error.setAttribute("role", "alert");
  chosen.before(error);
  chosen.setAttribute("aria-invalid", "true");
  chosen.setAttribute("aria-describedby", document.getElementById("file-hint") ? `file-hint ${error.id}` : error.id);
  chosen.closest(".field")?.classList.add("field-error");
}

chosen.addEventListener("change", readChosen);
addEventListener("load", () => header.value || readChosen()); // somebody may have chosen files before this script came
header.addEventListener("change", tell);

/** Other columns come: whatever was refused of the files and of the columns before is not there any more. */
function forgetRefusal() {
  for (const link of document.querySelectorAll(".error-summary a")) {
    const field = document.getElementById(link.hash.slice(1));
    if (field === chosen || field === header || field?.closest("#columns")) link.closest("li").remove();
  }
  for (const field of [chosen, header]) {
    document.getElementById(`${field.id}-error`)?.remove();
    field.removeAttribute("aria-invalid");
    field.closest(".field-error")?.classList.remove("field-error");
  }
  const summary = document.querySelector(".error-summary");
  if (summary && !summary.querySelector("li")) summary.remove();
}

form.addEventListener("header", forgetRefusal);

/** A choice made while the columns are on their way is sent, too; without it the answer would undo the choice. */
form.addEventListener("input", ({ target }) => {
  const underWay = target.closest("#columns")?.parentElement.classList.contains("htmx-request");
  if (underWay) tell();
});

/** A page that comes back has no chosen file: the columns come into this one, or once more why they cannot be read. */
form.addEventListener("submit", (event) => {
  const typed = header.value.trim();
  if (event.submitter?.value !== "columns" || !(typed || chosen.files.length)) return;
  event.preventDefault();
  if (typed) tell();
  else readChosen();
});
