// Pictures of single seats, drawn once for each look and size: copying them is many times faster than drawing each seat.

export const COPIED = 12; // up to this size seats are copied pixel by pixel

export class Stamps {
  constructor(skin, ink) {
    [this.skin, this.ink, this.made] = [skin, ink, new Map()];
  }

  of(look, size) {
    const name = look * 1000 + size;
    if (!this.made.has(name)) this.made.set(name, this.#draw(look, size));
    return this.made.get(name);
  }

  #draw(look, size) {
    const canvas = Object.assign(document.createElement("canvas"), { width: size, height: size });
    const ctx = canvas.getContext("2d", { alpha: false, willReadFrequently: size <= COPIED });
    ctx.fillStyle = this.ink.sheet;
    ctx.fillRect(0, 0, size, size);
    this.skin.stamp(ctx, look, size, this.ink);
    return { canvas, pixels: size <= COPIED ? new Uint32Array(ctx.getImageData(0, 0, size, size).data.buffer) : undefined };
  }

  // One pixel of the background.
  get sheet() {
    this.blank ??= this.#blank();
    return this.blank;
  }

  #blank() {
    const ctx = Object.assign(document.createElement("canvas"), { width: 1, height: 1 }).getContext("2d", { alpha: false });
    ctx.fillStyle = this.ink.sheet;
    ctx.fillRect(0, 0, 1, 1);
    return new Uint32Array(ctx.getImageData(0, 0, 1, 1).data.buffer)[0];
  }
}
