// The seats that are seen, kept as a picture with a margin: panning moves it, and draws only what comes into view beyond that.

import { COPIED } from "./stamps.js";

const NUMBERED = 19; // pixels from seat to seat from which seats show their numbers
const MANY = 400; // seats that changed: drawing everything anew costs less
const MARGIN = 64; // pixels kept on each side: moving by less copies one picture and draws no seat
const [LEAST_SCALE, MOST_SCALE] = [0.4, 2.5]; // how far an old picture may stand in while zooming

const picture = (w, h) => (globalThis.OffscreenCanvas ? new OffscreenCanvas(w, h) : Object.assign(document.createElement("canvas"), { width: w, height: h }));

/*
 `seats` has the `grid` of seats, `pitch`, the units from seat to seat, and `look(n)`, a number that says how a seat looks, less than
 0 where it is not shown, and `label(n)`. What a look means only the skin knows, and the stamps that it draws.
*/
export class SeatLayer {
  // An opaque picture costs less to copy: for maps on which nothing is drawn below the seats.
  constructor(seats, skin, opaque = false) {
    Object.assign(this, { seats, skin, opaque, changed: new Set(), painted: undefined, renders: 0 });
  }

  // With these pictures of seats from now on.
  restart(stamps) {
    [this.stamps, this.painted] = [stamps, undefined];
  }

  // Other seats, or all of them look different.
  show(seats = this.seats) {
    [this.seats, this.painted] = [seats, undefined];
  }

  change(seats) {
    if (seats.length + this.changed.size > MANY) this.painted = undefined;
    else for (const n of seats) this.changed.add(n);
  }

  // `moving` allows a scaled picture for the moment; false if that was what was drawn.
  draw(ctx, view, moving) {
    const [w, h] = [ctx.canvas.width, ctx.canvas.height];
    const was = this.painted;
    if (was && moving && was.k !== view.k && was.w === w && was.h === h) {
      const scale = view.k / was.k;
      if (scale > LEAST_SCALE && scale < MOST_SCALE) return this.#drawScaled(ctx, view, was, scale);
    }
    if (!was || was.k !== view.k || was.w !== w || was.h !== h) this.#paintAll(view, w, h);
    else this.#shift(view, was, w, h);
    for (const n of this.changed) this.#paintSeat(view, n);
    this.changed.clear();
    const [dx, dy] = this.#moved(view);
    ctx.drawImage(this.front.canvas, dx - MARGIN, dy - MARGIN);
    return true;
  }

