// The seats page of an event: a live map on a canvas, and the actions for the selected seat.
import { Words } from "./picker/words.js";
import { deskSkin } from "./seat-map/desk-skin.js";
import { read, unpack } from "./seat-map/plan.js";
import { SeatMap } from "./seat-map/seat-map.js";
import { MAX_ZOOM } from "./seat-map/viewport.js";
import { step } from "./seat-map/walk.js";

const STATES = ["free", "held", "sold", "closed"];
const ZOOM_STEP = 1.6;

class Seats {
  constructor(section) {
    this.section = section;
    this.map = section.dataset.map;
    const words = new Words(JSON.parse(section.dataset.texts));
    this.t = (key, values) => words.t(key, values);
    this.canvas = this.find("canvas");
  }

  find(name) {
    return this.section.querySelector(`[data-${name}]`);
  }

  async request(path, method = "GET", body = undefined) {
    const headers = { Accept: "application/json" };
    if (method !== "GET") headers["X-CSRF-Token"] = this.section.dataset.csrf;
    if (body) headers["Content-Type"] = "application/json";
    const response = await fetch(path, { method, headers, body: body && JSON.stringify(body) });
    const payload = response.status === 204 ? undefined : await response.json();
    if (!response.ok) throw new Error(payload.error.message);
    return payload;
  }

  // Of the chosen day; without one, seats that are free on all days.
  url(part = "", query = {}) {
    const day = this.find("day")?.value;
    const asked = new URLSearchParams(day ? { ...query, day } : query).toString();
    return `${this.map}${part}${asked && `?${asked}`}`;
  }

  async start() {
    try {
      const { plan, state } = await this.request(this.url());
      this.plan = plan;
      this.layout = read(plan);
      this.version = state.version;
      this.states = unpack(state.seats, state.count);
      this.#fit();
      this.drawing = new SeatMap(this.canvas, this.layout, this.states, deskSkin);
      this.showCounts(state.zones);
      this.listen();
      this.follow();
    } catch (problem) {
      this.showStatus(this.t("failed", { why: problem.message }), "bad");
    }
  }

