// What an organiser does to a map, as commands: rows, tables, labels, pairs, groups, zones and shapes.

import { saysStage } from "../seat-map/areas.js";
import { bent, mirrored, moved, roundTable, longTable, spread } from "./geometry.js";
import { labels, lettersOf, numberOf } from "./numbering.js";
import { fromTheFront, inLine, pointsOf, rowsAmong, rowsOf } from "./rows.js";
import { KINDS, numbered } from "./seat-map.js";
import { t } from "./words.js";

const seats = (at, set) => ({ do: "seats", at: [...at], set });
const all = (commands) => ({ do: "all", commands });
const sheet = (set) => ({ do: "sheet", set });

// Seats at these points; moving or placing one makes its position part of the layout.
export function place(slots, points) {
  return seats(slots, { x: points.map((point) => point.x), y: points.map((point) => point.y), drawn: 1, fresh: 1 });
}

export const move = (map, slots, dx, dy) => place(slots, moved(pointsOf(map, slots), dx, dy));

// Rows of points as seats. Rows and seats are numbered as asked; rows that the section already has are passed over.
export function addRows(map, { zone, section = "", price = "", rows, rowStart = "A", without = "IO", seatScheme = {} }) {
  const taken = new Set(rowsOf(map).filter((row) => row.zone === zone && row.section === section).map((row) => row.label));
  const names = rowNames(rows.length, rowStart, without, taken);
  const flat = rows.flat();
  const each = (value) => rows.flatMap((row, at) => row.map((_, n) => value(at, n, row)));
  const numbers = rows.map((row) => labels(row.length, { ...seatScheme, without }));
  const set = {
    alive: 1, drawn: 1, fresh: 1, zone, section: map.text(section), price: map.text(price),
    x: flat.map((point) => point.x), y: flat.map((point) => point.y), aisle: flat.map((point) => (point.aisle ? 1 : 0)),
    row: each((at) => map.text(names[at])), number: each((at, n) => map.text(numbers[at][n])),
  };
  return { do: "grow", seats: flat.length, set };
}

function rowNames(count, start, without, taken) {
  const inFigures = /^\d+$/.test(start);
  const first = inFigures ? Number(start) : numberOf(start, without);
  if (first === null || start === "") throw new RangeError(t("numbers.rows_start", { start }));
  const names = [];
  for (let at = first; names.length < count; at++) {
    const name = inFigures ? String(at) : lettersOf(at, without);
    if (!taken.has(name)) names.push(name);
  }
  return names;
}

// A table with its seats, as a group that parties are offered whole.
export function addTable(map, { zone, section = "", price = "", seats: count, shape = "round", spacing = 25, ends = false, at, name, soldWhole = false }) {
  const around = shape === "round" ? roundTable(count, spacing) : longTable(count, spacing, ends);
  const points = moved(around, at.x, at.y);
  const grown = addRows(map, { zone, section, price, rows: [points], rowStart: "1" });
  grown.set.row = map.text(name);
  const slots = Array.from({ length: count }, (_, n) => map.count + n);
  const group = { group_type: "vip_table", metadata: { name, shape }, sold_whole: soldWhole, seats: slots };
  return all([grown, sheet({ groups: [...map.sheet.groups, group] })]);
}

// The first name such as T1 that no row of the map has.
export function freeRowName(map, prefix) {
  const used = new Set(rowsOf(map).map((row) => row.label));
  for (let n = 1; ; n++) if (!used.has(`${prefix}${n}`)) return `${prefix}${n}`;
}

export function remove(map, slots) {
  const gone = new Set(slots);
  const widowed = [...map.seats()].filter((slot) => !gone.has(slot) && gone.has(map.columns.companion[slot]));
  const commands = [seats(slots, { alive: 0 })];
  if (widowed.length) commands.push(seats(widowed, { companion: -1 }));
  if (map.sheet.groups.some((group) => group.seats.some((slot) => gone.has(slot)))) commands.push(sheet({ groups: without(map.sheet.groups, gone) }));
  return all(commands);
}

const without = (groups, gone) => groups.map((group) => ({ ...group, seats: group.seats.filter((slot) => !gone.has(slot)) })).filter((group) => group.seats.length);

// Copies of seats as plain values, to be put down here or on another map.
export function copied(map, slots) {
  const { columns } = map;
  const places = new Map(slots.map((slot, n) => [slot, n]));
  const seat = (slot) => ({
    x: columns.x[slot], y: columns.y[slot], zone: columns.zone[slot], kind: columns.kind[slot], aisle: columns.aisle[slot],
    section: map.words(slot, "section"), row: map.words(slot, "row"), number: map.words(slot, "number"), price: map.words(slot, "price"),
    companion: places.get(columns.companion[slot]) ?? -1,
  });
  const groups = map.sheet.groups.filter((group) => group.seats.every((slot) => places.has(slot)));
  return { seats: slots.map(seat), groups: groups.map((group) => ({ ...group, seats: group.seats.map((slot) => places.get(slot)) })) };
}

