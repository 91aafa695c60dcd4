// Where a map is seen: how many pixels from seat to seat, and where its origin lies. No page is needed for it.

export const MAX_ZOOM = 44; // pixels from seat to seat
const MARGIN = 14;

export class Viewport {
  constructor(box, dots = 1) {
    Object.assign(this, { box, dots, k: 1, ox: 0, oy: 0, w: 0, h: 0 });
  }

  get least() {
    const room = (pixels, length) => (pixels - 2 * MARGIN) / Math.max(length, 1);
    return Math.max(0.01, Math.min(MAX_ZOOM, room(this.w, this.box.width), room(this.h, this.box.height)));
  }

  get isWhole() {
    return this.k <= this.least * 1.01;
  }

  // Keep the middle where it is, or the whole in view.
  resize(w, h, dots = this.dots) {
    const before = this.w ? { far: this.isWhole, at: this.at(this.w / 2, this.h / 2) } : { far: true };
    Object.assign(this, { w, h, dots });
    if (before.far) this.whole();
    else this.look(before.at, this.k);
  }

  at(px, py) {
    return { x: (px - this.ox) / this.k, y: (py - this.oy) / this.k };
  }

  whole() {
    this.look(middle(this.box), this.least);
  }

  frame(box) {
    const room = (pixels, length) => (pixels - 2 * MARGIN) / Math.max(length + 2, 4);
    this.look(middle(box), Math.min(room(this.w, box.width), room(this.h, box.height)));
  }

  // Centre on a position, or bring that position to another point.
  look(place, k, px = this.w / 2, py = this.h / 2) {
    this.k = Math.max(this.least, Math.min(MAX_ZOOM, k));
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
      if (length * k <= room - 2 * MARGIN) return room / 2 - (low + length / 2) * k;
      return Math.min(MARGIN - low * k, Math.max(room - MARGIN - (low + length) * k, offset));
    };
    this.ox = Math.round(clamped(ox, box.left, box.width, this.w) * dots) / dots;
    this.oy = Math.round(clamped(oy, box.top, box.height, this.h) * dots) / dots;
  }
}

export const middle = (box) => ({ x: box.left + box.width / 2, y: box.top + box.height / 2 });
