// What stands against publishing: the API's own mistakes with the seats they mean, and advice of what guests will miss.

import { inLine, rowsOf } from "./rows.js";
import { numbered, pitch } from "./seat-map.js";
import { t } from "./words.js";

const PLACE = /^zones[[.](\d+)\]?(?:\.seats[[.](\d+)\]?)?(?:\.(\w+))?/;
const GROUP = /^groups[[.](\d+)\]?/;

// A mistake that the API lists, with what to show: seats, a zone, or nothing.
export function found(map, order, { place, problem }) {
  const zone = PLACE.exec(place);
  const words = `${problem[0].toUpperCase()}${problem.slice(1)}`;
  if (zone) {
    const [, at, seat] = zone;
    const key = map.sheet.zones[at]?.key;
    const slot = seat === undefined ? undefined : order[at]?.[seat];
    const name = map.sheet.zones[at]?.name ?? "";
    const where = slot === undefined ? name : `${seatName(map, slot)}`;
    return { grave: true, where, words, zone: key, seats: slot === undefined ? [] : [slot] };
  }
  const group = GROUP.exec(place);
  if (group) return { grave: true, where: map.sheet.groups[group[1]]?.metadata.name ?? t("find.a_group"), words, seats: map.sheet.groups[group[1]]?.seats ?? [] };
  return { grave: true, where: place === "name" ? t("find.name") : "", words, seats: [] };
}

export function seatName(map, slot) {
  const zone = map.zone(map.columns.zone[slot])?.name ?? "";
  const section = map.words(slot, "section");
  return t("find.seat", { part: [zone, section].filter(Boolean).join(", "), row: map.words(slot, "row"), seat: map.words(slot, "number") });
}

// What the API accepts and guests would still miss. Each says what it means for the sale.
export function advice(map) {
  return [...withoutFocus(map), ...withoutWheelchairs(map), ...overlapping(map), ...lonely(map), ...withoutCategory(map), ...emptyZones(map)];
}

function* withoutFocus(map) {
  if (!map.sheet.focus && map.total) yield { where: t("name.stage"), words: t("find.no_focus"), seats: [], tool: "stage" };
}

function* withoutWheelchairs(map) {
  if (map.total > 50 && ![...map.seats()].some((slot) => map.columns.kind[slot] === 1)) yield { where: t("find.wheelchairs"), words: t("find.no_wheelchairs"), seats: [] };
}

function* overlapping(map) {
  const { x, y } = map.columns;
  const near = pitch(map) * 0.5;
  const squares = new Map();
  const both = [];
  for (const slot of map.seats()) {
    const [cx, cy] = [Math.floor(x[slot] / near), Math.floor(y[slot] / near)];
    for (let dx = -1; dx <= 1; dx++) for (let dy = -1; dy <= 1; dy++) {
      for (const other of squares.get((cx + dx) * 4e6 + cy + dy) ?? []) if (Math.hypot(x[slot] - x[other], y[slot] - y[other]) < near) both.push(other, slot);
    }
    const key = cx * 4e6 + cy;
    squares.set(key, [...(squares.get(key) ?? []), slot]);
  }
  if (both.length) yield { where: t("seats", { n: new Set(both).size }), words: t("find.overlapping"), seats: [...new Set(both)] };
}

// A seat with nobody beside it counts as single from the start, and is sold last.
function* lonely(map) {
  const tables = new Set(map.sheet.groups.flatMap((group) => group.seats));
  const alone = [];
  for (const row of rowsOf(map)) {
    const line = inLine(map, row);
    const runs = line.reduce((found, slot, n) => {
      if (n && !map.columns.aisle[line[n - 1]]) found.at(-1).push(slot);
      else found.push([slot]);
      return found;
    }, []);
    for (const run of runs) if (run.length === 1 && map.columns.kind[run[0]] !== 1 && !tables.has(run[0])) alone.push(run[0]);
  }
  if (alone.length) yield { where: alone.length === 1 ? seatName(map, alone[0]) : t("seats", { n: alone.length }), words: t("find.alone"), seats: alone };
}

function* withoutCategory(map) {
  const priced = [...map.seats()].filter((slot) => !map.columns.price[slot]);
  if (priced.length && priced.length < map.total) yield { where: t("seats", { n: priced.length }), words: t("find.no_category"), seats: priced };
}

function* emptyZones(map) {
  const used = new Set(rowsOf(map).map((row) => row.zone));
  for (const zone of map.sheet.zones) if (!numbered(zone) && !zone.outline) yield { where: zone.name, words: t("find.not_drawn"), seats: [], zone: zone.key };
  for (const zone of map.sheet.zones) if (numbered(zone) && !used.has(zone.key)) yield { grave: true, where: zone.name, words: t("find.no_seats"), seats: [], zone: zone.key };
}
