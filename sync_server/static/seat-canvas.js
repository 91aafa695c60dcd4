// Draws all seats of a house on a canvas, and lets fingers, mouse and buttons move over it and come nearer.

const CLOSEST = 44; // pixels from seat to seat
const NEAR = 24; // where a tap on a distant house leads to
const TO_PICK = 10; // nearer than this a finger means a seat, else a place
const THUMB = 22;
const DRAG = 6;
const BARE = 4; // no seat at all
const EDGE = 14;

const colours = ["free", "held", "held-soft", "sold", "closed", "far-free", "far-held", "far-sold", "far-closed", "ring", "sheet", "text"];

// Every state has a shape of its own: ring, half-filled diamond, square, cross. `r` is half a seat's size.
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
    r -= ctx.lineWidth * 0.7; // its corners stand out
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

// The same for a few pixels: dark means sold, light means free, a corner means held, a dot not for sale.
function speck(ctx, state, size, ink) {
  ctx.fillStyle = ink[["far-free", "far-held", "far-sold", "far-closed", "sheet"][state]];
  if (state === 3) ctx.fillRect(size >> 2, size >> 2, Math.max(1, size >> 1), Math.max(1, size >> 1));
  else if (state === 1 && size > 2) for (let n = 0; n < size; n++) ctx.fillRect(0, n, n + 1, 1);
  else ctx.fillRect(0, 0, size, size);
}

