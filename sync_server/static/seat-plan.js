// Reads the plan of a seat map as described in docs/seat-maps.md, and finds seats by position.

function expand(runs) {
  return runs.flatMap(([value, count]) => Array(count).fill(value));
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

function labels(encoded, count) {
  return count >= 3 && encoded.length === 2 ? Array.from({ length: count }, (_, n) => encoded[0] + n * encoded[1]) : encoded;
}

export function unpack(text, count) {
  const bytes = atob(text);
  return Uint8Array.from({ length: count }, (_, n) => (bytes.charCodeAt(n >> 2) >> (2 * (n & 3))) & 3);
}

const median = (values) => values.sort((one, other) => one - other)[values.length >> 1];

// The usual distance between neighbouring seats, or an estimate if there are only single seats.
function pitch(x, y, rows, total) {
  const steps = rows.filter((row) => row.count > 1).map(({ start }) => Math.hypot(x[start + 1] - x[start], y[start + 1] - y[start]));
  return median(steps) || 4000 / Math.sqrt(Math.max(1, total)) || 1;
}

// Seats by squares of a grid, so that a tap finds the nearest of sixty thousand at once.
class SeatGrid {
  constructor(x, y, box) {
    [this.x, this.y, this.box] = [x, y, box];
    this.side = 3;
    this.columns = Math.floor(box.width / this.side) + 1;
    const squares = this.columns * (Math.floor(box.height / this.side) + 1);
    this.starts = new Int32Array(squares + 1);
    const of = Int32Array.from(x, (_, n) => this.square(x[n], y[n]));
    for (const square of of) this.starts[square + 1]++;
    for (let n = 0; n < squares; n++) this.starts[n + 1] += this.starts[n];
    const next = this.starts.slice();
    this.seats = new Int32Array(x.length);
    of.forEach((square, n) => (this.seats[next[square]++] = n));
  }

  square(x, y) {
    return Math.floor((x - this.box.left) / this.side) + this.columns * Math.floor((y - this.box.top) / this.side);
  }

  // Every seat in a rectangle, and some around it.
  *within(left, top, right, bottom) {
    const { box, side, columns } = this;
    const last = Math.floor(box.height / side);
    const from = (value, edge) => Math.max(0, Math.floor((value - edge) / side));
    for (let line = from(top, box.top); line <= Math.min(last, from(bottom, box.top)); line++) {
      const begin = this.starts[line * columns + Math.min(columns - 1, from(left, box.left))];
      const end = this.starts[line * columns + Math.min(columns - 1, from(right, box.left)) + 1];
      for (let n = begin; n < end; n++) yield this.seats[n];
    }
  }

  nearest(x, y, reach) {
    let best;
    for (const n of this.within(x - reach, y - reach, x + reach, y + reach)) {
      const far = Math.hypot(this.x[n] - x, this.y[n] - y);
      if (far <= reach && (!best || far < best.far)) best = { n, far };
    }
    return best?.n;
  }
}

function bounds(x, y, numbers) {
  const box = { left: Infinity, top: Infinity, right: -Infinity, bottom: -Infinity };
  for (const n of numbers) {
    box.left = Math.min(box.left, x[n]);
    box.right = Math.max(box.right, x[n]);
    box.top = Math.min(box.top, y[n]);
    box.bottom = Math.max(box.bottom, y[n]);
  }
  return { ...box, width: box.right - box.left, height: box.bottom - box.top };
}

// The rows with their seats, scaled to one unit between seats, and the parts of the map: sections of zones.
export function read(plan) {
  const { seats } = plan;
  const [zones, sections] = [expand(seats.zones), expand(seats.sections)];
  const names = new Map(plan.zones.map((zone) => [zone.number, zone.name]));
  const [x, y] = [positions(seats.x, seats.rows, seats.count), positions(seats.y, seats.rows, seats.count)];
  const rowOf = new Int32Array(seats.count);
  let at = 0;
  const rows = seats.rows.map(([label, count], n) => {
    const part = [names.get(zones[at]), sections[n]].filter(Boolean).join(", ");
    const row = { label, part, short: sections[n] || names.get(zones[at]), start: at, count, labels: labels(seats.labels[n], count) };
    rowOf.fill(n, at, at + count);
    at += count;
    return row;
  });
  const step = pitch(x, y, rows, seats.count);
  for (let n = 0; n < seats.count; n++) [x[n], y[n]] = [x[n] / step, y[n] / step];
  const box = bounds(x, y, x.keys());
  return { x, y, rows, rowOf, names, box, parts: parts(x, y, rows), grid: new SeatGrid(x, y, box), first: seats.first, count: seats.count };
}

function parts(x, y, rows) {
  const found = new Map();
  for (const row of rows) {
    const part = found.get(row.part) ?? { name: row.part, short: row.short, numbers: [] };
    for (let n = 0; n < row.count; n++) part.numbers.push(row.start + n);
    found.set(row.part, part);
  }
  return [...found.values()].map(({ name, short, numbers }) => ({ name, short, box: bounds(x, y, numbers) }));
}
