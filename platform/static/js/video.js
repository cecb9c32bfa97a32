/**
 * A lecture or a recording: native controls, and around them captions in the reader's language, keys, speed, where to resume, and the watched share.
 *
 * A second counts as watched once it has been played; seeking past it does not count, seeing it twice counts once. The server hears only
 * of further tenths. The watched seconds and the stopping place are kept in this tab's sessionStorage until `Continue`.
 */

import { need } from "./need.js";
import { onPage } from "./next_page.js";

const STORED = "candor-lecture:";
const SAVE_EVERY_MILLISECONDS = 1000;
const STALLED_MILLISECONDS = 10_000;
const ASK_AGAIN_MILLISECONDS = 2000;
const STEP_SECONDS = 5;
const RESUME_AFTER_SECONDS = 3;

const fill = (words, values) => words.replace(/\{(\w+)\}/g, (_, name) => values[name]);
const clock = (seconds) => `${Math.floor(seconds / 60)}:${String(Math.floor(seconds % 60)).padStart(2, "0")}`;

/** The seconds of a lecture that have been played. */
class WatchedSeconds {
  constructor(duration) {
    this.seconds = new Array(Math.max(1, Math.round(duration))).fill(false);
  }

  /** A second counts when its middle has been played. */
  addBetween(start, end) {
    for (let second = Math.max(0, Math.ceil(start - 0.5)); second < this.seconds.length && second + 0.5 <= end; second += 1) {
      this.seconds[second] = true;
    }
  }

  /** Whole tenths; one second is forgiven, because players lose a little at the end and around a pause. */
  get parts() {
    const watched = this.seconds.filter(Boolean).length;
    return watched === 0 ? 0 : Math.floor((10 * Math.min(watched + 1, this.seconds.length)) / this.seconds.length);
  }

  toString() {
    return this.seconds.map(Number).join("");
  }

  addKept(text) {
    [...text].forEach((mark, second) => {
      if (mark === "1" && second < this.seconds.length) this.seconds[second] = true;
    });
  }
}

class Lecture {
  constructor(element, signal) {
    const find = (mark) => need(element, `[data-${mark}]`);
    this.video = need(element, "video, audio");
    this.form = need(element, "form");
    [this.speed, this.problem, this.retry, this.offer, this.resume, this.status, this.proceed] = [
      "speed", "problem", "retry", "resume-offer", "resume", "status", "continue",
    ].map(find);
    this.progressUrl = element.dataset.progressUrl;
    this.key = STORED + this.video.querySelector("source")?.getAttribute("src");
    this.needed = element.dataset.watch === "optional" ? 0 : Math.ceil(Number(element.dataset.requiredShare) * 10 - 1e-9);
    this.reported = Math.round(Number(element.dataset.watchedShare) * 10);
    this.shown = null;
    this.saved = 0;
    this.watched = new WatchedSeconds(Number(element.dataset.durationSeconds));
    this.position = this.recall();
    find("bar").hidden = false;
    this.showCaptions();
    this.offerToResume();
    this.listen();
    this.endWith(signal);
    this.update();
  }

  listen() {
    const { video } = this;
    video.addEventListener("timeupdate", () => this.moved());
    for (const name of ["pause", "ended", "seeking"]) video.addEventListener(name, () => this.moved({ save: true }));
    video.addEventListener("play", () => (this.offer.hidden = true));
    video.addEventListener("ratechange", () => (this.speed.value = String(video.playbackRate)));
    // Heard before it reaches the video, because Chromium's own keys would seek by a hundredth as well.
    video.parentElement.addEventListener("keydown", (event) => this.pressed(event), { capture: true });
    this.speed.addEventListener("change", () => (video.playbackRate = Number(this.speed.value)));
    this.resume.addEventListener("click", () => this.playFrom(this.position));
    this.form.addEventListener("submit", (event) => this.leave(event));

    video.addEventListener("error", () => this.fail());
    video.querySelector("source:last-of-type")?.addEventListener("error", () => this.fail());
    video.addEventListener("waiting", () => {
      clearTimeout(this.stalled);
      this.stalled = setTimeout(() => this.fail(), STALLED_MILLISECONDS);
    });
    for (const name of ["playing", "pause", "ended"]) video.addEventListener(name, () => this.recovered());
    this.retry.addEventListener("click", () => this.tryAgain());
    // A moment later, because a player that has just come into the page has not looked for its source yet.
    setTimeout(() => {
      if (video.error || video.networkState === HTMLMediaElement.NETWORK_NO_SOURCE) this.fail();
    });
  }

  /** A page that has gone plays, loads and waits for nothing. */
  endWith(signal) {
    addEventListener("pagehide", () => this.moved({ save: true }), { signal });
    signal.addEventListener("abort", () => {
      this.left = true;
      clearTimeout(this.stalled);
      this.video.pause();
      this.video.replaceChildren();
      this.video.load();
    });
  }

  // Watched seconds

