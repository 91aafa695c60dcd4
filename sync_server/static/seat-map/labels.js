// Names on a map: parts of the venue from afar, letters of rows from near, which stay at the edge while one pans.

import { WordsOnMap } from "./words-on-map.js";

const EDGE = 15;
const NAME = { fonts: ["600 12px Inter, system-ui, sans-serif"], colours: ["text"] };
const HEADING = { fonts: ["500 12px Inter, system-ui, sans-serif"], colours: ["text"] };
const PINNED = { ...NAME, card: { aside: 6, above: 1, round: 5 } };
const ROWS_FROM = 10; // pixels from seat to seat

export class Labels {
  constructor(layout) {
    [this.layout, this.words] = [layout, new WordsOnMap()];
  }

  draw(ctx, view, ink) {
    Object.assign(this, { shown: [], ctx, ink, view });
    if (view.k >= ROWS_FROM) this.#rows(view), this.#headings(view);
    else if (this.layout.parts.length > 1) this.#parts(view);
  }

  #parts(view) {
    for (const { short, box } of this.layout.parts) {
      if (Math.max(box.width, box.height) * view.k < 24) continue;
      this.#label(short, (box.left + box.width / 2) * view.k + view.ox, (box.top + box.height / 2) * view.k + view.oy, NAME);
    }
  }

  // From near a part's name stands above it.
  #headings(view) {
    if (this.layout.parts.length < 2) return;
    for (const { name, box } of this.layout.parts) this.#label(name, (box.left + box.width / 2) * view.k + view.ox, (box.top - 1.1) * view.k + view.oy, HEADING);
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
      this.#label(label, Math.max(EDGE, left), layout.y[first] * view.k + view.oy, left < EDGE ? PINNED : NAME);
      const right = layout.x[last] * view.k + view.ox + view.k;
      if (last !== first) this.#label(label, Math.min(view.w - EDGE, right), layout.y[last] * view.k + view.oy, right > view.w - EDGE ? PINNED : NAME);
    }
  }

  // On a card where it would stand on seats.
  #label(text, px, py, style) {
    if (!text) return;
    const { ctx, ink, shown, view } = this;
    const picture = this.words.of([text], style, ink, view.dots);
    const half = picture.w / 2;
    if (shown.some((other) => Math.abs(other.px - px) < other.half + half && Math.abs(other.py - py) < 15)) return;
    shown.push({ px, py, half });
    this.words.draw(ctx, picture, px, py, view.dots);
  }
}
