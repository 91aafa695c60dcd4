// Where a map is seen: how many pixels a unit has, and where its origin lies. No page is needed for it.

export const MAX_ZOOM = 44; // pixels from seat to seat
const MARGIN = 14;

export class Viewport {
  // With a box the view never leaves it, and shows no more than all of it; without one it goes anywhere.
  constructor({ box = null, least = 0.01, most = MAX_ZOOM, dots = 1 } = {}) {
    Object.assign(this, { box, floor: least, most, dots, k: 1, ox: 0, oy: 0, w: 0, h: 0 });
  }

  get least() {
    if (!this.box) return this.floor;
    return Math.max(this.floor, Math.min(this.most, this.#fitting(this.box, MARGIN)));
  }

  get isWhole() {
    return Boolean(this.box) && this.k <= this.least * 1.01;
  }

  #fitting({ width, height }, margin) {
    const room = (pixels, length) => Math.max(1, pixels - 2 * margin) / Math.max(length, 1e-6);
    return Math.min(room(this.w, width), room(this.h, height));
  }

  // Keep the middle where it is, or the whole in view.
  resize(w, h, dots = this.dots) {
    const before = this.w ? { far: this.isWhole, at: this.at(this.w / 2, this.h / 2) } : { far: Boolean(this.box), at: { x: 0, y: 0 } };
    Object.assign(this, { w, h, dots });
    if (before.far) this.whole();
    else this.look(before.at, this.k);
  }

  // The place of the map at this pixel, and the pixel of a place.
  at(px, py) {
    return { x: (px - this.ox) / this.k, y: (py - this.oy) / this.k };
  }

  to(x, y) {
    return { x: x * this.k + this.ox, y: y * this.k + this.oy };
  }

  whole() {
    this.look(middle(this.box), this.least);
  }

  // All of a rectangle, with some room around it.
  frame(box, margin = MARGIN) {
    this.look(middle(box), this.#fitting(box, margin));
  }

  // Centre on a position, or bring that position to another point.
  look(place, k, px = this.w / 2, py = this.h / 2) {
    this.k = Math.max(this.least, Math.min(this.most, k));
    this.#set(px - place.x * this.k, py - place.y * this.k);
  }

  zoom(times, px = this.w / 2, py = this.h / 2) {
    this.look(this.at(px, py), this.k * times, px, py);
  }

  pan(dx, dy) {
    this.#set(this.ox + dx, this.oy + dy);
  }

  // The map fills the view or is centred; whole pixels of the screen, so that what is drawn can be moved.
  #set(ox, oy) {
    const { box, k, dots } = this;
    const clamped = (offset, low, length, room) => {
      if (!box) return offset;
      if (length * k <= room - 2 * MARGIN) return room / 2 - (low + length / 2) * k;
      return Math.min(MARGIN - low * k, Math.max(room - MARGIN - (low + length) * k, offset));
    };
    this.ox = Math.round(clamped(ox, box?.left, box?.width, this.w) * dots) / dots;
    this.oy = Math.round(clamped(oy, box?.top, box?.height, this.h) * dots) / dots;
  }
}

export const middle = (box) => ({ x: box.left + box.width / 2, y: box.top + box.height / 2 });
