// A picture of all seats in view and some around it: panning only moves the picture, and it is drawn anew when needed.

const AROUND = 0.2; // of the view, on each side
const BY_PIXEL = 14; // up to this size seats are copied pixel by pixel into one image
const [LEAST, MOST] = [0.5, 2]; // how far the picture may stand in, enlarged or reduced, while somebody zooms

export class SeatLayer {
  constructor() {
    this.canvas = new OffscreenCanvas(1, 1);
    this.ctx = this.canvas.getContext("2d");
    this.drawn = null;
    this.renders = 0;
  }

  forget() {
    this.drawn = null;
  }

  // Put the seats onto the canvas of the page, whose context counts in real pixels here. `moving` allows the picture to
  // be scaled for the moment; false if that was what was drawn.
  paint(target, view, dots, seats, moving = false) {
    if (moving && this.#scaled(target, view, dots)) return false;
    if (!this.#covers(view, dots)) this.#render(view, dots, seats);
    const { ox, oy, marginX, marginY } = this.drawn;
    target.drawImage(this.canvas, Math.round((view.ox - ox) * dots) - marginX, Math.round((view.oy - oy) * dots) - marginY);
    return true;
  }

  #scaled(target, view, dots) {
    const { drawn, canvas } = this;
    const times = drawn && view.k / drawn.k;
    if (!drawn || times === 1 || times < LEAST || times > MOST || drawn.dots !== dots) return false;
    const x = (view.ox - drawn.ox * times) * dots - drawn.marginX * times;
    const y = (view.oy - drawn.oy * times) * dots - drawn.marginY * times;
    target.drawImage(canvas, x, y, canvas.width * times, canvas.height * times);
    return true;
  }

  #covers(view, dots) {
    const { drawn } = this;
    if (!drawn || drawn.k !== view.k || drawn.dots !== dots || drawn.width !== view.width || drawn.height !== view.height) return false;
    return Math.abs(view.ox - drawn.ox) * dots <= drawn.marginX && Math.abs(view.oy - drawn.oy) * dots <= drawn.marginY;
  }

  #render(view, dots, { grid, size, stampOf, write }) {
    const marginX = Math.round(view.width * dots * AROUND);
    const marginY = Math.round(view.height * dots * AROUND);
    const [width, height] = [Math.round(view.width * dots) + 2 * marginX, Math.round(view.height * dots) + 2 * marginY];
    if (this.canvas.width !== width || this.canvas.height !== height) {
      [this.canvas.width, this.canvas.height] = [width, height];
      this.image = null;
    } else this.ctx.clearRect(0, 0, width, height);
    this.drawn = { k: view.k, ox: view.ox, oy: view.oy, width: view.width, height: view.height, dots, marginX, marginY };
    this.renders++;
    const pixels = Math.max(1, Math.round(size * view.k * dots));
    const half = pixels / 2;
    const px = (n) => Math.round((grid.x[n] * view.k + view.ox) * dots + marginX - half);
    const py = (n) => Math.round((grid.y[n] * view.k + view.oy) * dots + marginY - half);
    const [from, to] = [view.at(-marginX / dots - 40, -marginY / dots - 40), view.at(view.width + marginX / dots + 40, view.height + marginY / dots + 40)];
    const box = [from.x, from.y, to.x, to.y];
    if (pixels > BY_PIXEL) {
      grid.within(...box, (n) => this.#place(stampOf(n, pixels), px(n), py(n)));
      write(this.ctx, pixels, (visit) => grid.within(...box, (n) => visit(n, px(n) + half, py(n) + half)));
    } else this.#copy(grid, box, px, py, pixels, stampOf);
  }

  #place(stamp, x, y) {
    if (stamp) this.ctx.drawImage(stamp.canvas, x, y);
  }

  #copy(grid, box, px, py, size, stampOf) {
    const { width, height } = this.canvas;
    this.image ??= this.ctx.createImageData(width, height);
    this.pixels = new Uint32Array(this.image.data.buffer);
    this.pixels.fill(0);
    const { pixels } = this;
    grid.within(...box, (n) => {
      const [x, y] = [px(n), py(n)];
      if (x < 0 || y < 0 || x + size > width || y + size > height) return;
      const stamp = stampOf(n, size);
      if (!stamp) return;
      for (let line = 0, at = y * width + x, from = 0; line < size; line++, at += width) for (let column = 0; column < size; column++) pixels[at + column] = stamp.pixels[from++];
    });
    this.ctx.putImageData(this.image, 0, 0);
  }
}
