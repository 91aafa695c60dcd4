// Names on a map: parts of the house from afar, letters of rows from near, which stay at the edge while one pans.

const EDGE = 15;
const ROWS_FROM = 10; // pixels from seat to seat

export class Labels {
  constructor(layout) {
    this.layout = layout;
  }

  draw(ctx, view, ink, parts = true) {
    [this.taken, this.ctx, this.ink] = [[], ctx, ink];
    [ctx.textBaseline, ctx.textAlign, ctx.lineJoin] = ["middle", "center", "round"];
    ctx.font = "600 12px Inter, system-ui, sans-serif";
    if (view.k >= ROWS_FROM) this.#rows(view), this.#headings(view);
    else if (parts && this.layout.parts.length > 1) this.#parts(view);
  }

  #parts(view) {
    for (const { short, box } of this.layout.parts) {
      if (Math.max(box.width, box.height) * view.k < 24) continue;
      this.#label(short, (box.left + box.width / 2) * view.k + view.ox, (box.top + box.height / 2) * view.k + view.oy);
    }
  }

  // From near a part's name stands above it.
  #headings(view) {
    if (this.layout.parts.length < 2) return;
    this.ctx.font = "500 12px Inter, system-ui, sans-serif";
    for (const { name, box } of this.layout.parts) this.#label(name, (box.left + box.width / 2) * view.k + view.ox, (box.top - 1.1) * view.k + view.oy);
  }

  // For each row that is seen the outermost of its seats that are.
  #rows(view) {
    const { layout } = this;
    const [from, to] = [view.at(0, 0), view.at(view.w, view.h)];
    const ends = new Map();
    layout.grid.each(from.x, from.y, to.x, to.y, (n) => {
      const [x, y] = [layout.x[n], layout.y[n]];
      if (x < from.x || x > to.x || y < from.y || y > to.y) return;
      const end = ends.get(layout.rowOf[n]);
      if (!end) ends.set(layout.rowOf[n], { first: n, last: n });
      else if (x < layout.x[end.first]) end.first = n;
      else if (x > layout.x[end.last]) end.last = n;
    });
    for (const [row, { first, last }] of ends) {
      const label = layout.rows[row].label;
      const left = layout.x[first] * view.k + view.ox - view.k;
      this.#label(label, Math.max(EDGE, left), layout.y[first] * view.k + view.oy, left < EDGE);
      const right = layout.x[last] * view.k + view.ox + view.k;
      if (last !== first) this.#label(label, Math.min(view.w - EDGE, right), layout.y[last] * view.k + view.oy, right > view.w - EDGE);
    }
  }

  // On a card where it would stand on seats.
  #label(text, px, py, onCard = false) {
    if (!text) return;
    const { ctx, ink, taken } = this;
    const half = ctx.measureText(text).width / 2 + 4;
    if (taken.some((other) => Math.abs(other.px - px) < other.half + half && Math.abs(other.py - py) < 15)) return;
    taken.push({ px, py, half });
    if (onCard) {
      ctx.beginPath(), ctx.roundRect(px - half - 2, py - 9, 2 * half + 4, 18, 5);
      [ctx.fillStyle, ctx.strokeStyle, ctx.lineWidth] = [ink.sheet, ink["stage-line"], 1];
      ctx.fill(), ctx.stroke();
    }
    [ctx.strokeStyle, ctx.lineWidth, ctx.fillStyle] = [ink.sheet, 4, ink.text];
    ctx.strokeText(text, px, py);
    ctx.fillText(text, px, py);
  }
}
