// How the editor shows seats: the colour and pattern of their price, the sign of their kind, and a frame around what is chosen.

import { drawSign } from "../seat-map/signs.js";
import { KINDS } from "./seat-map.js";

const NEUTRAL = { colour: "#5a6472", pattern: "plain" };
const LEAST_SHAPE = 4; // pixels; smaller seats are squares
const LEAST_PATTERN = 9; // below it patterns are only noise
const LEAST_SIGN = 7;
const [WHEELCHAIR, COMPANION] = [KINDS.indexOf("wheelchair"), KINDS.indexOf("companion")];

// A look is a number: which price, which kind, and whether it is chosen.
export const lookOf = (price, kind, chosen) => (price * KINDS.length + kind) * 2 + chosen;

// `looks` are those of the prices, in their order; the first price is that of seats without one.
export class EditorSkin {
  show(looks) {
    this.looks = [NEUTRAL, ...looks];
    this.inks = this.looks.map(({ colour }) => onColour(colour));
  }

  #parts(look) {
    const [chosen, rest] = [look % 2, Math.floor(look / 2)];
    return { chosen, kind: rest % KINDS.length, price: Math.floor(rest / KINDS.length) };
  }

  // Seats with a sign show that.
  number(look) {
    const { kind, price } = this.#parts(look);
    return kind === WHEELCHAIR || kind === COMPANION ? undefined : this.inks[price];
  }

  stamp(ctx, look, size, ink) {
    const { chosen, kind, price } = this.#parts(look);
    if (size >= LEAST_SHAPE) return drawSeat(ctx, size, this.looks[price], kind, chosen, ink);
    ctx.fillStyle = chosen ? ink.chosen : this.looks[price].colour;
    ctx.fillRect(0, 0, size, size);
  }
}

// One seat inside of a square.
export function drawSeat(ctx, size, look, kind, chosen, inks) {
  const r = size / 2;
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
  if (size >= LEAST_PATTERN) pattern(ctx, look.pattern, r);
  ctx.translate(-r, -r);
  if (size >= LEAST_SIGN) sign(ctx, KINDS[kind], size);
  ctx.restore();
}

function outline(ctx, kind, r) {
  ctx.beginPath();
  if (kind === WHEELCHAIR || kind === COMPANION) ctx.roundRect(-r, -r, 2 * r, 2 * r, r * 0.3);
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

function pattern(ctx, name, r) {
  ctx.strokeStyle = ctx.fillStyle = "rgb(255 255 255 / 42%)";
  ctx.lineWidth = Math.max(1, r * 0.16);
  DRAWN[name]?.(ctx, r);
}

// On a ground of its own, so that no pattern disturbs it.
function sign(ctx, kind, size) {
  if (!["wheelchair", "companion", "restricted_view"].includes(kind)) return;
  ctx.fillStyle = "rgb(0 0 0 / 45%)";
  ctx.fillRect(0, 0, size, size);
  drawSign(ctx, kind, size, "#fff");
}

function line(ctx, ax, ay, bx, by) {
  ctx.beginPath();
  ctx.moveTo(ax, ay), ctx.lineTo(bx, by), ctx.stroke();
}

function dot(ctx, x, y, r) {
  ctx.beginPath();
  ctx.arc(x, y, r, 0, 7), ctx.fill();
}

// Black or white, whichever is read better on this colour.
function onColour(colour) {
  const [r, g, b] = [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16) / 255).map((value) => (value <= 0.04 ? value / 12.9 : ((value + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.3 ? "#14171d" : "#fff";
}
