// The map from afar: zones in the colours and patterns of their prices, with names and "from" prices, while seats are too small.

import { WordsOnMap } from "../seat-map/words-on-map.js";
import { drawPattern } from "./skin.js";

const SEATS_FROM = 5; // pixels from seat to seat from which seats are drawn
const EVERY = 6; // seats of a row that its line goes through
const CARD = { fonts: ["620 13px Inter, system-ui, sans-serif", "500 12px Inter, system-ui, sans-serif"], colours: ["text", "text"], card: { aside: 8, above: 4, round: 7 } };
const GONE = { ...CARD, colours: ["text", "stage-line"] };
const TILE = 10; // pixels of a pattern
const LARGEST = 4096; // pixels of a side that are kept
const [LEAST_SCALE, MOST_SCALE] = [0.4, 2.5];

// Rows as lines, thick enough to touch: together they have the outline of their block, however it is curved.
function linesOf(layout, groupOf) {
  const found = new Map();
  for (const row of layout.rows) {
    for (let at = row.start, end = row.start + row.count; at < end; ) {
      const [group, from] = [groupOf[at], at];
      while (at + 1 < end && groupOf[at + 1] === group && !layout.aisles.has(at)) at++;
      const key = `${row.zone}|${group}`;
      if (!found.has(key)) found.set(key, { zone: row.zone, group, runs: [] });
      found.get(key).runs.push([from, at++]);
    }
  }
  return [...found.values()];
}

// How far apart the rows of a block usually are, in units.
function thickness(layout, runs) {
  const gaps = runs.slice(1, 40).map(([from], n) => Math.abs(layout.y[from] - layout.y[runs[n][0]]) + Math.abs(layout.x[from] - layout.x[runs[n][0]])).filter((gap) => gap < 4);
  return Math.min(2.6, Math.max(1.3, (gaps.sort((one, other) => one - other)[gaps.length >> 1] ?? 1) * 1.15));
}

export class Overview {
  // `zoneNow(zone)` has {name, price, left, sold_out} in words.
  constructor(layout, { groups, groupOf }, zoneNow) {
    Object.assign(this, { layout, groups, zoneNow });
    this.blocks = linesOf(layout, groupOf).map((block) => ({ ...block, width: thickness(layout, block.runs) }));
    this.shown = layout.parts.length > 1 || layout.count > 300;
    this.parts = [...layout.parts].sort((one, other) => area(other.box) - area(one.box));
    [this.patterns, this.words] = [new Map(), new WordsOnMap()];
  }

  suits(view) {
    return this.shown && view.k < SEATS_FROM;
  }

  restart() {
    this.painted = undefined;
    this.patterns.clear();
    this.words.restart();
  }

  draw(ctx, view, ink, moving) {
    const was = this.painted;
    const scale = was ? view.k / was.seenAt : 0;
    const usable = was && was.dots === view.dots && (scale === 1 || (moving && scale > LEAST_SCALE && scale < MOST_SCALE));
    if (!usable) this.#paint(view, ink);
    const { canvas, left, top, k } = this.painted;
    const times = view.k / k;
    ctx.imageSmoothingEnabled = times === 1;
    ctx.drawImage(canvas, view.ox * view.dots + left * times, view.oy * view.dots + top * times, canvas.width * times, canvas.height * times);
    ctx.imageSmoothingEnabled = true;
  }

  // The whole map at this zoom, once; panning copies it.
  #paint(view, ink) {
    const { box } = this.layout;
    const around = 3;
    const k = Math.min(view.k, LARGEST / view.dots / (Math.max(box.width, box.height) + 2 * around));
    const scale = k * view.dots;
    const [left, top] = [Math.round((box.left - around) * scale), Math.round((box.top - around) * scale)];
    const size = [box.width, box.height].map((length) => Math.max(1, Math.ceil((length + 2 * around) * scale)));
    const reused = this.painted?.canvas;
    const canvas = reused?.width === size[0] && reused.height === size[1] ? reused : new OffscreenCanvas(...size);
    const opaque = this.layout.drawn.isEmpty;
    const ctx = canvas.getContext("2d", { alpha: !opaque });
    ctx.clearRect(0, 0, ...size);
    if (opaque) (ctx.fillStyle = ink.sheet), ctx.fillRect(0, 0, ...size);
    [ctx.lineCap, ctx.lineJoin] = ["butt", "round"];
    for (const block of this.blocks) this.#paintBlock(ctx, block, scale, left, top, ink, view.dots);
    this.painted = { canvas, left, top, k, seenAt: view.k, dots: view.dots };
  }

  #paintBlock(ctx, block, scale, left, top, ink, dots) {
    const { x, y } = this.layout;
    ctx.beginPath();
    for (const [from, to] of block.runs) {
      const at = (n, aside = 0) => [(x[n] + aside) * scale - left, y[n] * scale - top];
      ctx.moveTo(...at(from, -0.5));
      for (let n = from; n < to; n += EVERY) ctx.lineTo(...at(n));
      ctx.lineTo(...at(to, 0.5));
    }
    ctx.lineWidth = Math.max(1, block.width * scale);
    ctx.strokeStyle = this.#pattern(ctx, block, ink, dots);
    ctx.stroke();
  }

  #pattern(ctx, { group, zone }, ink, dots) {
    const pattern = this.groups[group].pattern;
    const soldOut = this.zoneNow(this.layout.zones[zone]).soldOut;
    const key = soldOut ? "sold out" : pattern;
    if (!this.patterns.has(key)) {
      const side = Math.round(TILE * dots);
      const tile = new OffscreenCanvas(side, side);
      const brush = tile.getContext("2d", { alpha: false });
      brush.fillStyle = soldOut ? ink.closed : ink[`price-${pattern}`];
      brush.fillRect(0, 0, side, side);
      brush.globalAlpha = 0.4;
      if (!soldOut) drawPattern(brush, pattern, side, ink["on-price"], Math.max(1, dots));
      this.patterns.set(key, ctx.createPattern(tile, "repeat"));
    }
    return this.patterns.get(key);
  }

  // A card for each part that has room for one: its name, and what it costs or that nothing is left.
  drawLabels(ctx, view, ink) {
    const shown = [];
    for (const part of this.parts) {
      const { words, soldOut } = this.zoneNow(this.layout.zones[part.zone]);
      const wide = part.box.width * view.k > 90;
      const lines = [wide ? part.name : part.short, ...(part.box.height * view.k > 30 || wide ? [words] : [])];
      const picture = this.words.of(lines, soldOut ? GONE : CARD, ink, view.dots);
      const [w, h] = [picture.w, picture.h];
      const [px, py] = [(part.box.left + part.box.width / 2) * view.k + view.ox, (part.box.top + part.box.height / 2) * view.k + view.oy];
      if (px + w / 2 < 0 || px - w / 2 > view.w || py + h / 2 < 0 || py - h / 2 > view.h) continue;
      const inside = Math.max(w / 2 + 2, Math.min(view.w - w / 2 - 2, px));
      if (shown.some((other) => Math.abs(other.px - inside) < (other.w + w) / 2 && Math.abs(other.py - py) < (other.h + h) / 2)) continue;
      shown.push({ px: inside, py, w, h });
      this.words.draw(ctx, picture, inside, py, view.dots);
    }
  }
}

const area = (box) => box.width * box.height;