  // How far the map stands from where the picture was painted, in pixels of the screen.
  #moved(view) {
    return [Math.round(view.ox * view.dots) - this.painted.left, Math.round(view.oy * view.dots) - this.painted.top];
  }

  #drawScaled(ctx, view, was, scale) {
    ctx.imageSmoothingEnabled = false;
    ctx.drawImage(this.front.canvas, view.ox * view.dots - (was.left + MARGIN) * scale, view.oy * view.dots - (was.top + MARGIN) * scale, (was.w + 2 * MARGIN) * scale, (was.h + 2 * MARGIN) * scale);
    ctx.imageSmoothingEnabled = true;
    return false;
  }

  #paintAll(view, w, h) {
    const [wide, high] = [w + 2 * MARGIN, h + 2 * MARGIN];
    if (this.front?.canvas.width !== wide || this.front.canvas.height !== high) [this.front, this.back] = [0, 1].map(() => picture(wide, high).getContext("2d", { alpha: !this.opaque }));
    this.#remember(view, w, h);
    this.changed.clear();
    this.renders++;
    this.#paint(view, 0, 0, wide, high);
  }

  #remember(view, w, h) {
    this.painted = { k: view.k, left: Math.round(view.ox * view.dots), top: Math.round(view.oy * view.dots), w, h };
  }

  #shift(view, was, w, h) {
    const [dx, dy] = this.#moved(view);
    if (Math.abs(dx) <= MARGIN && Math.abs(dy) <= MARGIN) return;
    this.#remember(view, w, h);
    const [wide, high] = [w + 2 * MARGIN, h + 2 * MARGIN];
    if (Math.abs(dx) >= wide || Math.abs(dy) >= high) return this.#paint(view, 0, 0, wide, high);
    if (!this.opaque) this.back.globalCompositeOperation = "copy";
    this.back.drawImage(this.front.canvas, dx, dy);
    this.back.globalCompositeOperation = "source-over";
    [this.front, this.back] = [this.back, this.front];
    if (dx) this.#paint(view, dx > 0 ? 0 : wide + dx, 0, Math.abs(dx), high);
    if (dy) this.#paint(view, 0, dy > 0 ? 0 : high + dy, wide, Math.abs(dy));
  }

  get #size() {
    return Math.max(1, Math.round(this.scale * this.seats.pitch * 0.8));
  }

  #paintSeat(view, n) {
    const { x, y } = this.seats.grid;
    const reach = Math.ceil(this.#size / 2) + 1;
    const [px, py] = [Math.round(x[n] * this.scale) + this.painted.left + MARGIN, Math.round(y[n] * this.scale) + this.painted.top + MARGIN];
    const [left, top] = [Math.max(0, px - reach), Math.max(0, py - reach)];
    const [w, h] = [Math.min(this.painted.w + 2 * MARGIN, px + reach) - left, Math.min(this.painted.h + 2 * MARGIN, py + reach) - top];
    if (w > 0 && h > 0) this.#paint(view, left, top, w, h);
  }

  // Draw a rectangle of the picture, in its pixels.
  #paint(view, left, top, w, h) {
    this.scale = view.k * view.dots;
    const size = this.#size;
    const area = { left, top, w, h, ox: this.painted.left + MARGIN, oy: this.painted.top + MARGIN };
    if (size <= COPIED) this.#copyPixels(area, size);
    else this.#copyPictures(area, size, view);
  }

  #each(area, size, visit) {
    const { grid } = this.seats;
    const { scale } = this;
    const [x, y] = [(area.left - area.ox) / scale, (area.top - area.oy) / scale];
    const around = size / scale;
    grid.each(x - around, y - around, x + area.w / scale + around, y + area.h / scale + around, (n) => {
      visit(n, Math.round(grid.x[n] * scale - size / 2) + area.ox, Math.round(grid.y[n] * scale - size / 2) + area.oy);
    });
  }

  #copyPixels(area, size) {
    const image = this.front.createImageData(area.w, area.h);
    const out = new Uint32Array(image.data.buffer);
    if (this.opaque) out.fill(this.stamps.ground);
    const { seats } = this;
    const stamps = [];
    this.#each(area, size, (n, px, py) => {
      const look = seats.look(n);
      if (look < 0) return;
      const pixels = (stamps[look] ??= this.stamps.of(look, size).pixels);
      const [left, top] = [px - area.left, py - area.top];
      const [fromX, toX] = [Math.max(0, -left), Math.min(size, area.w - left)];
      for (let line = Math.max(0, -top), last = Math.min(size, area.h - top); line < last; line++) {
        const [from, to] = [line * size, (top + line) * area.w + left];
        for (let column = fromX; column < toX; column++) out[to + column] = pixels[from + column];
      }
    });
    this.front.putImageData(image, area.left, area.top);
  }

  #copyPictures(area, size, view) {
    const [ctx, { seats, skin }] = [this.front, this];
    ctx.save();
    ctx.beginPath(), ctx.rect(area.left, area.top, area.w, area.h), ctx.clip();
    if (this.opaque) (ctx.fillStyle = this.stamps.ink.sheet), ctx.fillRect(area.left, area.top, area.w, area.h);
    else ctx.clearRect(area.left, area.top, area.w, area.h);
    const numbered = [];
    const legible = view.k * seats.pitch >= NUMBERED;
    this.#each(area, size, (n, px, py) => {
      const look = seats.look(n);
      if (look < 0) return;
      ctx.drawImage(this.stamps.of(look, size).canvas, px, py);
      const colour = legible && skin.number(look);
      if (colour) numbered.push(n, px + size / 2, py + size / 2, colour);
    });
    if (numbered.length) this.#write(ctx, numbered, size, view);
    ctx.restore();
  }

  #write(ctx, numbered, size, view) {
    ctx.font = `600 ${Math.round(Math.min(13 * view.dots, size * 0.4))}px Inter, system-ui, sans-serif`;
    [ctx.textAlign, ctx.textBaseline] = ["center", "middle"];
    for (let at = 0; at < numbered.length; at += 4) {
      const colour = numbered[at + 3];
      ctx.fillStyle = this.stamps.ink[colour] ?? colour;
      ctx.fillText(this.seats.label(numbered[at]), numbered[at + 1], numbered[at + 2]);
    }
  }
}