export class SeatCanvas extends EventTarget {
  constructor(canvas, house, states) {
    super();
    [this.canvas, this.house, this.states, this.pointers] = [canvas, house, states, new Map()];
    this.ctx = canvas.getContext("2d", { alpha: false });
    new ResizeObserver(() => this.resize()).observe(canvas);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.ink());
    for (const name of ["pointerdown", "pointermove", "pointerup", "pointercancel"]) canvas.addEventListener(name, (event) => this[name](event));
    canvas.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    // As tall as the house needs, and never so tall that a thumb finds no page beside it to scroll.
    canvas.style.aspectRatio = `${Math.max(house.box.width, 8) + 4} / ${Math.max(house.box.height, 4) + 4}`;
    canvas.style.maxHeight = `min(70vh, ${Math.round((house.box.height + 4) * CLOSEST)}px)`;
    this.ink();
    this.resize();
  }

  ink() {
    const style = getComputedStyle(this.canvas);
    this.colours = Object.fromEntries(colours.map((name) => [name, style.getPropertyValue(`--seat-${name}`).trim()]));
    this.stamps = new Map();
    this.wanted();
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
    const { box } = this.house;
    const room = (pixels, length) => (pixels - 2 * EDGE) / Math.max(length, 1);
    return Math.min(CLOSEST, room(this.size.w, box.width), room(this.size.h, box.height));
  }

  at(px, py) {
    return { x: (px - this.ox) / this.k, y: (py - this.oy) / this.k };
  }

  whole() {
    const { box } = this.house;
    this.look({ x: box.left + box.width / 2, y: box.top + box.height / 2 }, this.least);
  }

  frame(box) {
    const k = Math.min((this.size.w - 2 * EDGE) / Math.max(box.width, 4), (this.size.h - 2 * EDGE) / Math.max(box.height, 4));
    this.look({ x: box.left + box.width / 2, y: box.top + box.height / 2 }, k);
  }

  // Bring a place of the floor to the middle of the picture, or to another point of it.
  look(place, k, px = this.size.w / 2, py = this.size.h / 2) {
    this.k = Math.max(this.least, Math.min(CLOSEST, k));
    [this.ox, this.oy] = [px - place.x * this.k, py - place.y * this.k];
    this.stay();
    this.wanted();
  }

  // Nobody loses the house: it fills the picture, or stands in its middle.
  stay() {
    const { box } = this.house;
    const held = (offset, low, length, room) => {
      if (length * this.k <= room - 2 * EDGE) return room / 2 - (low + length / 2) * this.k;
      return Math.min(EDGE - low * this.k, Math.max(room - EDGE - (low + length) * this.k, offset));
    };
    this.ox = held(this.ox, box.left, box.width, this.size.w);
    this.oy = held(this.oy, box.top, box.height, this.size.h);
    this.canvas.style.touchAction = this.k > this.least * 1.01 ? "none" : "pan-y";
  }

  zoom(times, px = this.size.w / 2, py = this.size.h / 2) {
    this.look(this.at(px, py), this.k * times, px, py);
  }

  // By buttons and keys: towards the chosen seat, or the middle of the picture, and never into an empty place.
  nearer(times) {
    const { w, h } = this.size;
    const [px, py] = this.chosen === undefined ? [w / 2, h / 2] : this.spot(this.chosen);
    if (px < 0 || py < 0 || px > w || py > h) this.zoom(times);
    else this.zoom(times, px, py);
    if (times < 1 || this.chosen !== undefined) return;
    const { x, y } = this.at(w / 2, h / 2);
    const { floor, box } = this.house;
    if (floor.nearest(x, y, Math.min(w, h) / this.k / 4) !== undefined) return;
    const n = floor.nearest(x, y, box.width + box.height);
    if (n !== undefined) this.look({ x: this.house.x[n], y: this.house.y[n] }, this.k);
  }

  spot(n) {
    return [this.house.x[n] * this.k + this.ox, this.house.y[n] * this.k + this.oy];
  }

  // Choose a seat, and see to it that it can be seen.
  choose(n) {
    this.chosen = n;
    if (n !== undefined) {
      const place = { x: this.house.x[n], y: this.house.y[n] };
      const [px, py] = this.spot(n);
      const hidden = px < THUMB || py < THUMB || px > this.size.w - THUMB || py > this.size.h - THUMB;
      if (this.k < TO_PICK && this.least < TO_PICK) this.look(place, NEAR);
      else if (hidden) this.look(place, this.k);
    }
    this.wanted();
  }

  wheel(event) {
    const times = Math.exp(-event.deltaY * (event.deltaMode ? 0.05 : 0.002));
    const k = Math.max(this.least, Math.min(CLOSEST, this.k * times));
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
    if (this.tap && Math.hypot(now.x - this.tap.x, now.y - this.tap.y) < DRAG) return;
    this.tap = undefined;
    if (this.pointers.size === 1) this.drag(before, now);
    else if (this.pointers.size === 2) this.pinch(event.pointerId, before, now);
    this.pointers.set(event.pointerId, now);
  }

  drag(before, now) {
    [this.ox, this.oy] = [this.ox + now.x - before.x, this.oy + now.y - before.y];
    this.stay();
    this.wanted();
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
    if (this.k < TO_PICK && this.least < TO_PICK) return this.look({ x, y }, NEAR);
    const seat = this.house.floor.nearest(x, y, Math.max(0.7, THUMB / this.k));
    if (seat !== undefined) this.dispatchEvent(new CustomEvent("pick", { detail: seat }));
  }

  pointercancel(event) {
    this.pointers.delete(event.pointerId);
    this.tap = undefined;
  }

  wanted() {
    this.frameWanted ??= requestAnimationFrame(() => {
      this.frameWanted = undefined;
      if (this.size) this.draw();
    });
  }

  draw() {
    const begun = performance.now();
    const size = Math.max(1, Math.round(this.k * this.dots * 0.8));
    const { ctx } = this;
    ctx.setTransform(1, 0, 0, 1, 0, 0);
    if (size <= 12) this.fromAfar(size);
    else this.fromNear(size);
    ctx.setTransform(this.dots, 0, 0, this.dots, 0, 0);
    this.words();
    this.drawRing();
    this.canvas.dataset.drawn = (performance.now() - begun).toFixed(1);
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

  // Tens of thousands of seats of a few pixels: copied dot by dot, which is many times faster than drawing each.
  fromAfar(size) {
    const { width, height } = this.canvas;
    if (this.image?.width !== width || this.image.height !== height) this.image = this.ctx.createImageData(width, height);
    const out = new Uint32Array(this.image.data.buffer);
    const stamps = [0, 1, 2, 3].map((state) => this.stamp(state, size).dots);
    out.fill(this.stamp(BARE, 1).dots[0]);
    const { x, y, count } = this.house;
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

  fromNear(size) {
    const { ctx, dots } = this;
    ctx.fillStyle = this.colours.sheet;
    ctx.fillRect(0, 0, this.canvas.width, this.canvas.height);
    for (const n of this.seen()) {
      const [px, py] = this.spot(n);
      ctx.drawImage(this.stamp(this.states[n], size).made, Math.round(px * dots - size / 2), Math.round(py * dots - size / 2));
    }
    ctx.setTransform(dots, 0, 0, dots, 0, 0);
    for (const n of this.seen()) this.number(n);
  }

  // Of a free seat that is large enough: the others are filled, and their numbers are said when they are picked.
  number(n) {
    if (this.k < 20 || this.states[n] !== 0) return;
    const { ctx, house } = this;
    const row = house.rows[house.rowOf[n]];
    ctx.font = `${Math.round(this.k * 0.3)}px system-ui, sans-serif`;
    [ctx.textAlign, ctx.textBaseline, ctx.fillStyle] = ["center", "middle", this.colours.text];
    ctx.fillText(row.labels[n - row.start], ...this.spot(n));
  }

  seen() {
    const [from, to] = [this.at(0, 0), this.at(this.size.w, this.size.h)];
    return this.house.floor.within(from.x - 1, from.y - 1, to.x + 1, to.y + 1);
  }

  // From afar the names of the parts that are wide enough for them; from near those of the rows. None over another.
  words() {
    const { ctx, house } = this;
    this.written = [];
    [ctx.textBaseline, ctx.textAlign, ctx.lineJoin] = ["middle", "center", "round"];
    ctx.font = "600 12px system-ui, sans-serif";
    if (this.k < TO_PICK && house.parts.length > 1) {
      for (const { short, box } of house.parts) {
        if (Math.max(box.width, box.height) * this.k > 24) this.word(short, (box.left + box.width / 2) * this.k + this.ox, (box.top + box.height / 2) * this.k + this.oy);
      }
    } else if (this.k >= TO_PICK) {
      const shown = new Set(Array.from(this.seen(), (n) => house.rowOf[n]));
      for (const number of shown) {
        const { label, start } = house.rows[number];
        const [px, py] = this.spot(start);
        const ahead = house.rows[number].count > 1 ? this.spot(start + 1) : [px + 1, py];
        const far = Math.hypot(ahead[0] - px, ahead[1] - py) || 1;
        this.word(label, px - ((ahead[0] - px) / far) * this.k, py - ((ahead[1] - py) / far) * this.k);
      }
    }
  }

  word(text, px, py) {
    const { ctx, written } = this;
    const half = ctx.measureText(text).width / 2 + 3;
    if (written.some((other) => Math.abs(other.px - px) < other.half + half && Math.abs(other.py - py) < 17)) return;
    written.push({ px, py, half });
    [ctx.strokeStyle, ctx.lineWidth, ctx.fillStyle] = [this.colours.sheet, 3, this.colours.text];
    ctx.strokeText(text, px, py);
    ctx.fillText(text, px, py);
  }

  drawRing() {
    if (this.chosen === undefined) return;
    const { ctx } = this;
    const [px, py] = this.spot(this.chosen);
    const size = Math.max(8, Math.round(this.k * this.dots * 0.8));
    const side = size / this.dots;
    ctx.drawImage(this.stamp(this.states[this.chosen], size).made, px - side / 2, py - side / 2, side, side);
    this.number(this.chosen);
    for (const [colour, width] of [[this.colours.sheet, 5], [this.colours.ring, 2.5]]) {
      [ctx.strokeStyle, ctx.lineWidth] = [colour, width];
      ctx.beginPath();
      ctx.arc(px, py, Math.max(8, this.k * 0.6), 0, 7);
      ctx.stroke();
    }
  }
}
