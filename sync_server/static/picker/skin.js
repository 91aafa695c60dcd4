// How the shop shows seats: by price in colour and pattern, what is chosen in ink with a tick, what others have as a dot.

import { SIGNS } from "../seat-map/plan.js";
import { drawSign } from "../seat-map/signs.js";
import { PATTERNS } from "./prices.js";

export const KINDS = SIGNS.length;
export const TAKEN = PATTERNS * KINDS;
export const CLOSED = TAKEN + 1;
const [CHOSEN, HELD, OFFERED] = [TAKEN + 2, TAKEN + 2 + KINDS, TAKEN + 2 + 2 * KINDS];
const LEGIBLE = 7; // pixels of a seat from which patterns and signs are drawn

export const free = (pattern, sign) => pattern * KINDS + sign;
export const chosen = (sign) => CHOSEN + sign;
export const held = (sign) => HELD + sign;
export const offered = (sign) => OFFERED + sign;

const line = (ctx, ...points) => points.forEach(([x, y], n) => (n ? ctx.lineTo(x, y) : ctx.moveTo(x, y)));

// A square of a pattern, which may be repeated side by side.
const PATTERN = [
  () => {},
  (ctx, s) => (line(ctx, [-s / 4, s / 4], [s / 4, -s / 4]), line(ctx, [0, s], [s, 0]), line(ctx, [s * 0.75, s * 1.25], [s * 1.25, s * 0.75])),
  (ctx, s) => [[0.24, 0.76], [0.76, 0.24]].forEach(([x, y]) => (ctx.moveTo(s * (x + 0.1), s * y), ctx.arc(s * x, s * y, s * 0.1, 0, 7))),
  (ctx, s) => line(ctx, [0, s / 2], [s, s / 2]),
  (ctx, s) => (line(ctx, [0, 0], [s, s]), line(ctx, [0, s], [s, 0])),
  (ctx, s) => line(ctx, [s / 2, 0], [s / 2, s]),
  (ctx, s) => (line(ctx, [-s / 4, s * 0.75], [s / 4, s * 1.25]), line(ctx, [0, 0], [s, s]), line(ctx, [s * 0.75, -s / 4], [s * 1.25, s / 4])),
  (ctx, s) => (line(ctx, [0, s / 2], [s, s / 2]), line(ctx, [s / 2, 0], [s / 2, s])),
];

export function drawPattern(ctx, pattern, size, colour, width = Math.max(1, size / 8)) {
  ctx.beginPath();
  [ctx.strokeStyle, ctx.lineWidth] = [colour, width];
  PATTERN[pattern](ctx, size);
  ctx.stroke();
}

function seat(ctx, size, fill, inset = 0.06) {
  const side = size * (1 - 2 * inset);
  ctx.beginPath();
  ctx.roundRect(size * inset, size * inset, side, side, side * 0.28);
  ctx.fillStyle = fill;
  ctx.fill();
}

function tick(ctx, size, colour) {
  ctx.beginPath();
  [ctx.strokeStyle, ctx.lineWidth] = [colour, Math.max(1.2, size * 0.13)];
  ctx.lineCap = ctx.lineJoin = "round";
  line(ctx, [size * 0.28, size * 0.53], [size * 0.44, size * 0.69], [size * 0.73, size * 0.34]);
  ctx.stroke();
}

function freeSeat(ctx, look, size, ink) {
  const [pattern, sign] = [Math.floor(look / KINDS), look % KINDS];
  if (size < LEGIBLE) {
    ctx.fillStyle = ink[`price-${pattern}`];
    return ctx.fillRect(0, 0, Math.max(1, size - (size > 3)), Math.max(1, size - (size > 3)));
  }
  seat(ctx, size, ink[`price-${pattern}`]);
  ctx.save();
  ctx.beginPath(), ctx.roundRect(size * 0.06, size * 0.06, size * 0.88, size * 0.88, size * 0.25), ctx.clip();
  ctx.globalAlpha = 0.38;
  drawPattern(ctx, pattern, size, ink["on-price"], Math.max(1, size / 12));
  ctx.restore();
  if (sign) drawSign(ctx, SIGNS[sign], size, ink["on-price"]);
}

function mine(ctx, look, size, ink) {
  const isHeld = look >= HELD && look < OFFERED;
  const isOffered = look >= OFFERED;
  if (size < LEGIBLE) {
    ctx.fillStyle = ink.mine;
    return ctx.fillRect(0, 0, size, size);
  }
  seat(ctx, size, isOffered ? ink.ring : ink.mine, 0);
  if (isHeld) {
    [ctx.strokeStyle, ctx.lineWidth] = [ink["on-mine"], Math.max(1, size / 14)];
    ctx.beginPath(), ctx.roundRect(size * 0.1, size * 0.1, size * 0.8, size * 0.8, size * 0.2), ctx.stroke();
  }
  tick(ctx, size, isOffered ? ink["on-ring"] : ink["on-mine"]);
}

function gone(ctx, look, size, ink) {
  const side = Math.max(1, Math.round(size * (look === TAKEN ? 0.42 : 0.2)));
  ctx.fillStyle = ink[look === TAKEN ? "taken" : "closed"];
  ctx.beginPath();
  if (size < LEGIBLE) ctx.rect((size - side) >> 1, (size - side) >> 1, side, side);
  else ctx.arc(size / 2, size / 2, side / 2, 0, 7);
  ctx.fill();
}

const PRICES = Array.from({ length: PATTERNS }, (_, n) => `price-${n}`);

export const shopSkin = (words) => ({
  colours: ["sheet", "text", "ring", "on-ring", "mine", "on-mine", "taken", "closed", "on-price", "stage", "stage-line", "wash", ...PRICES],
  stageName: words.t("stage"),
  number: (look) => (look < TAKEN && look % KINDS === 0 ? "on-price" : undefined),
  stamp(ctx, look, size, ink) {
    if (look < TAKEN) freeSeat(ctx, look, size, ink);
    else if (look >= CHOSEN) mine(ctx, look, size, ink);
    else gone(ctx, look, size, ink);
  },
});
