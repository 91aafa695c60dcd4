// Words as pictures: on a map nothing costs as much as text, and while one pans it is the same words in every frame.

const MOST = 3000; // pictures that are kept

export class WordsOnMap {
  constructor() {
    this.made = new Map();
  }

  restart() {
    this.made.clear();
  }

  // A picture of these lines: {canvas, w, h}, in pixels of the page. `card` stands behind them, else their outline does.
  of(lines, { fonts, colours, card, line = 16 }, ink, dots) {
    const key = `${lines.join("\n")}|${fonts.join()}|${colours.join()}|${card?.aside}|${dots}`;
    if (!this.made.has(key)) {
      if (this.made.size > MOST) this.made.clear();
      this.made.set(key, paint(lines, { fonts, colours, card, line }, ink, dots));
    }
    return this.made.get(key);
  }

  // Draws them around a point, on whole pixels of the screen.
  draw(ctx, { canvas, w, h }, px, py, dots) {
    ctx.drawImage(canvas, Math.round((px - w / 2) * dots) / dots, Math.round((py - h / 2) * dots) / dots, w, h);
  }
}

function paint(lines, { fonts, colours, card, line }, ink, dots) {
  const canvas = document.createElement("canvas");
  const ctx = canvas.getContext("2d");
  const widths = lines.map((text, n) => ((ctx.font = fonts[n]), ctx.measureText(text).width));
  const [aside, above] = card ? [card.aside, card.above] : [4, 1];
  const [w, h] = [Math.ceil(Math.max(...widths) + 2 * aside), Math.ceil(lines.length * line + 2 * above)];
  [canvas.width, canvas.height] = [Math.ceil(w * dots), Math.ceil(h * dots)];
  ctx.scale(dots, dots);
  [ctx.textAlign, ctx.textBaseline, ctx.lineJoin] = ["center", "middle", "round"];
  if (card) {
    ctx.beginPath(), ctx.roundRect(0.5, 0.5, w - 1, h - 1, card.round);
    [ctx.fillStyle, ctx.strokeStyle, ctx.lineWidth] = [ink.sheet, ink["stage-line"], 1];
    ctx.fill(), ctx.stroke();
  }
  lines.forEach((text, n) => {
    const y = h / 2 + (n - (lines.length - 1) / 2) * line;
    ctx.font = fonts[n];
    [ctx.strokeStyle, ctx.lineWidth, ctx.fillStyle] = [ink.sheet, 4, ink[colours[n]]];
    if (!card) ctx.strokeText(text, w / 2, y);
    ctx.fillText(text, w / 2, y);
  });
  return { canvas, w, h };
}
