// Pictures of single seats, drawn once for each look and size: copying them is many times faster than drawing each seat.

export const COPIED = 12; // up to this size seats are copied pixel by pixel
const SIZES = 1024; // pixels of the largest seat

export class Stamps {
  constructor(skin, ink) {
    [this.skin, this.ink, this.made] = [skin, ink, new Map()];
  }

  of(look, size) {
    const name = look * SIZES + size;
    let stamp = this.made.get(name);
    if (!stamp) this.made.set(name, (stamp = this.#draw(look, size)));
    return stamp;
  }

  #draw(look, size) {
    const canvas = Object.assign(document.createElement("canvas"), { width: size, height: size });
    const ctx = canvas.getContext("2d", { willReadFrequently: size <= COPIED });
    this.skin.stamp(ctx, look, size, this.ink);
    return { canvas, pixels: size <= COPIED ? new Uint32Array(ctx.getImageData(0, 0, size, size).data.buffer) : undefined };
  }
}
