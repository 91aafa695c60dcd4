// The map being edited: seats in columns, everything else in one plain value; read from and written to the API's layout.

import { t } from "./words.js";

export const KINDS = ["standard", "wheelchair", "companion", "restricted_view", "aisle"];
const NUMBERS = { x: Float64Array, y: Float64Array, zone: Int32Array, companion: Int32Array, kind: Uint8Array, aisle: Uint8Array };
const MARKS = { alive: Uint8Array, drawn: Uint8Array, fresh: Uint8Array };
const TEXTS = { section: Int32Array, row: Int32Array, number: Int32Array, price: Int32Array, name: Int32Array };
export const COLUMNS = { ...NUMBERS, ...MARKS, ...TEXTS };
const ROOM = 256;

// `name` is a seat's own seat_id; 0 lets it follow zone, section, row and number. `fresh` seats were placed here, and
// so their rows are put in order by their distance from the stage. Removed seats keep their place with `alive` 0.
export class SeatMap {
  constructor() {
    this.count = 0;
    this.columns = Object.fromEntries(Object.entries(COLUMNS).map(([name, Kind]) => [name, new Kind(ROOM)]));
    this.texts = [""];
    this.textNumbers = new Map([["", 0]]);
    this.sheet = { name: t("name.map"), description: "", zones: [], groups: [], drawing: {}, focus: null };
    this.revision = 0;
  }

  // The number of a text. Which have one is only looked up from the first change on: reading a stadium needs none of it.
  text(words) {
    this.textNumbers ??= new Map(this.texts.map((known, n) => [known, n]));
    const known = this.textNumbers.get(words);
    if (known !== undefined) return known;
    this.textNumbers.set(words, this.texts.length);
    return this.texts.push(words) - 1;
  }

  grow(by) {
    const needed = this.count + by;
    if (needed > this.columns.x.length) {
      for (const [name, Kind] of Object.entries(COLUMNS)) {
        const wider = new Kind(Math.max(needed, this.columns[name].length * 2));
        wider.set(this.columns[name]);
        this.columns[name] = wider;
      }
    }
    this.count = needed;
  }

  words(slot, column) {
    return this.texts[this.columns[column][slot]];
  }

  *seats() {
    for (let slot = 0; slot < this.count; slot++) if (this.columns.alive[slot]) yield slot;
  }

  get total() {
    let found = 0;
    for (let slot = 0; slot < this.count; slot++) found += this.columns.alive[slot];
    return found;
  }

  zone(key) {
    return this.sheet.zones.find((zone) => zone.key === key);
  }

  // What is kept in the browser, and made from it again.
  kept() {
    const columns = Object.fromEntries(Object.entries(this.columns).map(([name, values]) => [name, values.slice(0, this.count)]));
    return { count: this.count, columns, texts: [...this.texts], sheet: this.sheet };
  }

  hold({ count, columns, texts, sheet }) {
    const copies = Object.fromEntries(Object.entries(columns).map(([name, values]) => [name, values.slice()]));
    return Object.assign(this, { count, columns: copies, texts: [...texts], sheet, textNumbers: null });
  }

  static of(kept) {
    return new SeatMap().hold(kept);
  }
}

export const numbered = (zone) => zone.zone_type === "reserved_seating" || zone.zone_type === "vip_reserved";

function derived(zone, section, row, number) {
  return [zone, section, row, number].filter(Boolean).join("-");
}

// A map from the API's columns. The seats of a `published` one keep their ids whatever they are called from now on.
export function read({ layout, seats }, published = false) {
  const map = new SeatMap();
  map.grow(seats.count);
  const { columns } = map;
  map.texts = [...seats.texts];
  map.textNumbers = null;
  for (const name of ["x", "y", "section", "row", "number", "price"]) columns[name].set(seats[name]);
  const kinds = seats.kinds.map((kind) => KINDS.indexOf(kind));
  for (let slot = 0; slot < seats.count; slot++) columns.kind[slot] = kinds[seats.kind[slot]];
  for (const name of ["alive", "drawn"]) columns[name].fill(1, 0, seats.count);
  columns.companion.fill(-1, 0, seats.count);
  for (const [slot, beside] of seats.companions) columns.companion[slot] = beside;
  for (const slot of seats.aisles) columns.aisle[slot] = 1;
  for (const slot of seats.undrawn) [columns.drawn[slot], columns.x[slot], columns.y[slot]] = [0, NaN, NaN];
  let slot = 0;
  for (const [zone, count] of seats.zones) columns.zone.fill(zone, slot, (slot += count));
  if (published) for (let n = 0; n < seats.count; n++) columns.name[n] = map.texts.push(derived(layout.zones[columns.zone[n]].name, map.words(n, "section"), map.words(n, "row"), map.words(n, "number"))) - 1;
  seats.named.forEach((n, at) => (columns.name[n] = map.texts.push(seats.names[at]) - 1));
  map.sheet = sheetOf(layout, seats.groups);
  lineUp(map);
  return map;
}

// Everything but the seats; `members` are the seats of each group.
function sheetOf({ zones, groups, ...rest }, members) {
  const { outlines = {}, ...drawing } = rest.drawing;
  const kept = Object.fromEntries(Object.entries(outlines).filter(([name]) => !zones.some((zone) => zone.name === name)));
  return {
    ...rest,
    drawing: rest.drawing.outlines ? { ...drawing, outlines: kept } : drawing,
    zones: zones.map(({ seats, ...zone }, key) => ({ ...zone, key, outline: outlines[zone.name] ?? null })),
    groups: groups.map(({ seat_ids, ...group }, at) => ({ ...group, seats: members[at] })),
  };
}

