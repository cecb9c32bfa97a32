/**
 * "Catch me if you can": twelve simulated people who rolled the study's die; the reader guesses who told the truth.
 *
 * It is drawn here from the die's own table, by ordinary chance, and sends and keeps nothing.
 */

import { need } from "./need.js";
import { onPage } from "./next_page.js";

const PEOPLE = 12;

function play(game) {
  const people = need(game, "[data-people]");
  const template = need(game, "template[data-person]");
  const reveal = need(game, "[data-reveal]");
  const again = need(game, "[data-again]");
  const caught = need(game, "[data-caught]");
  const why = need(game, "[data-why]");

  /** The number of faces that say this. */
  function faces(says) {
    const said = document.querySelector(`[data-die-key] [data-says="${says}"]`);
    return said ? said.closest("[data-faces]").dataset.faces.split(" ").length : 0;
  }

  const counts = { yes: faces("yes"), no: faces("no"), truth: faces("truth") };
  const sides = counts.yes + counts.no + counts.truth;
  const fill = (words, values) => words.replace(/\{(\w+)\}/g, (_, name) => values[name]);

  /** The people whom the best guesser gets right on average, when half of all have a true yes: for each answer, the likelier story. */
  const best = Math.round((PEOPLE * (Math.max(counts.truth / 2, counts.yes) + Math.max(counts.truth / 2, counts.no))) / sides);

  function drawPerson() {
    const place = Math.random() * sides;
    if (place < counts.yes) return { answer: "yes", toldTheTruth: false };
    if (place < counts.yes + counts.no) return { answer: "no", toldTheTruth: false };
    return { answer: Math.random() < 0.5 ? "yes" : "no", toldTheTruth: true };
  }

  let drawn = [];
  function begin() {
    drawn = Array.from({ length: PEOPLE }, drawPerson);
    people.replaceChildren(
      ...drawn.map(({ answer }, index) => {
        const label = template.content.cloneNode(true);
        need(label, "span").textContent = fill(template.dataset.words, { number: index + 1, answer: template.dataset[answer] });
        return label;
      }),
    );
    caught.replaceChildren();
    why.hidden = true;
    reveal.hidden = false;
    again.hidden = true;
  }

  function show() {
    let right = 0;
    drawn.forEach(({ toldTheTruth }, index) => {
      const label = people.children[index];
      const tick = need(label, "input");
      right += tick.checked === toldTheTruth;
      tick.disabled = true;
      need(label, "span").append(document.createElement("br"), toldTheTruth ? template.dataset.truth : template.dataset.forced);
      label.classList.toggle("told-the-truth", toldTheTruth);
    });
    for (const [words, values] of [[caught.dataset.words, { right }], [caught.dataset.best, { best }]]) {
      const line = document.createElement("p");
      line.textContent = fill(words, values);
      caught.append(line);
    }
    why.hidden = false;
    reveal.hidden = true;
    again.hidden = false;
    again.focus();
  }

  reveal.addEventListener("click", show);
  again.addEventListener("click", () => {
    begin();
    need(people, "input").focus();
  });
  begin();
  game.hidden = false;
}

onPage(import.meta.url, () => document.querySelectorAll("[data-catch]").forEach(play));
