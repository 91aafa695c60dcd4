// An event's seats for organisers: drawn once for each part of the house, then patched seat by seat from what changes.
"use strict";

const SVG = "http://www.w3.org/2000/svg";
const MOST_AT_ONCE = 4000; // more shapes than this make phones slow: larger houses are drawn part by part
const STATES = ["free", "held", "sold", "not for sale"];

function spread(runs) {
  return runs.flatMap(([value, count]) => Array(count).fill(value));
}

function places(column, rows) {
  const found = [];
  let at = 0;
  for (const [, count] of rows) {
    for (let n = 0, place = 0, step = 0; n < count; n++, at++) {
      if (n > 0) step += column[at];
      place = n > 0 ? place + step : column[at];
      found.push(place);
    }
  }
  return found;
}

function labels(told, count) {
  return count >= 3 && told.length === 2 ? Array.from({ length: count }, (_, n) => told[0] + n * told[1]) : told;
}

function unpack(text, count) {
  const bytes = atob(text);
  return Uint8Array.from({ length: count }, (_, n) => (bytes.charCodeAt(n >> 2) >> (2 * (n & 3))) & 3);
}

// The rows of a house, each with its seats; parts are sections of zones.
function read(plan) {
  const { seats } = plan;
  const [x, y, zones, sections] = [places(seats.x, seats.rows), places(seats.y, seats.rows), spread(seats.zones), spread(seats.sections)];
  const names = new Map(plan.zones.map((zone) => [zone.number, zone.name]));
  let at = 0;
  const rows = seats.rows.map(([label, count], n) => {
    const part = [names.get(zones[at]), sections[n]].filter(Boolean).join(", ");
    const row = { label, part, start: at, count, labels: labels(seats.labels[n], count) };
    at += count;
    return row;
  });
  return { x, y, rows, first: seats.first, count: seats.count };
}

function shape(name, attributes, parent) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  parent?.append(made);
  return made;
}

class Seats {
  constructor(section) {
    this.section = section;
    this.map = section.dataset.map;
    this.shapes = new Map();
    this.chooser = section.querySelector("[data-part]");
    this.chooser.addEventListener("change", () => this.draw());
  }

  find(name) {
    return this.section.querySelector(`[data-${name}]`);
  }

  async fetch(path) {
    const answer = await fetch(path, { headers: { Accept: "application/json" } });
    if (!answer.ok) throw new Error((await answer.json()).error.message);
    return answer.json();
  }

  async begin() {
    try {
      const { plan, state } = await this.fetch(this.map);
      this.plan = plan;
      this.house = read(plan);
      this.take(state);
      this.offer();
      this.draw();
      this.follow();
    } catch (problem) {
      this.say(`The map cannot be shown: ${problem.message} Load the page again.`, "bad");
    }
  }

  // In parts that a phone can draw: all at once, else by zone and section, the long ones by rows.
  offer() {
    const { house } = this;
    this.parts = new Map();
    for (const row of house.rows) {
      let name = house.count > MOST_AT_ONCE ? row.part : "Whole house";
      for (let n = 2; (this.parts.get(name)?.count ?? 0) + row.count > MOST_AT_ONCE && this.parts.has(name); n++) name = `${row.part} (${n})`;
      const part = this.parts.get(name) ?? { rows: [], count: 0 };
      part.rows.push(row);
      part.count += row.count;
      this.parts.set(name, part);
    }
    this.chooser.replaceChildren(...[...this.parts.keys()].map((name) => new Option(name, name)));
    this.find("choice").hidden = this.parts.size < 2;
  }

