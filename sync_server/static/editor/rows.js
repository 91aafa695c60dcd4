// The rows of a map: which seats are in one, in their order on the floor, and the sections and zones that rows are in.

const found = new WeakMap(); // by map: of its last revision

// Every row with its seats; the same list until the map changes.
export function rowsOf(map) {
  const known = found.get(map);
  if (known?.revision === map.revision) return known.rows;
  const byKey = new Map();
  const { zone, section, row } = map.columns;
  for (const slot of map.seats()) {
    const key = (zone[slot] * 1e6 + section[slot]) * 1e6 + row[slot];
    let here = byKey.get(key);
    if (!here) byKey.set(key, (here = { key, zone: zone[slot], section: map.texts[section[slot]], label: map.texts[row[slot]], slots: [] }));
    here.slots.push(slot);
  }
  const rows = [...byKey.values()];
  found.set(map, { revision: map.revision, rows, of: null });
  return rows;
}

// The row of a seat.
export function rowOf(map, slot) {
  const rows = rowsOf(map);
  const known = found.get(map);
  known.of ??= new Map(rows.map((row) => [row.key, row]));
  const { zone, section, row } = map.columns;
  return known.of.get((zone[slot] * 1e6 + section[slot]) * 1e6 + row[slot]);
}

// Its seats from one end to the other, left to right or else from the top, whatever order they are listed in.
export function inLine(map, row) {
  if (row.line) return row.line;
  const { x, y } = map.columns;
  const far = (from) => row.slots.reduce((best, slot) => (apart(map, from, slot) > apart(map, from, best) ? slot : best), from);
  let start = far(row.slots[0]);
  let end = far(start);
  if (x[start] > x[end] + 1e-6 || (Math.abs(x[start] - x[end]) <= 1e-6 && y[start] > y[end])) [start, end] = [end, start];
  const [dx, dy] = [x[end] - x[start], y[end] - y[start]];
  const along = (slot) => (x[slot] - x[start]) * dx + (y[slot] - y[start]) * dy;
  row.line = [...row.slots].sort((one, other) => along(one) - along(other));
  return row.line;
}

function apart({ columns }, one, other) {
  return Math.hypot(columns.x[one] - columns.x[other], columns.y[one] - columns.y[other]);
}

export function boxOf(map, slots) {
  const { x, y } = map.columns;
  const box = { left: Infinity, top: Infinity, right: -Infinity, bottom: -Infinity };
  for (const slot of slots) {
    if (x[slot] < box.left) box.left = x[slot];
    if (x[slot] > box.right) box.right = x[slot];
    if (y[slot] < box.top) box.top = y[slot];
    if (y[slot] > box.bottom) box.bottom = y[slot];
  }
  return { ...box, width: box.right - box.left, height: box.bottom - box.top };
}

export function rowBox(map, row) {
  return (row.box ??= boxOf(map, row.slots));
}

export const pointsOf = ({ columns }, slots) => slots.map((slot) => ({ x: columns.x[slot], y: columns.y[slot] }));

// The rows that have seats among these, each with only those of its seats, in line.
export function rowsAmong(map, slots) {
  const chosen = new Set(slots);
  const rows = new Map();
  for (const slot of slots) {
    const row = rowOf(map, slot);
    if (row && !rows.has(row.key)) rows.set(row.key, { ...row, whole: row, slots: inLine(map, row).filter((each) => chosen.has(each)) });
  }
  return [...rows.values()];
}

// From the front to the back: by distance from what they face.
export function fromTheFront(map, rows) {
  const faces = (row) => map.zone(row.zone)?.focus ?? map.sheet.focus ?? { x: 0, y: -1e7 };
  const far = (row) => {
    const box = boxOf(map, row.slots);
    const focus = faces(row);
    return Math.hypot((box.left + box.right) / 2 - focus.x, (box.top + box.bottom) / 2 - focus.y);
  };
  return rows.map((row) => [far(row), row]).sort(([one], [other]) => one - other).map(([, row]) => row);
}

// Sections by zone, with their rows, as the list beside the drawing shows them.
export function sectionsOf(map) {
  const zones = new Map(map.sheet.zones.map((zone) => [zone.key, { zone, sections: new Map() }]));
  for (const row of rowsOf(map)) {
    const sections = zones.get(row.zone)?.sections;
    if (!sections) continue;
    const section = sections.get(row.section) ?? { name: row.section, rows: [], seats: 0 };
    sections.set(row.section, section);
    section.rows.push(row);
    section.seats += row.slots.length;
  }
  return [...zones.values()].map(({ zone, sections }) => ({ zone, sections: [...sections.values()] }));
}
