// How the organiser's map shows seats: each state has its own shape.

const [FREE, HELD, SOLD] = [0, 1, 2];

// Seats of a few pixels: dark is sold, light is free, a corner is held, a dot is not for sale.
function speck(ctx, state, size, ink) {
  ctx.fillStyle = ink[["far-free", "far-held", "far-sold", "far-closed"][state]];
  if (state === 3) ctx.fillRect(size >> 2, size >> 2, Math.max(1, size >> 1), Math.max(1, size >> 1));
  else if (state === HELD && size > 2) for (let n = 0; n < size; n++) ctx.fillRect(0, n, n + 1, 1);
  else ctx.fillRect(0, 0, size, size);
}

// Ring, half-filled diamond, square, cross. `r` is half the size of a seat.
function shape(ctx, state, r, ink) {
  ctx.lineWidth = Math.max(1, r * 0.32);
  ctx.beginPath();
  if (state === FREE) {
    ctx.strokeStyle = ink.free;
    ctx.arc(0, 0, r - ctx.lineWidth / 2, 0, 7);
    ctx.stroke();
  } else if (state === HELD) {
    ctx.strokeStyle = ink.held;
    ctx.fillStyle = ink["held-soft"];
    r -= ctx.lineWidth * 0.7; // its corners would stick out
    ctx.moveTo(0, -r), ctx.lineTo(r, 0), ctx.lineTo(0, r), ctx.lineTo(-r, 0), ctx.closePath();
    ctx.fill(), ctx.stroke(), ctx.beginPath();
    ctx.fillStyle = ink.held;
    ctx.moveTo(0, -r), ctx.lineTo(r, 0), ctx.lineTo(0, r), ctx.closePath(), ctx.fill();
  } else if (state === SOLD) {
    ctx.fillStyle = ink.sold;
    ctx.fillRect(-r * 0.9, -r * 0.9, r * 1.8, r * 1.8);
  } else {
    ctx.strokeStyle = ink.closed;
    ctx.moveTo(-r * 0.7, -r * 0.7), ctx.lineTo(r * 0.7, r * 0.7), ctx.moveTo(r * 0.7, -r * 0.7), ctx.lineTo(-r * 0.7, r * 0.7);
    ctx.stroke();
  }
}

export const deskSkin = {
  colours: ["free", "held", "held-soft", "sold", "closed", "far-free", "far-held", "far-sold", "far-closed", "ring", "sheet", "text", "stage", "stage-line"],
  stageName: "Stage",
  // Only on free seats: other shapes are filled, and show their number when selected.
  number: (state) => (state === FREE ? "text" : undefined),
  stamp(ctx, state, size, ink) {
    if (size < 6) return speck(ctx, state, size, ink);
    ctx.translate(size / 2, size / 2);
    shape(ctx, state, size / 2, ink);
  },
};