// Copies put down, moved by so much or mirrored at an axis; their rows get new sections where names would repeat.
export function paste(map, { seats: list, groups }, { dx = 0, dy = 0, axis = null, zone = null } = {}) {
  const start = map.count;
  const points = axis === null ? moved(list, dx, dy) : mirrored(list, axis);
  const zones = new Set(map.sheet.zones.map((each) => each.key));
  const fallback = zone ?? map.sheet.zones.find(numbered)?.key;
  const key = (seat) => (zones.has(seat.zone) ? seat.zone : fallback);
  const section = sectionNames(map, list, key, axis !== null);
  const of = (value) => list.map(value);
  const set = {
    alive: 1, drawn: 1, fresh: 1, zone: of(key), x: points.map((point) => point.x), y: points.map((point) => point.y),
    kind: of((seat) => seat.kind), aisle: of((seat) => seat.aisle), companion: of((seat) => (seat.companion < 0 ? -1 : start + seat.companion)),
    section: of((seat) => map.text(section(seat))), row: of((seat) => map.text(seat.row)), number: of((seat) => map.text(seat.number)), price: of((seat) => map.text(seat.price)),
  };
  const commands = [{ do: "grow", seats: list.length, set }];
  const fresh = groups.map((group) => ({ ...group, seats: group.seats.map((n) => start + n) }));
  if (fresh.length) commands.push(sheet({ groups: [...map.sheet.groups, ...fresh] }));
  return all(commands);
}

const SIDES = { left: "right", right: "left", Left: "Right", Right: "Left", links: "rechts", rechts: "links", Links: "Rechts", Rechts: "Links" };

function sectionNames(map, list, key, mirroredCopy) {
  const used = new Set(rowsOf(map).map((row) => `${row.zone}/${row.section}/${row.label}`));
  const names = new Map();
  const repeats = (name, seat) => list.some((other) => other.section === seat.section && key(other) === key(seat) && used.has(`${key(seat)}/${name}/${other.row}`));
  const named = (seat) => {
    const other = mirroredCopy && seat.section.replace(/\p{L}+/gu, (word) => SIDES[word] ?? word);
    const base = other && other !== seat.section ? other : seat.section;
    for (let times = 1; ; times++) {
      const name = times === 1 ? base : base ? `${base} ${times}` : t("name.block", { n: times });
      if (!repeats(name, seat)) return name;
    }
  };
  return (seat) => {
    const id = `${key(seat)}/${seat.section}`;
    if (!names.has(id)) names.set(id, named(seat));
    return names.get(id);
  };
}

// Labels of all seats of these rows by one scheme. Aisles do not interrupt the count.
export function renumberSeats(map, slots, scheme) {
  const rows = rowsAmong(map, slots);
  return all(rows.map((row) => seats(row.slots, { number: labels(row.slots.length, scheme).map((label) => map.text(label)) })));
}

// Labels of these rows from the front to the back.
export function renumberRows(map, slots, scheme) {
  const rows = fromTheFront(map, rowsAmong(map, slots));
  const names = labels(rows.length, scheme);
  return all(rows.map((row, n) => seats(row.slots, { row: map.text(names[n]) })));
}

export function setTexts(map, slots, column, words) {
  return seats(slots, { [column]: map.text(words) });
}

export const setZone = (slots, key) => seats(slots, { zone: key });
export const setAisle = (slots, after) => seats(slots, { aisle: after ? 1 : 0 });

// What kind of seats they are. A wheelchair place takes a neighbour as its companion seat; others lose theirs.
export function setKind(map, slots, kind) {
  const { companion } = map.columns;
  const partners = slots.map((slot) => companion[slot]).filter((slot) => slot >= 0);
  const freed = [...new Set([...slots, ...partners])];
  const cleared = [seats(freed, { companion: -1 }), seats(partners, { kind: 0 })];
  if (kind !== "wheelchair") return all([...cleared, seats(slots, { kind: KINDS.indexOf(kind) })]);
  const pairs = slots.map((slot) => [slot, neighbour(map, slot, new Set(slots))]);
  return all([...cleared, seats(slots, { kind: 1 }), ...pairs.filter(([, other]) => other !== undefined).map((pair) => paired(...pair))]);
}

const paired = (wheelchair, other) => all([seats([wheelchair], { kind: 1, companion: other }), seats([other], { kind: 2, companion: wheelchair })]);

// Two chosen seats as a wheelchair place and its companion seat.
export function pair(map, [wheelchair, other]) {
  const partners = [wheelchair, other].map((slot) => map.columns.companion[slot]).filter((slot) => slot >= 0);
  return all([seats(partners, { companion: -1, kind: 0 }), paired(wheelchair, other)]);
}

// The nearest ordinary seat beside it in its row.
function neighbour(map, slot, taken) {
  const line = inLine(map, rowsAmong(map, [slot])[0].whole);
  const at = line.indexOf(slot);
  return [line[at + 1], line[at - 1]].find((other) => other !== undefined && !taken.has(other) && map.columns.kind[other] === 0);
}

