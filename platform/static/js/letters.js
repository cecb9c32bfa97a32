/**
 * Letters with personal links. The list of names and addresses is read, merged and written here; the server hears how many links are
 * needed, and nothing else. A list that has its links already is for a reminder, and then the server hears nothing.
 */

import { delimiterOf, peopleOf, rowsOf, textOf, written } from "./lists.js";
import { need } from "./need.js";
import { fill } from "./words.js";

const page = need(document, "[data-letters]");
const part = (mark) => need(page, `[data-${mark}]`);
const words = page.dataset;
let list = null;
let delimiter = ",";

const say = (text, wrong = false) => {
  const line = part("said");
  line.textContent = text;
  line.className = wrong ? "error-message" : "";
};

function take(text) {
  delimiter = delimiterOf(text);
  list = peopleOf(rowsOf(text, delimiter));
  part("drafts").replaceChildren();
  part("ready").hidden = true;
  part("make").hidden = true;
  if (!list || !list.people.length) return say(words.none, true);
  const counted = fill(words.found, { people: list.people.length, left: list.left });
  if (list.link >= 0 && list.people.every((row) => row[list.link])) {
    say(`${counted} ${words.again}`);
    return show();
  }
  if (list.link >= 0) return say(words.some, true);
  say(counted);
  part("make").hidden = false;
}

/** So many fresh links, in parts that the server makes at once. */
async function links(count) {
  const found = [];
  while (found.length < count) {
    const random = crypto.getRandomValues(new Uint8Array(32));
    const seed = btoa(String.fromCharCode(...random)).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
    const sent = new FormData();
    sent.set("csrfmiddlewaretoken", need(page, "[name=csrfmiddlewaretoken]").value);
    sent.set("action", "table");
    sent.set("seed", seed);
    sent.set("count", String(Math.min(count - found.length, Number(words.most))));
    const answer = await fetch(words.address, { method: "POST", body: sent, credentials: "same-origin" });
    if (!answer.ok || !answer.headers.get("Content-Type").startsWith("text/csv")) throw new Error(String(answer.status));
    found.push(...rowsOf(await answer.text(), ",").slice(1).map(([_code, link]) => link));
  }
  return found;
}

async function make() {
  part("make").disabled = true;
  try {
    const made = await links(list.people.length);
    list.link = list.headings.length;
    list.headings = [...list.headings, "link"];
    list.people = list.people.map((row, place) => [...row, made[place]]);
    part("make").hidden = true;
    say(words.made);
    show();
  } catch {
    say(words.failed, true);
  }
  part("make").disabled = false;
}

function show() {
  part("ready").hidden = false;
  draft();
}

function draft() {
  const filled = (text, row) => text.replaceAll("{name}", row[list.name] ?? "").replaceAll("{link}", row[list.link]);
  const drafts = list.people.map((row) => {
    const item = document.createElement("li");
    const link = document.createElement("a");
    const asked = `subject=${encodeURIComponent(filled(part("subject").value, row))}&body=${encodeURIComponent(filled(part("text").value, row))}`;
    link.href = `mailto:${encodeURIComponent(row[list.address])}?${asked}`;
    link.textContent = row[list.address];
    item.append(link);
    return item;
  });
  part("drafts").replaceChildren(...drafts);
}

function download() {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([written([list.headings, ...list.people], delimiter)], { type: "text/csv" }));
  link.download = words.file;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

part("file").addEventListener("change", async ({ target }) => {
  if (target.files[0]) take(textOf(await target.files[0].arrayBuffer()));
});
part("read").addEventListener("click", () => take(part("pasted").value));
part("make").addEventListener("click", make);
part("download").addEventListener("click", download);
for (const field of ["subject", "text"]) part(field).addEventListener("input", draft);
part("tools").hidden = false;
