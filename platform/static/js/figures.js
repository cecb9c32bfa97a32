/**
 * Every point of a figure (`data-mark`, written by candor.figures.drawing) can be read by mouse, touch and keyboard, and a part enlarged.
 * All that is read stands in the page; without this script each point has a title.
 */

import { need } from "./need.js";

const MOST = 16;
const NEAR = 48;
const views = new Map();

function enliven() {
  const tools = document.getElementById("figure-tools");
  if (!tools) return;
  const first = document.querySelector("[data-figure]");
  for (const figure of document.querySelectorAll("[data-figure]:not([data-living])")) {
    figure.dataset.living = "";
    const line = tools.content.firstElementChild.cloneNode(true);
    const drawn = [...figure.querySelectorAll("svg")].filter((svg) => svg.querySelector("[data-mark]"));
    for (const svg of drawn) new Living(figure, svg, line, figure === first);
    (drawn[0]?.closest(".figure-scroll") ?? drawn[0])?.after(line);
  }
}

class Living {
  constructor(figure, svg, line, isFirst) {
    Object.assign(this, { svg, line, isFirst, marks: [...svg.querySelectorAll("[data-mark]")], words: need(line, "[data-words]") });
    const { width, height } = svg.viewBox.baseVal;
    this.whole = { x: 0, y: 0, width, height };
    this.name = `${figure.id || figure.querySelector("[id]")?.id} ${this.whole.width}`;
    this.letters = Number(svg.getAttribute("font-size"));
    svg.setAttribute("role", "group");
    for (const mark of this.marks) {
      if (mark.localName === "g") {
        mark.setAttribute("role", "img");
        mark.setAttribute("aria-label", need(mark, "title").textContent);
      }
      mark.setAttribute("tabindex", mark === this.marks[0] ? "0" : "-1");
      mark.addEventListener("focus", () => this.read(mark));
    }
    this.rest();
    const heard = { keydown: "press", pointermove: "move", pointerleave: "rest", pointerdown: "grasp", pointerup: "release", pointercancel: "drop" };
    for (const [event, name] of Object.entries(heard)) svg.addEventListener(event, (told) => this[name](told));
    this.all = need(line, "button");
    this.all.addEventListener("click", () => svg.getClientRects().length && this.show(this.whole, true));
    if (views.has(this.name)) this.show(views.get(this.name));
  }

  get focused() {
    return this.marks.find((mark) => mark === document.activeElement);
  }

  read(mark) {
    for (const one of this.marks) one.classList.toggle("is-read", one === mark);
    this.words.textContent = need(mark, "title").textContent;
    if (mark === document.activeElement) for (const one of this.marks) one.setAttribute("tabindex", one === mark ? "0" : "-1");
  }

  /** Read the point with the focus; without one say how to read. */
  rest(event) {
    if (this.focused) return this.read(this.focused);
    for (const one of this.marks) one.classList.remove("is-read");
    this.words.textContent = this.isFirst || event?.type === "pointermove" ? this.words.dataset.hint : "";
  }

  press(event) {
    const at = this.marks.indexOf(this.focused);
    const last = this.marks.length - 1;
    const next = { ArrowRight: at + 1, ArrowDown: at + 1, ArrowLeft: at - 1, ArrowUp: at - 1, Home: 0, End: last }[event.key];
    const factor = { "+": 2, "=": 2, "-": 0.5 }[event.key];
    if (at < 0 || event.ctrlKey || event.metaKey || event.altKey) return;
    if (next !== undefined) {
      this.marks[Math.min(Math.max(next, 0), last)].focus({ preventScroll: true });
      this.follow(this.focused);
    } else if (factor) this.enlarge(factor, this.centre(this.focused));
    else if (event.key === "0" || (event.key === "Escape" && this.view)) this.show(this.whole, true);
    else return;
    event.preventDefault();
  }

  move(event) {
    if (this.start) this.brush(event);
    else {
      const mark = this.nearest(event);
      if (mark) this.read(mark);
      else this.rest(event);
    }
  }

  /** A mouse drags over a part; a finger scrolls, and its tap reads. */
  grasp(event) {
    if (event.pointerType === "touch" || event.button || event.target.closest("a")) return;
    event.preventDefault();
    this.start = this.place(event);
    this.svg.setPointerCapture(event.pointerId);
  }