// Each row among these seats is bent to span this angle, or its seats are set so far apart.
export function bend(map, slots, degrees) {
  return eachRow(map, slots, (points, row) => bent(points, degrees, map.zone(row.zone)?.focus ?? map.sheet.focus ?? { x: 0, y: -1e7 }));
}

export function space(map, slots, spacing) {
  return eachRow(map, slots, (points) => spread(points, spacing, usual(points)));
}

export function usual(points) {
  const steps = points.slice(1).map((point, n) => Math.hypot(point.x - points[n].x, point.y - points[n].y));
  return steps.sort((one, other) => one - other)[steps.length >> 1] || 25;
}

function eachRow(map, slots, change) {
  return all(rowsAmong(map, slots).map((row) => place(row.slots, change(pointsOf(map, row.slots), row))));
}

export function addGroup(map, slots, group_type, name, soldWhole) {
  const gone = new Set(slots);
  const others = map.sheet.groups.filter((group) => group.group_type === "wheelchair_pair");
  const rest = without(map.sheet.groups.filter((group) => group.group_type !== "wheelchair_pair"), gone);
  return sheet({ groups: [...rest, ...others, { group_type, metadata: name ? { name } : {}, sold_whole: soldWhole, seats: [...slots] }] });
}

export function ungroup(map, slots) {
  return sheet({ groups: without(map.sheet.groups, new Set(slots)) });
}

const PUBLIC = { access_mode: "public", membership_tier: null, allowed_roles: [], focus: null, metadata: {} };

export function addZone(map, { name, zone_type, capacity = 0, outline = null }) {
  const key = Math.max(-1, ...map.sheet.zones.map((zone) => zone.key)) + 1;
  return { key, command: sheet({ zones: [...map.sheet.zones, { name, zone_type, capacity, ...PUBLIC, key, outline }] }) };
}

export function changeZone(map, key, changes) {
  return sheet({ zones: map.sheet.zones.map((zone) => (zone.key === key ? { ...zone, ...changes } : zone)) });
}

// The outline of a zone, moved.
export function moveZone(map, key, dx, dy) {
  const { outline } = map.zone(key);
  return changeZone(map, key, { outline: outline.map(([x, y]) => [Math.round((x + dx) * 100) / 100, Math.round((y + dy) * 100) / 100]) });
}

export function removeZone(map, key) {
  const slots = [...map.seats()].filter((slot) => map.columns.zone[slot] === key);
  const gone = sheet({ zones: map.sheet.zones.filter((zone) => zone.key !== key) });
  return slots.length ? all([remove(map, slots), gone]) : gone;
}

export function freeZoneName(map, wanted) {
  const used = new Set(map.sheet.zones.map((zone) => zone.name));
  for (let n = 1; ; n++) if (!used.has(n === 1 ? wanted : `${wanted} ${n}`)) return n === 1 ? wanted : `${wanted} ${n}`;
}

// A stage in the drawing, in the form of the open format of pretix; the seats face its middle.
export function setStage(map, { x, y, width, height, words = t("name.stage") }) {
  const layers = (map.sheet.drawing.areas ?? []).map((layer) => (isStage(layer) ? { ...layer, areas: layer.areas.filter((each) => !saysStage(each)) } : layer));
  const areas = layers.filter((layer) => layer.areas?.length);
  const area = {
    shape: "rectangle", position: { x: x - width / 2, y: y - height / 2 }, rectangle: { width, height }, rotation: 0, color: "#e8e9ee", border_color: "#868c97",
    text: { text: words, position: { x: width / 2, y: height / 2 }, color: "#30343c", size: Math.max(8, Math.round(height / 3)) },
  };
  return sheet({ drawing: { ...map.sheet.drawing, areas: [...areas, { position: { x: 0, y: 0 }, areas: [area] }] }, focus: { x, y } });
}

const isStage = (layer) => layer.areas?.some(saysStage);

// The rectangle of the stage, if one is drawn.
export function stageOf(map) {
  const layer = (map.sheet.drawing.areas ?? []).find(isStage);
  const area = layer?.areas.find((each) => each.shape === "rectangle" && saysStage(each));
  if (!area?.rectangle) return null;
  const [left, top] = [layer.position.x + (area.position?.x ?? 0), layer.position.y + (area.position?.y ?? 0)];
  return { x: left + area.rectangle.width / 2, y: top + area.rectangle.height / 2, ...area.rectangle };
}

export const setFocus = (focus) => sheet({ focus });

// The price categories of the drawing: names, colours and patterns. A new name goes to its seats too.
export function setCategories(map, list, renamed = null) {
  const categories = list.map(({ name, colour }) => ({ name, color: colour }));
  const patterns = Object.fromEntries(list.map(({ name, pattern }) => [name, pattern]));
  const command = sheet({ drawing: { ...map.sheet.drawing, categories, patterns } });
  if (!renamed) return command;
  const old = map.text(renamed.from);
  return all([command, seats([...map.seats()].filter((slot) => map.columns.price[slot] === old), { price: map.text(renamed.to) })]);
}
