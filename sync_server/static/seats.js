// The page of an event's seats: the house on a canvas, kept up to date, and what organisers may do to a seat of it.
import { SeatCanvas } from "./seat-canvas.js";
import { read, unpack } from "./seat-plan.js";

const STATES = ["free", "held", "sold", "not for sale"];
const TIMES = 1.6;

class Seats {
  constructor(section) {
    this.section = section;
    this.map = section.dataset.map;
    this.canvas = this.find("canvas");
  }

  find(name) {
    return this.section.querySelector(`[data-${name}]`);
  }

  async ask(path, method = "GET", body = undefined) {
    const headers = { Accept: "application/json" };
    if (method !== "GET") headers["X-CSRF-Token"] = this.section.dataset.csrf;
    if (body) headers["Content-Type"] = "application/json";
    const answer = await fetch(path, { method, headers, body: body && JSON.stringify(body) });
    const told = answer.status === 204 ? undefined : await answer.json();
    if (!answer.ok) throw new Error(told.error.message);
    return told;
  }

  async begin() {
    try {
      const { plan, state } = await this.ask(this.map);
      this.plan = plan;
      this.house = read(plan);
      this.version = state.version;
      this.states = unpack(state.seats, state.count);
      this.drawing = new SeatCanvas(this.canvas, this.house, this.states);
      this.count(state.zones);
      this.listen();
      this.follow();
    } catch (problem) {
      this.say(`The map cannot be shown: ${problem.message} Load the page again.`, "bad");
    }
  }

  listen() {
    const { drawing, canvas } = this;
    drawing.addEventListener("pick", (event) => this.pick(event.detail));
    canvas.addEventListener("keydown", (event) => this.key(event));
    const chooser = this.find("part");
    const whole = () => {
      chooser.value = "";
      drawing.whole();
    };
    const views = { nearer: () => drawing.nearer(TIMES), farther: () => drawing.nearer(1 / TIMES), whole };
    const acts = { block: () => this.block(true), open: () => this.block(false), release: () => this.release() };
    for (const button of this.section.querySelectorAll("[data-view]")) button.addEventListener("click", views[button.dataset.view]);
    for (const button of this.section.querySelectorAll("[data-act]")) button.addEventListener("click", acts[button.dataset.act]);
    chooser.append(...this.house.parts.map((part, n) => new Option(part.name, n)));
    chooser.addEventListener("change", () => (chooser.value ? drawing.frame(this.house.parts[chooser.value].box) : whole()));
    this.find("choice").hidden = this.house.parts.length < 2;
  }

  key(event) {
    const ways = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    const views = { "+": TIMES, "=": TIMES, "-": 1 / TIMES };
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (ways[event.key]) this.walk(ways[event.key]);
    else if (views[event.key]) this.drawing.nearer(views[event.key]);
    else if (event.key === "0") this.drawing.whole();
    else if (event.key === "Escape") this.pick(undefined);
    else if (event.key === "Enter" || event.key === " ") this.section.querySelector("[data-act]:not([hidden])")?.focus();
    else return;
    event.preventDefault();
  }

  // To the nearest seat that way, rather straight on than aside.
  walk([right, down]) {
    if (this.chosen === undefined) return this.pick(this.first());
    const { x, y, floor } = this.house;
    const [hx, hy] = [x[this.chosen], y[this.chosen]];
    let best;
    for (const reach of [4, 24]) {
      for (const n of floor.within(hx - reach, hy - reach, hx + reach, hy + reach)) {
        const [along, aside] = right ? [(x[n] - hx) * right, y[n] - hy] : [(y[n] - hy) * down, x[n] - hx];
        const far = along + 3 * Math.abs(aside);
        if (along > 0.1 && n !== this.chosen && (!best || far < best.far)) best = { n, far };
      }
      if (best && best.far <= reach) break;
    }
    if (best) this.pick(best.n);
  }

  // Where one is looking, or where the house begins.
  first() {
    const { size } = this.drawing;
    const { x, y } = this.drawing.at(size.w / 2, size.h / 2);
    return this.drawing.k > this.drawing.least * 1.01 ? (this.house.floor.nearest(x, y, 20) ?? 0) : 0;
  }

