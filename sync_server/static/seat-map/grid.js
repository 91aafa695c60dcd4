// Seats by the squares of a grid: what lies in a rectangle, and which seat is nearest, at once among sixty thousand.

const SIDE = 3;
const MOST = 2000; // squares of a side, so that seats far apart cannot ask for a grid without end

export class SeatGrid {
  // `alive` is optional: seats whose value is 0 are not there.
  constructor(x, y, { count = x.length, side = SIDE, alive = null } = {}) {
    Object.assign(this, { x, y, box: bounds(x, y, count, alive) });
    const { left, top, width, height } = this.box;
    this.side = Math.max(side, Math.max(width, height, 1) / MOST);
    this.columns = Math.floor(width / this.side) + 1;
    this.lines = Math.floor(height / this.side) + 1;
    this.starts = new Int32Array(this.columns * this.lines + 1);
    const squares = new Int32Array(count);
    for (let n = 0; n < count; n++) {
      if (alive && !alive[n]) continue;
      squares[n] = Math.floor((x[n] - left) / this.side) + this.columns * Math.floor((y[n] - top) / this.side);
      this.starts[squares[n] + 1]++;
    }
    for (let n = 1; n < this.starts.length; n++) this.starts[n] += this.starts[n - 1];
    const next = this.starts.slice();
    this.seats = new Int32Array(this.starts.at(-1));
    for (let n = 0; n < count; n++) if (!alive || alive[n]) this.seats[next[squares[n]]++] = n;
  }

  // Calls `visit` with every seat in a rectangle, and with some around it.
  each(left, top, right, bottom, visit) {
    const { box, columns, lines, starts, seats, side } = this;
    if (!seats.length || right < box.left || left > box.right || bottom < box.top || top > box.bottom) return;
    const bounded = (value, edge, last) => Math.min(last, Math.max(0, Math.floor((value - edge) / side)));
    const [from, to] = [bounded(left, box.left, columns - 1), bounded(right, box.left, columns - 1)];
    for (let line = bounded(top, box.top, lines - 1), last = bounded(bottom, box.top, lines - 1); line <= last; line++) {
      for (let n = starts[line * columns + from], end = starts[line * columns + to + 1]; n < end; n++) visit(seats[n]);
    }
  }

  // Calls `visit` with every seat in a rectangle, and none outside.
  within(left, top, right, bottom, visit) {
    const { x, y } = this;
    this.each(left, top, right, bottom, (n) => {
      if (x[n] >= left && x[n] <= right && y[n] >= top && y[n] <= bottom) visit(n);
    });
  }

  // The seat nearest to a position, no farther than `reach`; undefined if there is none.
  nearest(x, y, reach) {
    let [best, least] = [undefined, reach];
    this.each(x - reach, y - reach, x + reach, y + reach, (n) => {
      const far = Math.hypot(this.x[n] - x, this.y[n] - y);
      if (far <= least) [best, least] = [n, far];
    });
    return best;
  }
}

function bounds(x, y, count, alive) {
  let [left, top, right, bottom] = [Infinity, Infinity, -Infinity, -Infinity];
  for (let n = 0; n < count; n++) {
    if (alive && !alive[n]) continue;
    if (x[n] < left) left = x[n];
    if (x[n] > right) right = x[n];
    if (y[n] < top) top = y[n];
    if (y[n] > bottom) bottom = y[n];
  }
  if (left > right) [left, top, right, bottom] = [0, 0, 0, 0];
  return { left, top, right, bottom, width: right - left, height: bottom - top };
}