  brush(event) {
    const [a, b] = [this.start, this.place(event)];
    this.box ??= this.svg.appendChild(document.createElementNS(this.svg.namespaceURI, "rect"));
    this.brushed = { x: Math.min(a.x, b.x), y: Math.min(a.y, b.y), width: Math.abs(a.x - b.x), height: Math.abs(a.y - b.y) };
    for (const [name, value] of Object.entries({ class: "brush", ...this.brushed })) this.box.setAttribute(name, value);
  }

  release(event) {
    const part = this.brushed;
    this.drop();
    if (part && Math.max(part.width, part.height) > 8) {
      const factor = Math.min(this.current.width / part.width, this.current.height / part.height);
      this.enlarge(factor, { x: part.x + part.width / 2, y: part.y + part.height / 2 });
    } else if (!event.target.closest("a")) this.nearest(event)?.focus({ preventScroll: true });
  }

  drop() {
    this.box?.remove();
    this.start = this.brushed = this.box = undefined;
  }

  get current() {
    return this.view ?? this.whole;
  }

  enlarge(factor, middle) {
    const larger = Math.min(Math.max((this.whole.width / this.current.width) * factor, 1), MOST);
    const [width, height] = [this.whole.width / larger, this.whole.height / larger];
    const within = (start, size, all) => Math.min(Math.max(start, 0), all - size);
    const [x, y] = [within(middle.x - width / 2, width, this.whole.width), within(middle.y - height / 2, height, this.whole.height)];
    this.show({ x, y, width, height }, true);
  }

  follow(mark) {
    const { x, y } = this.centre(mark);
    const { x: left, y: top, width, height } = this.current;
    if (x < left || x > left + width || y < top || y > top + height) this.enlarge(1, { x, y });
  }

  /** Show a part: letters and dots keep their size, and the numbers of the axes stay at its edges. */
  show(view, told = false) {
    const scale = view.width / this.whole.width;
    this.view = scale < 1 ? view : undefined;
    this.svg.setAttribute("viewBox", `${view.x} ${view.y} ${view.width} ${view.height}`);
    this.svg.classList.toggle("is-enlarged", scale < 1);
    this.svg.style.setProperty("--scale", scale);
    this.svg.style.fontSize = scale < 1 ? `${this.letters * scale}px` : "";
    for (const dot of this.svg.querySelectorAll("circle")) dot.style.r = scale < 1 ? `${dot.getAttribute("r") * scale}px` : "";
    for (const text of this.svg.querySelectorAll("[data-axis]")) {
      const [x, y] = ["x", "y"].map((name) => Number(text.getAttribute(name)));
      const shift = text.dataset.axis === "x" ? [0, view.y + view.height - 4 * scale - y] : [view.x + 40 * scale - x, 5 * scale - 5];
      text.setAttribute("transform", scale < 1 ? `translate(${shift})` : "");
    }
    this.all.hidden = !this.view;
    if (this.view) views.set(this.name, view);
    else views.delete(this.name);
    const status = need(this.line, "[aria-live]");
    if (told) status.textContent = this.view ? status.dataset.larger : status.dataset.all;
  }

  place(event) {
    return new DOMPoint(event.clientX, event.clientY).matrixTransform(this.svg.getScreenCTM().inverse());
  }

  /** The middle of a point's dot, else of all that belongs to it. */
  centre(mark) {
    const box = (mark.querySelector("circle") ?? mark).getBBox();
    return { x: box.x + box.width / 2, y: box.y + box.height / 2 };
  }

  nearest(event) {
    if (event.target.closest?.("[data-mark]")) return event.target.closest("[data-mark]");
    const at = this.place(event);
    const far = (mark) => Math.hypot(this.centre(mark).x - at.x, this.centre(mark).y - at.y);
    const scale = this.svg.getScreenCTM().a;
    const found = this.marks.reduce((best, one) => (far(one) < far(best) ? one : best), this.marks[0]);
    return found && far(found) * scale < NEAR ? found : undefined;
  }
}

document.addEventListener("htmx:afterSwap", enliven);
enliven();