  pick(n) {
    this.chosen = n;
    this.drawing.choose(n);
    this.tell();
  }

  tell() {
    const n = this.chosen;
    this.find("bar").classList.toggle("picked", n !== undefined);
    for (const button of this.section.querySelectorAll("[data-act]")) button.hidden = n === undefined || !button.dataset.for.includes(this.states[n]);
    if (n === undefined) return this.words("No seat is picked.");
    this.words(`${this.name(n)}: ${STATES[this.states[n]]}`);
  }

  name(n) {
    const row = this.house.rows[this.house.rowOf[n]];
    return `${row.part}, row ${row.label}, seat ${row.labels[n - row.start]}`;
  }

  words(text) {
    const told = this.find("told");
    if (told.textContent !== text) told.textContent = text;
  }

  async act(doing, work, done) {
    const [name, buttons] = [this.name(this.chosen), [...this.section.querySelectorAll("[data-act]")]];
    for (const button of buttons) button.disabled = true;
    this.words(`${name}: ${doing} …`);
    try {
      this.words(`${name}: ${done(await work())}`);
      this.canvas.focus();
    } catch (problem) {
      this.words(`${name}: ${problem.message}`);
    } finally {
      for (const button of buttons) button.disabled = false;
    }
  }

  block(wanted) {
    const body = { [wanted ? "block" : "open"]: [this.chosen + this.house.first] };
    const stays = "it was not blocked; its zone is closed, or it is kept for a companion.";
    const done = wanted ? "blocked." : "on sale again.";
    this.act(wanted ? "is being blocked" : "is being opened", () => this.ask(`${this.map}/blocked`, "POST", body), ({ changed }) => (changed ? done : stays));
  }

  release() {
    if (!confirm(`Give up the hold on ${this.name(this.chosen)}? Whoever holds it may be about to pay.`)) return;
    this.act("is being given up", () => this.ask(`${this.map}/holds/${this.chosen + this.house.first}`, "DELETE"), () => "the hold is given up.");
  }

  count(zones) {
    const counts = [0, 0, 0, 0];
    for (const state of this.states) counts[state]++;
    for (const field of this.section.querySelectorAll("[data-count]")) field.textContent = counts[field.dataset.count];
    const lines = zones.map((zone) => {
      const line = document.createElement("tr");
      for (const [n, value] of [this.house.names.get(zone.number), zone.available, zone.held, zone.sold, zone.capacity].entries()) {
        line.insertCell().textContent = value;
        if (n) line.cells[n].className = "n";
      }
      return line;
    });
    this.find("zones").replaceChildren(...lines);
  }

  follow() {
    const stream = new EventSource(`${this.map}/changes?since=${encodeURIComponent(this.version)}`);
    stream.onopen = () => this.say("The map follows what is held and sold.", "good");
    stream.onerror = () => this.say("The map is not followed at the moment: it may be old.", "warn");
    stream.addEventListener("changes", (event) => this.change(JSON.parse(event.data)));
    stream.addEventListener("gone", () => location.reload());
    addEventListener("pagehide", () => stream.close());
  }

  async change(news) {
    if (!news.reset) return this.took(news.seats, news.zones);
    try {
      const state = await this.ask(`${this.map}/state`);
      if (state.plan !== this.plan.id) return location.reload();
      const fresh = unpack(state.seats, state.count);
      this.took(Array.from(fresh, (value, n) => [n + this.house.first, value]), state.zones);
    } catch (problem) {
      this.say(`The map is old: ${problem.message} Load the page again.`, "bad");
    }
  }

  took(seats, zones) {
    const before = this.states[this.chosen];
    for (const [seat, state] of seats) this.states[seat - this.house.first] = state;
    this.drawing.wanted();
    this.count(zones);
    if (this.states[this.chosen] !== before) this.tell();
  }

  say(words, look) {
    const note = this.find("word");
    note.textContent = words;
    note.className = `note ${look}`;
  }
}

const section = document.querySelector("#seats");
if (section) new Seats(section).begin();
