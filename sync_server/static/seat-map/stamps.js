// Pictures of single seats, drawn once for each look and size: copying them is many times faster than drawing each seat.

export const COPIED = 12; // up to this size seats are copied pixel by pixel
const SIZES = 1024; // pixels of the largest seat

export class Stamps {
  // Opaque ones stand on the sheet, where nothing else is drawn below them.
  constructor(skin, ink, opaque = false) {
    [this.skin, this.ink, this.opaque, this.made] = [skin, ink, opaque, new Map()];
  }

  of(look, size) {
    const name = look * SIZES + size;
    let stamp = this.made.get(name);
    if (!stamp) this.made.set(name, (stamp = this.#draw(look, size)));
    return stamp;
  }

  #draw(look, size) {
    const canvas = Object.assign(document.createElement("canvas"), { width: size, height: size });
    const ctx = canvas.getContext("2d", { alpha: !this.opaque, willReadFrequently: size <= COPIED });
    if (this.opaque) {
      ctx.fillStyle = this.ink.sheet;
      ctx.fillRect(0, 0, size, size);
    }
    this.skin.stamp(ctx, look, size, this.ink);
    return { canvas, pixels: size <= COPIED ? new Uint32Array(ctx.getImageData(0, 0, size, size).data.buffer) : undefined };
  }

  // One pixel without a seat.
  get ground() {
    this.blank ??= this.#blank();
    return this.blank;
  }

  #blank() {
    if (!this.opaque) return 0;
    const ctx = Object.assign(document.createElement("canvas"), { width: 1, height: 1 }).getContext("2d", { alpha: false });
    ctx.fillStyle = this.ink.sheet;
    ctx.fillRect(0, 0, 1, 1);
    return new Uint32Array(ctx.getImageData(0, 0, 1, 1).data.buffer)[0];
  }
}
