// Seats by squares of a grid, so that a tap finds the nearest of sixty thousand at once.

const SIDE = 3;

export class SeatGrid {
  constructor(x, y, box) {
    [this.x, this.y, this.box] = [x, y, box];
    this.columns = Math.floor(box.width / SIDE) + 1;
    this.lines = Math.floor(box.height / SIDE) + 1;
    this.starts = new Int32Array(this.columns * this.lines + 1);
    const squares = new Int32Array(x.length);
    for (let n = 0; n < x.length; n++) this.starts[(squares[n] = this.#square(x[n], y[n])) + 1]++;
    for (let n = 1; n < this.starts.length; n++) this.starts[n] += this.starts[n - 1];
    const next = this.starts.slice();
    this.seats = new Int32Array(x.length);
    for (let n = 0; n < x.length; n++) this.seats[next[squares[n]]++] = n;
  }

  #square(x, y) {
    return Math.floor((x - this.box.left) / SIDE) + this.columns * Math.floor((y - this.box.top) / SIDE);
  }

  // Calls `visit` with every seat in a rectangle, and with some around it.
  each(left, top, right, bottom, visit) {
    const { box, columns, lines, starts, seats } = this;
    if (!seats.length || right < box.left || left > box.right || bottom < box.top || top > box.bottom) return;
    const bounded = (value, edge, last) => Math.min(last, Math.max(0, Math.floor((value - edge) / SIDE)));
    const [from, to] = [bounded(left, box.left, columns - 1), bounded(right, box.left, columns - 1)];
    for (let line = bounded(top, box.top, lines - 1), last = bounded(bottom, box.top, lines - 1); line <= last; line++) {
      for (let n = starts[line * columns + from], end = starts[line * columns + to + 1]; n < end; n++) visit(seats[n]);
    }
  }

  within(left, top, right, bottom) {
    const found = [];
    this.each(left, top, right, bottom, (n) => found.push(n));
    return found;
  }

  // The seat nearest to a position, no farther than `reach`, among those that `suits` accepts.
  nearest(x, y, reach, suits = () => true) {
    let [best, least] = [undefined, reach];
    this.each(x - reach, y - reach, x + reach, y + reach, (n) => {
      const far = Math.hypot(this.x[n] - x, this.y[n] - y);
      if (far <= least && suits(n)) [best, least] = [n, far];
    });
    return best;
  }
}
