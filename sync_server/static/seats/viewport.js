// Which part of a map is to be seen: the scale in pixels to a unit, and where its origin lies.

export class Viewport {
  constructor(least = 0.001, most = 100) {
    Object.assign(this, { k: 1, ox: 0, oy: 0, width: 1, height: 1, least, most });
  }

  resize(width, height) {
    const { x, y } = this.at(this.width / 2, this.height / 2);
    [this.width, this.height] = [width, height];
    this.look(x, y, this.k);
  }

  // The place of the map at this pixel, and the pixel of a place.
  at(px, py) {
    return { x: (px - this.ox) / this.k, y: (py - this.oy) / this.k };
  }

  to(x, y) {
    return { x: x * this.k + this.ox, y: y * this.k + this.oy };
  }

  look(x, y, k, px = this.width / 2, py = this.height / 2) {
    this.k = Math.min(this.most, Math.max(this.least, k));
    [this.ox, this.oy] = [px - x * this.k, py - y * this.k];
  }

  zoom(times, px = this.width / 2, py = this.height / 2) {
    const { x, y } = this.at(px, py);
    this.look(x, y, this.k * times, px, py);
  }

  pan(dx, dy) {
    [this.ox, this.oy] = [this.ox + dx, this.oy + dy];
  }

  // All of a rectangle, with some room around it.
  frame({ left, top, width, height }, margin = 40) {
    const room = (pixels, length) => Math.max(1, pixels - 2 * margin) / Math.max(length, 1e-6);
    const k = Math.min(room(this.width, width), room(this.height, height));
    this.look(left + width / 2, top + height / 2, k);
  }
}
