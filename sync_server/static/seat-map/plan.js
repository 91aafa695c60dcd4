// Reads the plan of a seat map as described in docs/seat-maps.md.

import { Drawn } from "./drawn.js";
import { SeatGrid } from "./grid.js";

export const SIGNS = ["standard", "wheelchair", "companion", "restricted_view"];
const SMALL_STEP = 4000; // of the grid that positions are rounded to

// The values of a run-length encoded column, as indexes into `values`.
function indexed(runs, count, values) {
  const [found, known] = [new Uint16Array(count), new Map(values.map((value, n) => [value, n]))];
  let at = 0;
  for (const [value, length] of runs) {
    if (!known.has(value)) known.set(value, values.push(value) - 1);
    found.fill(known.get(value), at, (at += length));
  }
  return found;
}

function positions(column, rows, total) {
  const found = new Float32Array(total);
  let at = 0;
  for (const [, count] of rows) {
    for (let n = 0, position = 0, step = 0; n < count; n++, at++) {
      if (n > 0) step += column[at];
      position = n > 0 ? position + step : column[at];
      found[at] = position;
    }
  }
  return found;
}

/** The states of the seats, one for each. */
export function unpack(text, count) {
  const [bytes, found] = [atob(text), new Uint8Array(count)];
  for (let n = 0; n < count; n++) found[n] = (bytes.charCodeAt(n >> 2) >> (2 * (n & 3))) & 3;
  return found;
}

const median = (values) => values.sort((one, other) => one - other)[values.length >> 1];

// The usual distance between neighbouring seats, or an estimate if there are only single seats.
function pitch(x, y, rows, total) {
  const steps = rows.filter((row) => row.count > 1).map(({ start }) => Math.hypot(x[start + 1] - x[start], y[start + 1] - y[start]));
  return median(steps) || SMALL_STEP / Math.sqrt(Math.max(1, total)) || 1;
}

function bounds(x, y, rows) {
  let [left, top, right, bottom] = [Infinity, Infinity, -Infinity, -Infinity];
  for (const { start, count } of rows) {
    for (let n = start, end = start + count; n < end; n++) {
      if (x[n] < left) left = x[n];
      if (x[n] > right) right = x[n];
      if (y[n] < top) top = y[n];
      if (y[n] > bottom) bottom = y[n];
    }
  }
  if (left > right) [left, top, right, bottom] = [0, 0, 0, 0];
  return { left, top, right, bottom, width: right - left, height: bottom - top };
}

function rowsOf(seats, zones, zoneOf, rowOf) {
  const sections = seats.sections.flatMap(([value, count]) => Array(count).fill(value));
  let start = 0;
  return seats.rows.map(([label, count], number) => {
    const zone = zones[zoneOf[start]];
    const section = sections[number] || "";
    const row = { number, label, zone: zoneOf[start], section, start, count, part: [zone?.name, section].filter(Boolean).join(", "), short: section || zone?.name };
    rowOf.fill(number, start, (start += count));
    return row;
  });
}

// The parts of the map: sections of zones, each with its rows.
function partsOf(rows, x, y) {
  const found = new Map();
  for (const row of rows) {
    if (!found.has(row.part)) found.set(row.part, { name: row.part, short: row.short, zone: row.zone, rows: [] });
    found.get(row.part).rows.push(row);
  }
  return [...found.values()].map((part) => ({ ...part, box: bounds(x, y, part.rows) }));
}

// A plan with its seats by index from 0, scaled to one unit between neighbouring seats.
export class SeatLayout {
  constructor(plan) {
    const { seats } = plan;
    [this.id, this.first, this.count, this.zones] = [plan.id, seats.first, seats.count, plan.zones];
    const numbers = plan.zones.map((zone) => zone.number);
    this.zoneOf = indexed(seats.zones, seats.count, numbers);
    this.prices = [];
    this.priceOf = indexed(seats.price_categories, seats.count, this.prices);
    this.signs = [...SIGNS];
    this.signOf = indexed(seats.categories, seats.count, this.signs);
    this.rowOf = new Int32Array(seats.count);
    this.rows = rowsOf(seats, plan.zones, this.zoneOf, this.rowOf);
    [this.labels, this.ids] = [seats.labels, seats.seat_ids];
    this.aisles = new Set(seats.aisles_after.map((number) => number - seats.first));
    this.companions = new Map(plan.companions.map(([place, ...beside]) => [place - seats.first, beside.map((number) => number - seats.first)]));
    this.placesBeside = new Map();
    for (const [place, beside] of this.companions) for (const n of beside) this.placesBeside.set(n, [...(this.placesBeside.get(n) ?? []), place]);
    this.groups = plan.groups.filter((group) => group.sold_whole).map((group) => ({ ...group, seats: group.seats.map((number) => number - seats.first) }));
    [this.x, this.y] = [positions(seats.x, seats.rows, seats.count), positions(seats.y, seats.rows, seats.count)];
    const step = pitch(this.x, this.y, this.rows, seats.count);
    for (let n = 0; n < seats.count; n++) (this.x[n] /= step), (this.y[n] /= step);
    const [fx, fy] = plan.focus;
    this.focus = fx === null || fx === undefined || fy === null ? undefined : { x: (fx - seats.origin[0]) / seats.scale / step, y: (fy - seats.origin[1]) / seats.scale / step };
    this.grid = new SeatGrid(this.x, this.y);
    this.box = this.grid.box;
    this.parts = partsOf(this.rows, this.x, this.y);
    this.drawn = new Drawn(plan.drawing ?? {}, plan.zones, seats.origin, seats.scale * step);
  }

  // The number on a seat.
  label(n) {
    const row = this.rows[this.rowOf[n]];
    const encoded = this.labels[row.number];
    return String(row.count >= 3 && encoded.length === 2 ? encoded[0] + (n - row.start) * encoded[1] : encoded[n - row.start]);
  }

  // The name by which a seat is held: A-12.
  seatId(n) {
    const row = this.rows[this.rowOf[n]];
    const ids = this.ids[row.number];
    return typeof ids === "string" ? ids + this.label(n) : ids[n - row.start];
  }

  // The seats with these names; they are looked for in all rows, which happens rarely.
  find(ids) {
    const wanted = new Set(ids);
    return Array.from({ length: this.count }, (_, n) => n).filter((n) => wanted.has(this.seatId(n)));
  }

  row(n) {
    return this.rows[this.rowOf[n]];
  }

  zone(n) {
    return this.zones[this.zoneOf[n]];
  }

  sign(n) {
    return this.signs[this.signOf[n]];
  }
}

export const read = (plan) => new SeatLayout(plan);
