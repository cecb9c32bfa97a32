/**
 * Friends, and which of them are friends with each other: [data-circle]. The student types initials and ticks pairs; two numbers go into the
 * form. The inputs for initials and ticks have no name, so the form does not send them, and nothing here stores them.
 */

import { need } from "./need.js";
import { onPage } from "./next_page.js";

const fill = (words, values) => words.replace(/\{(\w+)\}/g, (_, name) => values[name]);

/** A copy of a template's only element. */
const copyOf = (template) => template.content.firstElementChild.cloneNode(true);

function makeFriends(circle) {
  const template = need(circle, "[data-circle-friend]");
  const list = need(circle, "[data-circle-friends]");
  return Array.from({ length: Number(circle.dataset.circle) }, (_, index) => {
    const box = copyOf(template);
    const input = need(box, "input");
    const label = need(box, "label");
    input.id = `${circle.id}.friend.${index + 1}`;
    label.htmlFor = input.id;
    label.textContent = fill(template.dataset.words, { number: index + 1 });
    list.append(box);
    return { box, input };
  });
}

function makePairs(circle, friends) {
  const template = need(circle, "[data-circle-pair]");
  const list = need(circle, "[data-circle-pairs] .choices");
  const make = (one, other) => {
    const label = copyOf(template);
    list.append(label);
    return { one, other, label, tick: need(label, "input") };
  };
  return friends.flatMap((_, one) => friends.slice(one + 1).map((_, offset) => make(one, one + 1 + offset)));
}

function begin(circle, signal) {
  const numbers = need(circle, "[data-circle-numbers]");
  const [known, linked] = numbers.querySelectorAll("input");
  const nobody = need(circle, "[data-circle-nobody]");
  const clear = need(circle, "[data-circle-clear]");
  const sent = need(circle, "[data-circle-sent]");
  const pairList = need(circle, "[data-circle-pairs]");
  const words = need(circle, "[data-circle-pair]").dataset.words;
  const friends = makeFriends(circle);
  const pairs = makePairs(circle, friends);

  /** Show what the initials so far call for. */
  const show = () => {
    const typed = friends.map(({ input }) => input.value.trim());
    const isAlone = (name) => typed.filter((other) => other === name).length === 1;
    const called = typed.map((name, index) => (isAlone(name) ? name : `${name} (${index + 1})`));
    friends.forEach(({ box }, index) => {
      box.hidden = nobody.checked || !(index === 0 || typed[index] || typed[index - 1]);
    });
    for (const { one, other, label, tick } of pairs) {
      label.hidden = !(typed[one] && typed[other]);
      if (label.hidden) tick.checked = false;
      need(label, "span").textContent = label.hidden ? "" : fill(words, { one: called[one], other: called[other] });
    }
    pairList.hidden = typed.filter(Boolean).length < 2;
    clear.hidden = known.value === "";
    const said = known.value === "" ? sent.dataset.nothing : fill(sent.dataset.words, { friends: known.value, pairs: linked.value });
    if (sent.textContent !== said) sent.textContent = said;
  };

  /** Count anew, and show it. */
  const update = () => {
    const named = friends.filter(({ input }) => input.value.trim()).length;
    known.value = named || nobody.checked ? named : "";
    const isTicked = ({ one, other, tick }) => tick.checked && friends[one].input.value.trim() && friends[other].input.value.trim();
    linked.value = known.value && pairs.filter(isTicked).length;
    show();
  };

  const forget = () => {
    for (const { input } of friends) input.value = "";
    for (const { tick } of pairs) tick.checked = false;
  };

  friends.forEach(({ input }, index) => {
    input.addEventListener("input", update);
    input.addEventListener("keydown", (event) => {
      if (event.key !== "Enter") return;
      event.preventDefault(); // the next friend, not the next page
      const next = friends[index + 1];
      if (next && !next.box.hidden) next.input.focus();
    });
  });
  for (const { tick } of pairs) tick.addEventListener("change", update);
  nobody.addEventListener("change", () => {
    forget();
    update();
  });
  clear.addEventListener("click", () => {
    nobody.checked = false;
    forget();
    update();
    friends[0].input.focus();
  });
  // A page that the browser keeps in its memory keeps no name.
  const forgetAndShow = () => {
    forget();
    show();
  };
  addEventListener("pagehide", forgetAndShow, { signal });
  signal.addEventListener("abort", forgetAndShow);

  nobody.checked = known.value === "0";
  numbers.hidden = true;
  need(circle, "[data-circle-page]").hidden = false;
  show();
}

onPage(import.meta.url, ({ signal }) => {
  for (const circle of document.querySelectorAll("[data-circle]")) {
    // Numbers that came back with a mistake stay what they are.
    if (!circle.querySelector("[aria-invalid]")) begin(circle, signal);
  }
});
