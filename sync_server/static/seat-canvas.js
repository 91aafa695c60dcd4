// Draws all seats of a map on a canvas, with panning and zooming by touch, mouse and buttons.

const MAX_ZOOM = 44; // pixels from seat to seat
const TAP_ZOOM = 24; // after a tap on the whole map
const SELECT_ZOOM = 10; // beyond this a tap selects a seat; below it zooms in
const TOUCH_RADIUS = 22;
const DRAG_THRESHOLD = 6;
const EMPTY = 4; // no seat
const MARGIN = 14;

const colours = ["free", "held", "held-soft", "sold", "closed", "far-free", "far-held", "far-sold", "far-closed", "ring", "sheet", "text"];

// Each state has its own shape: ring, half-filled diamond, square, cross. `r` is half the size of a seat.
function shape(ctx, state, r, ink) {
  ctx.lineWidth = Math.max(1, r * 0.32);
  ctx.beginPath();
  if (state === 0) {
    ctx.strokeStyle = ink.free;
    ctx.arc(0, 0, r - ctx.lineWidth / 2, 0, 7);
    ctx.stroke();
  } else if (state === 1) {
    ctx.strokeStyle = ink.held;
    ctx.fillStyle = ink["held-soft"];
    r -= ctx.lineWidth * 0.7; // its corners would stick out
    ctx.moveTo(0, -r), ctx.lineTo(r, 0), ctx.lineTo(0, r), ctx.lineTo(-r, 0), ctx.closePath();
    ctx.fill(), ctx.stroke(), ctx.beginPath();
    ctx.fillStyle = ink.held;
    ctx.moveTo(0, -r), ctx.lineTo(r, 0), ctx.lineTo(0, r), ctx.closePath(), ctx.fill();
  } else if (state === 2) {
    ctx.fillStyle = ink.sold;
    ctx.fillRect(-r * 0.9, -r * 0.9, r * 1.8, r * 1.8);
  } else {
    ctx.strokeStyle = ink.closed;
    ctx.moveTo(-r * 0.7, -r * 0.7), ctx.lineTo(r * 0.7, r * 0.7), ctx.moveTo(r * 0.7, -r * 0.7), ctx.lineTo(-r * 0.7, r * 0.7);
    ctx.stroke();
  }
}

// Seats of a few pixels: dark is sold, light is free, a corner is held, a dot is not for sale.
function speck(ctx, state, size, ink) {
  ctx.fillStyle = ink[["far-free", "far-held", "far-sold", "far-closed", "sheet"][state]];
  if (state === 3) ctx.fillRect(size >> 2, size >> 2, Math.max(1, size >> 1), Math.max(1, size >> 1));
  else if (state === 1 && size > 2) for (let n = 0; n < size; n++) ctx.fillRect(0, n, n + 1, 1);
  else ctx.fillRect(0, 0, size, size);
}