  draw() {
    const part = this.parts.get(this.chooser.value);
    this.canvas?.remove();
    this.shapes.clear();
    if (!part) return;
    const { x, y } = this.house;
    const numbers = part.rows.flatMap((row) => Array.from({ length: row.count }, (_, n) => row.start + n));
    const step = this.step(part.rows);
    const [xs, ys] = [numbers.map((n) => (x[n] / step) * 12), numbers.map((n) => (y[n] / step) * 12)];
    const least = (values) => values.reduce((one, other) => Math.min(one, other));
    const most = (values) => values.reduce((one, other) => Math.max(one, other));
    const [left, top] = [least(xs) - 12, least(ys) - 12];
    const box = `${left} ${top} ${most(xs) - left + 12} ${most(ys) - top + 12}`;
    this.canvas = shape("svg", { viewBox: box, tabindex: 0, role: "img", "aria-label": `Seats of ${this.chooser.value}; arrow keys walk` });
    let at = 0;
    for (const row of part.rows) {
      const group = shape("g", { "data-row": row.label }, this.canvas);
      for (let n = 0; n < row.count; n++, at++) {
        const seat = shape("use", { x: xs[at], y: ys[at], "data-seat": row.start + n }, group);
        this.shapes.set(row.start + n, { seat, row, n, x: xs[at], y: ys[at] });
        this.paint(row.start + n);
      }
    }
    this.ring = shape("circle", { class: "seat-ring", r: 7, visibility: "hidden" }, this.canvas);
    this.canvas.addEventListener("click", (event) => this.pick(event.target.dataset?.seat));
    this.canvas.addEventListener("keydown", (event) => this.walk(event));
    this.chosen = undefined;
    this.find("canvas").append(this.canvas);
  }

  // How far neighbours stand from one another, in the usual row.
  step(rows) {
    const steps = rows.filter((row) => row.count > 1).map(({ start }) => Math.hypot(this.house.x[start + 1] - this.house.x[start], this.house.y[start + 1] - this.house.y[start]));
    return steps.sort((one, other) => one - other)[steps.length >> 1] || 1;
  }

  paint(number) {
    const found = this.shapes.get(number);
    if (!found) return;
    found.seat.dataset.state = this.states[number];
    found.seat.setAttribute("href", `#seat-${this.states[number]}`);
    if (number === this.chosen) this.tell();
  }

  pick(number) {
    if (number === undefined) return;
    this.chosen = Number(number);
    const { x, y } = this.shapes.get(this.chosen);
    for (const [name, value] of Object.entries({ cx: x, cy: y, visibility: "visible" })) this.ring.setAttribute(name, value);
    this.tell();
  }

  tell() {
    const { row, n } = this.shapes.get(this.chosen);
    this.find("told").textContent = `${row.part}, row ${row.label}, seat ${row.labels[n]}: ${STATES[this.states[this.chosen]]}`;
  }

  walk(event) {
    const ways = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    const way = ways[event.key];
    if (!way) return;
    event.preventDefault();
    if (this.chosen === undefined) return this.pick(this.shapes.keys().next().value);
    const here = this.shapes.get(this.chosen);
    let best;
    for (const [number, there] of this.shapes) {
      const [along, aside] = way[0] ? [(there.x - here.x) * way[0], there.y - here.y] : [(there.y - here.y) * way[1], there.x - here.x];
      const far = along + 3 * Math.abs(aside);
      if (along > 1 && (!best || far < best.far)) best = { number, far };
    }
    if (best) this.pick(best.number);
  }

  take(state) {
    this.version = state.version;
    this.states = unpack(state.seats, state.count);
    this.count(state.zones);
  }

  count(zones) {
    const counts = [0, 0, 0, 0];
    for (const state of this.states) counts[state]++;
    for (const field of this.section.querySelectorAll("[data-count]")) field.textContent = counts[field.dataset.count];
    const names = new Map(this.plan.zones.map((zone) => [zone.number, zone.name]));
    const lines = zones.map((zone) => {
      const line = document.createElement("tr");
      for (const [n, value] of [names.get(zone.number), zone.available, zone.held, zone.sold, zone.capacity].entries()) {
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
    if (!news.reset) {
      for (const [seat, state] of news.seats) this.states[seat - this.house.first] = state;
      for (const [seat] of news.seats) this.paint(seat - this.house.first);
      return this.count(news.zones);
    }
    try {
      const state = await this.fetch(`${this.map}/state`);
      if (state.plan !== this.plan.id) return location.reload();
      this.take(state);
      for (const number of this.shapes.keys()) this.paint(number);
    } catch (problem) {
      this.say(`The map is old: ${problem.message} Load the page again.`, "bad");
    }
  }

  say(words, look) {
    const note = this.find("word");
    note.textContent = words;
    note.className = `note ${look}`;
  }
}

const section = document.querySelector("#seats");
if (section) new Seats(section).begin();
