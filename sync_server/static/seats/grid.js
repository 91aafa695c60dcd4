// Seats by the squares of a grid: what lies in a rectangle, and which seat is nearest, at once among sixty thousand.

export class SeatGrid {
  // `alive` is optional: seats whose value is 0 are not there.
  constructor(x, y, count, side, alive = null) {
    [this.x, this.y, this.side, this.count] = [x, y, side, count];
    this.box = this.#bounds(alive);
    const { left, top, width, height } = this.box;
    const widest = Math.max(width, height, 1);
    this.side = Math.max(side, widest / 2000); // so that seats far apart cannot ask for a grid without end
    this.columns = Math.floor(width / this.side) + 1;
    const squares = this.columns * (Math.floor(height / this.side) + 1);
    this.starts = new Int32Array(squares + 1);
    const square = (n) => Math.floor((x[n] - left) / this.side) + this.columns * Math.floor((y[n] - top) / this.side);
    for (let n = 0; n < count; n++) if (!alive || alive[n]) this.starts[square(n) + 1]++;
    for (let n = 0; n < squares; n++) this.starts[n + 1] += this.starts[n];
    const next = this.starts.slice();
    this.seats = new Int32Array(this.starts[squares]);
    for (let n = 0; n < count; n++) if (!alive || alive[n]) this.seats[next[square(n)]++] = n;
  }

  #bounds(alive) {
    let [left, top, right, bottom] = [Infinity, Infinity, -Infinity, -Infinity];
    for (let n = 0; n < this.count; n++) {
      if (alive && !alive[n]) continue;
      left = Math.min(left, this.x[n]);
      right = Math.max(right, this.x[n]);
      top = Math.min(top, this.y[n]);
      bottom = Math.max(bottom, this.y[n]);
    }
    if (left === Infinity) [left, top, right, bottom] = [0, 0, 0, 0];
    return { left, top, right, bottom, width: right - left, height: bottom - top };
  }

  // Calls back with every seat in a rectangle, and none outside.
  within(left, top, right, bottom, found) {
    const { box, side, columns, x, y } = this;
    const last = Math.floor(box.height / side);
    const line = (value) => Math.floor((value - box.top) / side);
    const column = (value) => Math.floor((value - box.left) / side);
    const [from, to] = [Math.max(0, column(left)), Math.min(columns - 1, column(right))];
    if (from > to) return;
    for (let at = Math.max(0, line(top)); at <= Math.min(last, line(bottom)); at++) {
      const end = this.starts[at * columns + to + 1];
      for (let n = this.starts[at * columns + from]; n < end; n++) {
        const seat = this.seats[n];
        if (x[seat] >= left && x[seat] <= right && y[seat] >= top && y[seat] <= bottom) found(seat);
      }
    }
  }

  nearest(px, py, reach) {
    let [best, least] = [-1, reach];
    this.within(px - reach, py - reach, px + reach, py + reach, (n) => {
      const far = Math.hypot(this.x[n] - px, this.y[n] - py);
      if (far <= least) [best, least] = [n, far];
    });
    return best;
  }
}