  moved({ save = false } = {}) {
    const { video } = this;
    if (this.left) return;
    for (let index = 0; index < video.played.length; index += 1) this.watched.addBetween(video.played.start(index), video.played.end(index));
    if (video.readyState > 0 && (video.currentTime > 0 || video.played.length > 0)) this.position = video.currentTime;
    const now = Date.now();
    if (save || now - this.saved >= SAVE_EVERY_MILLISECONDS) {
      this.saved = now;
      sessionStorage.setItem(this.key, JSON.stringify({ position: this.position, watched: String(this.watched) }));
    }
    this.update();
  }

  update() {
    const parts = Math.max(this.watched.parts, this.reported);
    if (parts === this.shown) return;
    this.shown = parts;
    const open = parts >= this.needed;
    this.status.textContent = fill(open ? this.status.dataset.open : this.status.dataset.locked, { parts, needed: this.needed });
    this.proceed.disabled = !open;
    if (parts > this.reported) this.report(parts);
  }

  /** Tell the server; when the line is down, the next tenth or `Continue` will. Returns whether the server has listened. */
  async report(parts) {
    const body = new URLSearchParams(new FormData(this.form));
    body.set("share", String(parts / 10));
    try {
      const response = await fetch(this.progressUrl, { method: "POST", body, keepalive: true });
      if (response.ok) this.reported = Math.max(this.reported, parts);
      return response.status < 500 && response.status !== 429;
    } catch {
      return false; // no connection
    }
  }

  // Where to go on

  /** The position where this tab stopped; on another device, the end of what the server knows was watched. */
  recall() {
    const duration = this.watched.seconds.length;
    try {
      const kept = JSON.parse(sessionStorage.getItem(this.key));
      if (kept) {
        this.watched.addKept(kept.watched);
        return kept.position;
      }
    } catch {
      sessionStorage.removeItem(this.key);
    }
    const known = (duration * this.reported) / 10;
    this.watched.addBetween(0, known);
    return known;
  }

  offerToResume() {
    const worthwhile = this.position > RESUME_AFTER_SECONDS && this.position < this.watched.seconds.length - 1;
    this.resume.textContent = fill(this.resume.dataset.words, { time: clock(this.position) });
    this.offer.hidden = !worthwhile;
  }

  playFrom(position) {
    const { video } = this;
    const start = () => {
      video.currentTime = position;
      video.play().catch(() => {}); // failures come as events
      video.focus();
    };
    if (video.readyState > 0) start();
    else video.addEventListener("loadedmetadata", start, { once: true });
    if (video.preload !== "auto") video.preload = "auto";
  }

  /** Nothing stays behind; what the server has not heard yet, it hears first. */
  async leave(event) {
    if (this.left) return;
    this.left = true;
    sessionStorage.removeItem(this.key);
    if (this.watched.parts <= this.reported) return;
    event.preventDefault();
    while (!(await this.report(this.watched.parts))) await new Promise((resolve) => setTimeout(resolve, ASK_AGAIN_MILLISECONDS));
    this.form.requestSubmit();
  }

  // When it does not play

  fail() {
    clearTimeout(this.stalled);
    this.problem.hidden = false;
  }

  recovered() {
    clearTimeout(this.stalled);
    if (!this.video.error) this.problem.hidden = true;
  }

  tryAgain() {
    const position = this.position;
    this.problem.hidden = true;
    this.video.load();
    this.playFrom(position);
  }

  // Captions, speed, keys

  showCaptions() {
    const tracks = [...this.video.textTracks];
    const best = tracks.find((track) => track.language === document.documentElement.lang) ?? tracks[0];
    for (const track of tracks) track.mode = track === best ? "showing" : "disabled";
    this.captions = best;
  }

  toggleCaptions() {
    const showing = [...this.video.textTracks].find((track) => track.mode === "showing");
    if (showing) {
      this.captions = showing;
      showing.mode = "disabled";
    } else if (this.captions) {
      this.captions.mode = "showing";
    }
  }

  changeSpeed(direction) {
    const index = this.speed.selectedIndex + direction;
    if (index < 0 || index >= this.speed.options.length) return;
    this.video.playbackRate = Number(this.speed.options[index].value);
  }

  seekBy(seconds) {
    this.video.currentTime = Math.min(Math.max(this.video.currentTime + seconds, 0), this.video.duration || 0);
  }

  pressed(event) {
    if (event.target !== this.video || event.ctrlKey || event.altKey || event.metaKey) return;
    const actions = {
      ArrowLeft: () => this.seekBy(-STEP_SECONDS),
      ArrowRight: () => this.seekBy(STEP_SECONDS),
      c: () => this.toggleCaptions(),
      "<": () => this.changeSpeed(-1),
      ">": () => this.changeSpeed(1),
    };
    const action = actions[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (!action) return;
    event.preventDefault();
    event.stopPropagation();
    action();
  }
}

onPage(import.meta.url, ({ signal }) => {
  for (const element of document.querySelectorAll("[data-lecture]")) new Lecture(element, signal);
});