// Seats that the layout gives no position stand in rows below the others until somebody moves them.
function lineUp(map) {
  const { columns, count } = map;
  const step = pitch(map);
  let bottom = -Infinity;
  for (let slot = 0; slot < count; slot++) if (columns.drawn[slot]) bottom = Math.max(bottom, columns.y[slot]);
  const top = bottom === -Infinity ? 0 : bottom + 3 * step;
  const lines = new Map();
  for (let slot = 0; slot < count; slot++) {
    if (columns.drawn[slot]) continue;
    const key = `${columns.zone[slot]}/${columns.section[slot]}/${columns.row[slot]}`;
    const line = lines.get(key) ?? { at: lines.size, seats: 0 };
    lines.set(key, line);
    columns.x[slot] = step * (line.seats++ + 0);
    columns.y[slot] = top + 1.2 * step * line.at;
    if (columns.aisle[slot]) line.seats++;
  }
}

// The usual distance between neighbouring seats.
export function pitch(map) {
  const { columns, count } = map;
  const found = [];
  for (let slot = 1; slot < count && found.length < 2000; slot++) {
    if (!columns.drawn[slot] || !columns.drawn[slot - 1] || columns.row[slot] !== columns.row[slot - 1]) continue;
    const far = Math.hypot(columns.x[slot] - columns.x[slot - 1], columns.y[slot] - columns.y[slot - 1]);
    if (far > 0) found.push(far);
  }
  return found.sort((one, other) => one - other)[found.length >> 1] ?? 25;
}

const coordinate = (value) => Math.round(value * 1000) / 1000;
const point = (x, y) => ({ x, y });

// The layout as the API accepts it, and of each zone the seats in the order in which it lists them.
export function write(map) {
  const { zones, groups, drawing, ...rest } = map.sheet;
  const listed = zones.map((zone) => []);
  const places = new Map(zones.map((zone, at) => [zone.key, at]));
  for (const slot of map.seats()) listed[places.get(map.columns.zone[slot])]?.push(slot);
  const order = listed.map((slots, at) => inOrder(map, zones[at], slots));
  const ids = seatIds(map, zones, order);
  const outlines = { ...drawing.outlines };
  for (const zone of zones) if (zone.outline) outlines[zone.name] = zone.outline;
  const drawn = drawing.outlines || Object.keys(outlines).length ? { ...drawing, outlines } : drawing;
  const layout = {
    ...rest,
    zones: zones.map(({ key, outline, ...zone }, at) => {
      const seats = order[at].map((slot) => writtenSeat(map, slot, ids));
      return { ...zone, capacity: numbered(zone) ? seats.length : zone.capacity, seats };
    }),
    groups: groups.map(({ seats, ...group }) => ({ ...group, seat_ids: seats.map((slot) => ids.get(slot)) })),
    drawing: drawn,
  };
  return { layout, order };
}

function writtenSeat(map, slot, ids) {
  const { columns } = map;
  const place = columns.fresh[slot] ? point(coordinate(columns.x[slot]), coordinate(columns.y[slot])) : point(columns.x[slot], columns.y[slot]);
  return {
    seat_id: ids.get(slot),
    row: map.words(slot, "row"),
    number: map.words(slot, "number"),
    coordinates: columns.drawn[slot] ? place : null,
    category: KINDS[columns.kind[slot]],
    companion_seat_id: columns.companion[slot] < 0 ? null : (ids.get(columns.companion[slot]) ?? null),
    section: map.words(slot, "section"),
    price_category: map.words(slot, "price"),
    aisle_after: Boolean(columns.aisle[slot]),
  };
}

// The ids of all seats: their own, or one after their labels that no other seat has.
function seatIds(map, zones, order) {
  const { columns } = map;
  const ids = new Map();
  const used = new Set();
  for (const slot of map.seats()) {
    if (!columns.name[slot]) continue;
    ids.set(slot, map.words(slot, "name"));
    used.add(ids.get(slot));
  }
  order.forEach((slots, at) => {
    for (const slot of slots) {
      if (columns.name[slot]) continue;
      const wanted = derived(zones[at].name, map.words(slot, "section"), map.words(slot, "row"), map.words(slot, "number"));
      let id = wanted;
      for (let times = 2; used.has(id); times++) id = `${wanted}~${times}`;
      used.add(id);
      ids.set(slot, id);
    }
  });
  return ids;
}

// The API counts the rows of a section from the front: those with seats placed here are sorted by distance.
function inOrder(map, zone, slots) {
  const { columns } = map;
  if (!slots.some((slot) => columns.fresh[slot])) return slots;
  const sections = new Map();
  for (const slot of slots) {
    const rows = sections.get(columns.section[slot]) ?? new Map();
    sections.set(columns.section[slot], rows);
    rows.set(columns.row[slot], [...(rows.get(columns.row[slot]) ?? []), slot]);
  }
  const focus = zone.focus ?? map.sheet.focus;
  return [...sections.values()].flatMap((rows) => {
    const all = [...rows.values()];
    if (!focus || !all.flat().some((slot) => columns.fresh[slot])) return all.flat();
    const far = (row) => row.reduce((sum, slot) => sum + Math.hypot(columns.x[slot] - focus.x, columns.y[slot] - focus.y), 0) / row.length;
    const measured = all.map((row) => [far(row), row]);
    return measured.sort(([one], [other]) => one - other).flatMap(([, row]) => row);
  });
}