  // As tall as the map needs, but always leaving some of the page to scroll by touch.
  #fit() {
    const { box } = this.layout;
    this.canvas.style.aspectRatio = `${Math.max(box.width, 8) + 4} / ${Math.max(box.height, 4) + 8}`;
    this.canvas.style.maxHeight = `min(70vh, ${Math.round((box.height + 8) * MAX_ZOOM)}px)`;
  }

  listen() {
    const { drawing, canvas } = this;
    drawing.addEventListener("pick", (event) => this.pick(event.detail));
    this.section.addEventListener("find", (event) => this.pick(this.layout.find(event.detail)[0]));
    canvas.addEventListener("keydown", (event) => this.key(event));
    const chooser = this.find("part");
    const whole = () => {
      chooser.value = "";
      drawing.whole();
    };
    const views = { nearer: () => drawing.zoomToSeats(ZOOM_STEP), farther: () => drawing.zoomToSeats(1 / ZOOM_STEP), whole };
    const actions = { block: () => this.block(true), open: () => this.block(false), release: () => this.release() };
    for (const button of this.section.querySelectorAll("[data-view]")) button.addEventListener("click", views[button.dataset.view]);
    for (const button of this.section.querySelectorAll("[data-act]")) button.addEventListener("click", actions[button.dataset.act]);
    chooser.append(...this.layout.parts.map((part, n) => new Option(part.name, n)));
    chooser.addEventListener("change", () => (chooser.value ? drawing.frame(this.layout.parts[chooser.value].box) : whole()));
    this.find("choice").hidden = this.layout.parts.length < 2;
    this.find("day")?.addEventListener("change", () => this.changeDay());
  }

  key(event) {
    const directions = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    const views = { "+": ZOOM_STEP, "=": ZOOM_STEP, "-": 1 / ZOOM_STEP };
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (directions[event.key]) this.move(directions[event.key]);
    else if (views[event.key]) this.drawing.zoomToSeats(views[event.key]);
    else if (event.key === "0") this.drawing.whole();
    else if (event.key === "Escape") this.pick(undefined);
    else if (event.key === "Enter" || event.key === " ") this.section.querySelector("[data-act]:not([hidden])")?.focus();
    else return;
    event.preventDefault();
  }

  move(direction) {
    if (this.selected === undefined) return this.pick(this.drawing.start());
    const next = step(this.layout, this.selected, direction);
    if (next !== undefined) this.pick(next);
  }

  pick(n) {
    this.selected = n;
    this.drawing.select(n);
    this.showSelection();
  }

  showSelection() {
    const n = this.selected;
    this.find("bar").classList.toggle("picked", n !== undefined);
    for (const button of this.section.querySelectorAll("[data-act]")) button.hidden = n === undefined || !button.dataset.for.includes(this.states[n]);
    this.section.dispatchEvent(new CustomEvent("seat", { detail: n === undefined ? undefined : n + this.layout.first }));
    if (n === undefined) return this.describe(this.t("nothing"));
    this.describe(this.t("is", { seat: this.name(n), what: this.t(STATES[this.states[n]]) }));
  }

  name(n) {
    const row = this.layout.row(n);
    return this.t("name", { part: row.part, row: row.label, seat: this.layout.label(n) });
  }

  describe(text) {
    const field = this.find("told");
    if (field.textContent !== text) field.textContent = text;
  }

  async act(doing, work, done) {
    const [seat, name, buttons] = [this.selected, this.name(this.selected), [...this.section.querySelectorAll("[data-act]")]];
    const before = this.states[seat];
    for (const button of buttons) button.disabled = true;
    this.describe(this.t("doing", { seat: name, what: doing }));
    try {
      const said = done(await work());
      // The change itself may have come first: then the seat says already what it is.
      if (this.selected === seat && this.states[seat] !== before) this.showSelection();
      else this.describe(this.t("is", { seat: name, what: said }));
      this.canvas.focus();
    } catch (problem) {
      this.describe(this.t("is", { seat: name, what: problem.message }));
    } finally {
      for (const button of buttons) button.disabled = false;
    }
  }

  block(wanted) {
    const body = { [wanted ? "block" : "open"]: [this.selected + this.layout.first] };
    const [doing, unchanged, done] = [wanted ? "blocking" : "opening", "unchanged", wanted ? "blocked" : "opened"].map((key) => this.t(key));
    this.act(doing, () => this.request(`${this.map}/blocked`, "POST", body), ({ changed }) => (changed ? done : unchanged));
  }

  release() {
    if (!confirm(this.t("sure", { seat: this.name(this.selected) }))) return;
    this.act(this.t("releasing"), () => this.request(this.url(`/holds/${this.selected + this.layout.first}`), "DELETE"), () => this.t("released"));
  }

  showCounts(zones) {
    const counts = [0, 0, 0, 0];
    for (const state of this.states) counts[state]++;
    for (const field of this.section.querySelectorAll("[data-count]")) field.textContent = counts[field.dataset.count];
    const lines = zones.map((zone) => {
      const line = document.createElement("tr");
      for (const [n, value] of [this.layout.zones.find((each) => each.number === zone.zone)?.name, zone.available, zone.held, zone.sold, zone.total].entries()) {
        line.insertCell().textContent = value;
        if (n) line.cells[n].className = "n";
      }
      return line;
    });
    this.find("zones").replaceChildren(...lines);
  }

  async changeDay() {
    this.stream?.close();
    this.pick(undefined);
    await this.applyChanges({ reset: "day" });
    this.follow();
  }

  follow() {
    const stream = new EventSource(this.url("/changes", { since: this.version }), { withCredentials: true });
    this.stream = stream;
    stream.onopen = () => this.showStatus(this.t("follows"), "good");
    stream.onerror = () => this.showStatus(this.t("lost"), "warn");
    stream.addEventListener("changes", (event) => this.applyChanges(JSON.parse(event.data)));
    stream.addEventListener("gone", () => location.reload());
    addEventListener("pagehide", () => stream.close());
  }

  async applyChanges(changes) {
    if (!changes.reset) return this.update(changes.seats, changes.zones);
    try {
      const state = await this.request(this.url("/state"));
      if (state.plan !== this.plan.id) return location.reload();
      this.version = state.version;
      const fresh = unpack(state.seats, state.count);
      this.update(Array.from(fresh, (value, n) => [n + this.layout.first, value]), state.zones);
    } catch (problem) {
      this.showStatus(this.t("outdated", { why: problem.message }), "bad");
    }
  }

  update(seats, zones) {
    const before = this.states[this.selected];
    for (const [seat, state] of seats) this.states[seat - this.layout.first] = state;
    this.drawing.change(seats.map(([seat]) => seat - this.layout.first));
    this.showCounts(zones);
    if (this.states[this.selected] !== before) this.showSelection();
  }

  showStatus(text, look) {
    const note = this.find("word");
    note.textContent = text;
    note.className = `note ${look}`;
  }
}

const section = document.querySelector("#seats");
if (section) new Seats(section).start();
