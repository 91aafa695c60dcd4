// What a seat looks like at each size: its price category's colour and pattern, and the sign of its kind.

export const SIGNS = { standard: 0, wheelchair: 1, companion: 2, restricted_view: 3, aisle: 4 };
const NEUTRAL = { colour: "#5a6472", pattern: "plain" };
const LEAST_PATTERN = 9; // pixels; below it patterns are only noise
const LEAST_SIGN = 7;

export class Stamps {
  constructor() {
    this.made = new Map();
    this.inks = { page: "#fff", chosen: "#3f4fd8" };
  }

  // Colours of the page; stamps made before are forgotten.
  ink(inks) {
    this.inks = inks;
    this.made.clear();
  }

  // A canvas of this many pixels; `pixels` of it are for copying into an image.
  of(look, kind, size, chosen) {
    const key = `${look?.colour}${look?.pattern}${kind}/${size}/${chosen}`;
    let stamp = this.made.get(key);
    if (!stamp) this.made.set(key, (stamp = this.#draw(look ?? NEUTRAL, kind, size, chosen)));
    return stamp;
  }

  #draw(look, kind, size, chosen) {
    const canvas = new OffscreenCanvas(size, size);
    const ctx = canvas.getContext("2d", { willReadFrequently: true });
    const r = size / 2;
    if (size < 4) {
      ctx.fillStyle = chosen ? this.inks.chosen : look.colour;
      ctx.fillRect(0, 0, size, size);
    } else drawSeat(ctx, r, look, kind, chosen, this.inks);
    return { canvas, pixels: new Uint32Array(ctx.getImageData(0, 0, size, size).data.buffer) };
  }
}

// One seat around (r, r), inside of a square of 2 r.
export function drawSeat(ctx, r, look, kind, chosen, inks) {
  const edge = chosen ? Math.max(1.2, r * 0.2) : 0;
  ctx.save();
  ctx.translate(r, r);
  if (chosen) {
    outline(ctx, kind, r);
    ctx.fillStyle = inks.chosen;
    ctx.fill();
    outline(ctx, kind, r - edge);
    ctx.fillStyle = inks.page;
    ctx.fill();
  }
  outline(ctx, kind, r - edge * 1.6);
  ctx.fillStyle = look.colour;
  ctx.fill();
  ctx.clip();
  if (2 * r >= LEAST_PATTERN) pattern(ctx, look.pattern, r);
  if (2 * r >= LEAST_SIGN) sign(ctx, kind, r);
  ctx.restore();
}

function outline(ctx, kind, r) {
  ctx.beginPath();
  if (kind === SIGNS.wheelchair || kind === SIGNS.companion) ctx.roundRect(-r, -r, 2 * r, 2 * r, r * 0.3);
  else ctx.roundRect(-r, -r, 2 * r, 2 * r, [r * 0.95, r * 0.95, r * 0.55, r * 0.55]);
}

const DRAWN = {
  plain() {},
  stripes(ctx, r) {
    for (let at = -2 * r; at <= 2 * r; at += r * 0.62) line(ctx, at - r, r, at + r, -r);
  },
  dots(ctx, r) {
    for (const x of [-0.45, 0.45]) for (const y of [-0.45, 0.45]) dot(ctx, x * r, y * r, r * 0.2);
  },
  rings(ctx, r) {
    ctx.beginPath();
    ctx.arc(0, 0, r * 0.58, 0, 7);
    ctx.stroke();
  },
  grid(ctx, r) {
    for (const at of [-0.4, 0.4]) line(ctx, at * r, -r, at * r, r), line(ctx, -r, at * r, r, at * r);
  },
  dashes(ctx, r) {
    for (const at of [-0.45, 0.45]) line(ctx, -r, at * r, r, at * r);
  },
};

export function pattern(ctx, name, r) {
  ctx.strokeStyle = ctx.fillStyle = "rgb(255 255 255 / 42%)";
  ctx.lineWidth = Math.max(1, r * 0.16);
  DRAWN[name]?.(ctx, r);
}

function sign(ctx, kind, r) {
  ctx.strokeStyle = ctx.fillStyle = "#fff";
  ctx.lineWidth = Math.max(1, r * 0.2);
  if (kind === SIGNS.wheelchair) wheelchair(ctx, r);
  else if (kind === SIGNS.companion) companion(ctx, r);
  else if (kind === SIGNS.restricted_view) {
    ctx.fillStyle = "rgb(0 0 0 / 55%)";
    ctx.beginPath();
    ctx.moveTo(-r, r), ctx.lineTo(r, -r), ctx.lineTo(r, r), ctx.closePath(), ctx.fill();
  }
}

function wheelchair(ctx, r) {
  backing(ctx, r);
  dot(ctx, -0.08 * r, -0.6 * r, 0.16 * r);
  ctx.beginPath();
  ctx.moveTo(-0.08 * r, -0.4 * r), ctx.lineTo(-0.08 * r, 0.08 * r), ctx.lineTo(0.36 * r, 0.08 * r), ctx.lineTo(0.52 * r, 0.56 * r);
  ctx.stroke();
  ctx.beginPath();
  ctx.arc(-0.08 * r, 0.3 * r, 0.38 * r, -2.4, 0.9, true);
  ctx.stroke();
}

function companion(ctx, r) {
  backing(ctx, r);
  dot(ctx, 0, -0.38 * r, 0.24 * r);
  ctx.beginPath();
  ctx.arc(0, 0.55 * r, 0.46 * r, Math.PI, 0);
  ctx.fill();
}

function backing(ctx, r) {
  const before = ctx.fillStyle;
  ctx.fillStyle = "rgb(0 0 0 / 45%)";
  ctx.fillRect(-r, -r, 2 * r, 2 * r);
  ctx.fillStyle = before;
}

function line(ctx, ax, ay, bx, by) {
  ctx.beginPath();
  ctx.moveTo(ax, ay), ctx.lineTo(bx, by), ctx.stroke();
}

function dot(ctx, x, y, r) {
  ctx.beginPath();
  ctx.arc(x, y, r, 0, 7), ctx.fill();
}
