// The signs of seats of a kind, as every map draws them, in a square whose corner is the origin.

const line = (ctx, ...points) => points.forEach(([x, y], n) => (n ? ctx.lineTo(x, y) : ctx.moveTo(x, y)));

// A person in a wheelchair, somebody beside, and a pillar in the way.
const SIGN = {
  wheelchair(ctx, s) {
    ctx.beginPath(), ctx.arc(s * 0.44, s * 0.22, s * 0.08, 0, 7), ctx.fill();
    ctx.beginPath(), line(ctx, [s * 0.44, s * 0.34], [s * 0.46, s * 0.56], [s * 0.66, s * 0.56], [s * 0.74, s * 0.78]), ctx.stroke();
    ctx.beginPath(), ctx.arc(s * 0.44, s * 0.64, s * 0.2, 2.4 - Math.PI * 0.5 + 0.2, Math.PI * 1.9 - Math.PI * 1.3, true), ctx.stroke();
  },
  companion(ctx, s) {
    for (const x of [0.34, 0.66]) {
      ctx.beginPath(), ctx.arc(s * x, s * 0.34, s * 0.1, 0, 7), ctx.fill();
      ctx.beginPath(), ctx.arc(s * x, s * 0.72, s * 0.15, Math.PI, 0), ctx.fill();
    }
  },
  restricted_view(ctx, s) {
    ctx.beginPath(), ctx.ellipse(s / 2, s / 2, s * 0.3, s * 0.17, 0, 0, 7), ctx.stroke();
    ctx.beginPath(), line(ctx, [s * 0.26, s * 0.78], [s * 0.74, s * 0.22]), ctx.stroke();
  },
};

export function drawSign(ctx, sign, size, colour) {
  if (!SIGN[sign]) return;
  [ctx.strokeStyle, ctx.fillStyle, ctx.lineWidth] = [colour, colour, Math.max(1, size * 0.09)];
  ctx.lineCap = ctx.lineJoin = "round";
  SIGN[sign](ctx, size);
}
