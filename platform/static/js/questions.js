/**
 * The sensitive questions, one at a time: the die comes first, then the question, at the end a look at all answers and one submit.
 *
 * Before its roll a question cannot be reached by eye, key, screen reader or search. Going back and forth sends nothing and rolls
 * nothing. The answers are kept in the memory of this page alone. The script never reads what a die shows, only that it was rolled.
 */

import { need } from "./need.js";
import { onPage } from "./next_page.js";
import { sendUntilAnswered } from "./sending.js";

// Answers leave when the button opens and every so often after that; a server cannot see the moment of the click.
const DEPARTURES_MILLISECONDS = 3000;

/** One question: a die, and behind it the question with its answers. */
class QuestionPage {
  constructor(element, missing) {
    this.element = element;
    this.missing = missing;
    this.heading = need(element, "h2");
    this.asked = need(element, "[data-asked]");
    this.ownDie = need(element, "[data-own-die]");
    this.error = need(element, "[data-error]");
    const die = need(element, "[data-die]");
    this.asked.inert = true;
    die.addEventListener("rolled", () => this.ask());
    if (die.matches("[data-rolled]")) this.ask();
    const shown = need(this.ownDie, "[data-own-die-rolled]");
    shown.hidden = false;
    shown.addEventListener("click", () => {
      die.hidden = true;
      this.ask();
      this.asked.focus();
    });
    this.asked.addEventListener("change", () => this.complain(""));
  }

  ask() {
    this.ownDie.hidden = true;
    this.asked.hidden = false;
    this.asked.inert = false;
  }

  get answer() {
    return this.asked.querySelector(":checked");
  }

  complain(message) {
    this.error.textContent = message;
    need(this.asked, "fieldset").classList.toggle("field-error", message !== "");
  }

  /** Whether there is an answer; if not, says so and goes there. */
  isAnswered() {
    if (this.answer) return true;
    this.complain(this.missing);
    need(this.asked, "[type=radio]").focus();
    return false;
  }
}

function ask(form, opened) {
  const submit = need(form, "[type=submit]");
  const wait = need(form, "[data-wait]");
  const questions = [...form.querySelectorAll("[data-question-page]")].map((element) => new QuestionPage(element, form.dataset.missing));
  const review = need(form, "[data-review]");
  const pages = [...questions, { element: review, heading: need(review, "h2") }];
  let here = 0;

  function show(index) {
    here = index;
    pages.forEach(({ element }, place) => {
      element.hidden = place !== here;
      element.inert = place !== here;
    });
    if (pages[here].element === review) {
      for (const { answer } of questions) {
        need(review, `[data-answer-to="${CSS.escape(answer.name)}"]`).textContent = answer.closest("label").textContent.trim();
      }
    }
  }

  function goTo(index) {
    show(index);
    pages[here].heading.focus();
  }

  function goOn() {
    if (questions[here].isAnswered()) goTo(here + 1);
  }

  /** The time until the next departure. The first is drawn by chance, for everybody alike, whatever the dice show. */
  const opening = Number(form.dataset.minimumSeconds) * 1000 * (1 + Math.random() / 2);
  function untilDeparture() {
    if (opening === 0) return 0;
    const since = performance.now() - opened - opening;
    return since <= 0 ? -since : DEPARTURES_MILLISECONDS - (since % DEPARTURES_MILLISECONDS);
  }

  /** Keeps the button closed until the first departure. */
  function openLater() {
    const remaining = opened + opening - performance.now();
    if (remaining <= 0) return;
    submit.disabled = true;
    wait.textContent = need(form, "[data-wait-words]").content.textContent;
    setTimeout(() => {
      submit.disabled = false;
      wait.textContent = wait.dataset.now;
    }, remaining);
  }

  form.addEventListener("click", ({ target }) => {
    const button = target.closest("button");
    if (button?.matches("[data-next]")) goOn();
    if (button?.matches("[data-previous]")) goTo(here - 1);
    if (button?.matches("[data-change]")) goTo(Number(button.dataset.change));
  });

  let sent = false;
  form.addEventListener("submit", (event) => {
    const isReviewed = pages[here].element === review;
    if (isReviewed && !form.matches("[data-kept-until-sent]")) return; // a preview
    event.preventDefault();
    if (!isReviewed) goOn(); // the Enter key on an answer
    if (!isReviewed || sent || submit.disabled) return;
    sent = true;
    for (const button of review.querySelectorAll("button")) button.disabled = true;
    const remaining = untilDeparture();
    if (remaining > 0) wait.textContent = wait.dataset.leaving;
    sendUntilAnswered(form, { delay: remaining });
  });

  for (const button of form.querySelectorAll("[data-next], [data-previous], [data-change]")) button.hidden = false;
  need(review, "[data-answers]").hidden = false;
  show(0);
  openLater();
}

onPage(import.meta.url, ({ opened }) => ask(need(document, "[data-questions]"), opened));