export class SeatCanvas extends EventTarget {
  constructor(canvas, layout, states) {
    super();
    [this.canvas, this.layout, this.states, this.pointers] = [canvas, layout, states, new Map()];
    this.ctx = canvas.getContext("2d", { alpha: false });
    new ResizeObserver(() => this.resize()).observe(canvas);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.ink());
    for (const name of ["pointerdown", "pointermove", "pointerup", "pointercancel"]) canvas.addEventListener(name, (event) => this[name](event));
    canvas.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    // As tall as the map needs, but always leaving some of the page to scroll by touch.
    canvas.style.aspectRatio = `${Math.max(layout.box.width, 8) + 4} / ${Math.max(layout.box.height, 4) + 4}`;
    canvas.style.maxHeight = `min(70vh, ${Math.round((layout.box.height + 4) * MAX_ZOOM)}px)`;
    this.ink();
    this.resize();
  }

  ink() {
    const style = getComputedStyle(this.canvas);
    this.colours = Object.fromEntries(colours.map((name) => [name, style.getPropertyValue(`--seat-${name}`).trim()]));
    this.stamps = new Map();
    this.redraw();
  }

  resize() {
    const { clientWidth, clientHeight } = this.canvas;
    if (!clientWidth || !clientHeight) return;
    const before = this.size && { k: this.k, far: this.k <= this.least * 1.01, at: this.at(this.size.w / 2, this.size.h / 2) };
    this.dots = Math.min(2, devicePixelRatio || 1);
    this.size = { w: clientWidth, h: clientHeight };
    [this.canvas.width, this.canvas.height] = [Math.round(clientWidth * this.dots), Math.round(clientHeight * this.dots)];
    if (!before || before.far) this.whole();
    else this.look(before.at, before.k);
  }

  get least() {
    const { box } = this.layout;
    const room = (pixels, length) => (pixels - 2 * MARGIN) / Math.max(length, 1);
    return Math.min(MAX_ZOOM, room(this.size.w, box.width), room(this.size.h, box.height));
  }

  at(px, py) {
    return { x: (px - this.ox) / this.k, y: (py - this.oy) / this.k };
  }

  whole() {
    const { box } = this.layout;
    this.look({ x: box.left + box.width / 2, y: box.top + box.height / 2 }, this.least);
  }

  frame(box) {
    const k = Math.min((this.size.w - 2 * MARGIN) / Math.max(box.width, 4), (this.size.h - 2 * MARGIN) / Math.max(box.height, 4));
    this.look({ x: box.left + box.width / 2, y: box.top + box.height / 2 }, k);
  }

  // Centre the view on a position, or move that position to another point of the canvas.
  look(place, k, px = this.size.w / 2, py = this.size.h / 2) {
    this.k = Math.max(this.least, Math.min(MAX_ZOOM, k));
    [this.ox, this.oy] = [px - place.x * this.k, py - place.y * this.k];
    this.clamp();
    this.redraw();
  }

  // Keep the map in view: it fills the canvas, or is centred.
  clamp() {
    const { box } = this.layout;
    const clamped = (offset, low, length, room) => {
      if (length * this.k <= room - 2 * MARGIN) return room / 2 - (low + length / 2) * this.k;
      return Math.min(MARGIN - low * this.k, Math.max(room - MARGIN - (low + length) * this.k, offset));
    };
    this.ox = clamped(this.ox, box.left, box.width, this.size.w);
    this.oy = clamped(this.oy, box.top, box.height, this.size.h);
    this.canvas.style.touchAction = this.k > this.least * 1.01 ? "none" : "pan-y";
  }

  zoom(times, px = this.size.w / 2, py = this.size.h / 2) {
    this.look(this.at(px, py), this.k * times, px, py);
  }

  // By buttons and keys: towards the selected seat or the centre, and never into an empty area.
  zoomToSeats(times) {
    const { w, h } = this.size;
    const [px, py] = this.selected === undefined ? [w / 2, h / 2] : this.point(this.selected);
    if (px < 0 || py < 0 || px > w || py > h) this.zoom(times);
    else this.zoom(times, px, py);
    if (times < 1 || this.selected !== undefined) return;
    const { x, y } = this.at(w / 2, h / 2);
    const { grid, box } = this.layout;
    if (grid.nearest(x, y, Math.min(w, h) / this.k / 4) !== undefined) return;
    const n = grid.nearest(x, y, box.width + box.height);
    if (n !== undefined) this.look({ x: this.layout.x[n], y: this.layout.y[n] }, this.k);
  }

  point(n) {
    return [this.layout.x[n] * this.k + this.ox, this.layout.y[n] * this.k + this.oy];
  }

  // Select a seat and bring it into view.
  select(n) {
    this.selected = n;
    if (n !== undefined) {
      const place = { x: this.layout.x[n], y: this.layout.y[n] };
      const [px, py] = this.point(n);
      const hidden = px < TOUCH_RADIUS || py < TOUCH_RADIUS || px > this.size.w - TOUCH_RADIUS || py > this.size.h - TOUCH_RADIUS;
      if (this.k < SELECT_ZOOM && this.least < SELECT_ZOOM) this.look(place, TAP_ZOOM);
      else if (hidden) this.look(place, this.k);
    }
    this.redraw();
  }

  wheel(event) {
    const times = Math.exp(-event.deltaY * (event.deltaMode ? 0.05 : 0.002));
    const k = Math.max(this.least, Math.min(MAX_ZOOM, this.k * times));
    if (Math.abs(k - this.k) < 1e-6) return; // the page may scroll on
    event.preventDefault();
    this.zoom(times, event.offsetX, event.offsetY);
  }

  pointerdown(event) {
    this.canvas.setPointerCapture(event.pointerId);
    this.pointers.set(event.pointerId, { x: event.offsetX, y: event.offsetY });
    if (this.pointers.size === 1) this.tap = { x: event.offsetX, y: event.offsetY };
    else this.tap = undefined;
  }

  pointermove(event) {
    const before = this.pointers.get(event.pointerId);
    if (!before) return;
    const now = { x: event.offsetX, y: event.offsetY };
    if (this.tap && Math.hypot(now.x - this.tap.x, now.y - this.tap.y) < DRAG_THRESHOLD) return;
    this.tap = undefined;
    if (this.pointers.size === 1) this.drag(before, now);
    else if (this.pointers.size === 2) this.pinch(event.pointerId, before, now);
    this.pointers.set(event.pointerId, now);
  }

  drag(before, now) {
    [this.ox, this.oy] = [this.ox + now.x - before.x, this.oy + now.y - before.y];
    this.clamp();
    this.redraw();
  }

  pinch(id, before, now) {
    const [, other] = [...this.pointers].find(([each]) => each !== id);
    const apart = (point) => Math.max(1, Math.hypot(point.x - other.x, point.y - other.y));
    const between = (point) => [(point.x + other.x) / 2, (point.y + other.y) / 2];
    const place = this.at(...between(before));
    this.look(place, (this.k * apart(now)) / apart(before), ...between(now));
  }

  pointerup(event) {
    this.pointers.delete(event.pointerId);
    if (!this.tap) return;
    const { x, y } = this.at(event.offsetX, event.offsetY);
    this.tap = undefined;
    if (this.k < SELECT_ZOOM && this.least < SELECT_ZOOM) return this.look({ x, y }, TAP_ZOOM);
    const seat = this.layout.grid.nearest(x, y, Math.max(0.7, TOUCH_RADIUS / this.k));
    if (seat !== undefined) this.dispatchEvent(new CustomEvent("pick", { detail: seat }));
  }

  pointercancel(event) {
    this.pointers.delete(event.pointerId);
    this.tap = undefined;
  }

  redraw() {
    this.frameWanted ??= requestAnimationFrame(() => {
      this.frameWanted = undefined;
      if (this.size) this.draw();
    });
  }

  draw() {
    const startedAt = performance.now();
    const size = Math.max(1, Math.round(this.k * this.dots * 0.8));
    const { ctx } = this;
    ctx.setTransform(1, 0, 0, 1, 0, 0);
    if (size <= 12) this.drawFar(size);
    else this.drawNear(size);
    ctx.setTransform(this.dots, 0, 0, this.dots, 0, 0);
    this.drawLabels();
    this.drawRing();
    this.canvas.dataset.drawn = (performance.now() - startedAt).toFixed(1);
    this.canvas.dataset.pixels = this.k.toFixed(2);
  }

  stamp(state, size) {
    const name = state * 1000 + size;
    if (!this.stamps.has(name)) {
      const made = Object.assign(document.createElement("canvas"), { width: size, height: size });
      const ctx = made.getContext("2d", { alpha: false, willReadFrequently: true });
      ctx.fillStyle = this.colours.sheet;
      ctx.fillRect(0, 0, size, size);
      if (size < 6) speck(ctx, state, size, this.colours);
      else ctx.translate(size / 2, size / 2), shape(ctx, state, size / 2, this.colours);
      this.stamps.set(name, { made, dots: new Uint32Array(ctx.getImageData(0, 0, size, size).data.buffer) });
    }
    return this.stamps.get(name);
  }

  // Tens of thousands of seats of a few pixels: copying pixels is many times faster than drawing each seat.
  drawFar(size) {
    const { width, height } = this.canvas;
    if (this.image?.width !== width || this.image.height !== height) this.image = this.ctx.createImageData(width, height);
    const out = new Uint32Array(this.image.data.buffer);
    const stamps = [0, 1, 2, 3].map((state) => this.stamp(state, size).dots);
    out.fill(this.stamp(EMPTY, 1).dots[0]);
    const { x, y, count } = this.layout;
    const [k, ox, oy] = [this.k * this.dots, this.ox * this.dots - size / 2, this.oy * this.dots - size / 2];
    for (let n = 0; n < count; n++) {
      const [left, top] = [Math.round(x[n] * k + ox), Math.round(y[n] * k + oy)];
      if (left < 0 || top < 0 || left + size > width || top + size > height) continue;
      const dots = stamps[this.states[n]];
      for (let line = 0, from = 0, to = top * width + left; line < size; line++, to += width - size)
        for (let column = 0; column < size; column++) out[to++] = dots[from++];
    }
    this.ctx.putImageData(this.image, 0, 0);
  }

  drawNear(size) {
    const { ctx, dots } = this;
    ctx.fillStyle = this.colours.sheet;
    ctx.fillRect(0, 0, this.canvas.width, this.canvas.height);
    for (const n of this.visible()) {
      const [px, py] = this.point(n);
      ctx.drawImage(this.stamp(this.states[n], size).made, Math.round(px * dots - size / 2), Math.round(py * dots - size / 2));
    }
    ctx.setTransform(dots, 0, 0, dots, 0, 0);
    for (const n of this.visible()) this.drawNumber(n);
  }

  // Only on free seats that are large enough: other shapes are filled, and show their number when selected.
  drawNumber(n) {
    if (this.k < 20 || this.states[n] !== 0) return;
    const { ctx, layout } = this;
    const row = layout.rows[layout.rowOf[n]];
    ctx.font = `${Math.round(this.k * 0.3)}px system-ui, sans-serif`;
    [ctx.textAlign, ctx.textBaseline, ctx.fillStyle] = ["center", "middle", this.colours.text];
    ctx.fillText(row.labels[n - row.start], ...this.point(n));
  }

  visible() {
    const [from, to] = [this.at(0, 0), this.at(this.size.w, this.size.h)];
    return this.layout.grid.within(from.x - 1, from.y - 1, to.x + 1, to.y + 1);
  }

  // Names of parts from afar and of rows from near, wherever they fit without overlapping.
  drawLabels() {
    const { ctx, layout } = this;
    this.labels = [];
    [ctx.textBaseline, ctx.textAlign, ctx.lineJoin] = ["middle", "center", "round"];
    ctx.font = "600 12px system-ui, sans-serif";
    if (this.k < SELECT_ZOOM && layout.parts.length > 1) {
      for (const { short, box } of layout.parts) {
        if (Math.max(box.width, box.height) * this.k > 24) this.drawLabel(short, (box.left + box.width / 2) * this.k + this.ox, (box.top + box.height / 2) * this.k + this.oy);
      }
    } else if (this.k >= SELECT_ZOOM) {
      const shown = new Set(Array.from(this.visible(), (n) => layout.rowOf[n]));
      for (const number of shown) {
        const { label, start } = layout.rows[number];
        const [px, py] = this.point(start);
        const ahead = layout.rows[number].count > 1 ? this.point(start + 1) : [px + 1, py];
        const far = Math.hypot(ahead[0] - px, ahead[1] - py) || 1;
        this.drawLabel(label, px - ((ahead[0] - px) / far) * this.k, py - ((ahead[1] - py) / far) * this.k);
      }
    }
  }

  drawLabel(text, px, py) {
    const { ctx, labels } = this;
    const half = ctx.measureText(text).width / 2 + 3;
    if (labels.some((other) => Math.abs(other.px - px) < other.half + half && Math.abs(other.py - py) < 17)) return;
    labels.push({ px, py, half });
    [ctx.strokeStyle, ctx.lineWidth, ctx.fillStyle] = [this.colours.sheet, 3, this.colours.text];
    ctx.strokeText(text, px, py);
    ctx.fillText(text, px, py);
  }

  drawRing() {
    if (this.selected === undefined) return;
    const { ctx } = this;
    const [px, py] = this.point(this.selected);
    const size = Math.max(8, Math.round(this.k * this.dots * 0.8));
    const side = size / this.dots;
    ctx.drawImage(this.stamp(this.states[this.selected], size).made, px - side / 2, py - side / 2, side, side);
    this.drawNumber(this.selected);
    for (const [colour, width] of [[this.colours.sheet, 5], [this.colours.ring, 2.5]]) {
      [ctx.strokeStyle, ctx.lineWidth] = [colour, width];
      ctx.beginPath();
      ctx.arc(px, py, Math.max(8, this.k * 0.6), 0, 7);
      ctx.stroke();
    }
  }
}
