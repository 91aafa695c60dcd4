// Where the stage is drawn: at what the seats face where no seat is, else outside of the seats on that side.

const LEAST_ROOM = 2.5; // units around the focus without a seat
const DEPTH = 3;

/** The stage's rectangle in units, and how round it is. */
export function stageOf({ focus, box, grid }) {
  if (!focus) return undefined;
  const nearest = grid.nearest(focus.x, focus.y, LEAST_ROOM);
  const inside = focus.x > box.left && focus.x < box.right && focus.y > box.top && focus.y < box.bottom;
  if (inside && nearest === undefined) return amid(focus, grid, box);
  return outside(focus, box);
}

// Among the seats, as a ring or a pitch: as large as the room allows.
function amid(focus, grid, box) {
  let room = LEAST_ROOM;
  const most = Math.max(box.width, box.height) / 2;
  while (room < most && grid.nearest(focus.x, focus.y, room * 1.25) === undefined) room *= 1.25;
  const half = room * 0.6;
  return { left: focus.x - half, top: focus.y - half, width: 2 * half, height: 2 * half, round: half / 3 };
}

function outside(focus, box) {
  const sides = [
    { gap: focus.y - box.top, width: Math.max(4, box.width * 0.5), height: DEPTH, x: focus.x, y: Math.min(focus.y, box.top - 2 - DEPTH / 2) },
    { gap: box.bottom - focus.y, width: Math.max(4, box.width * 0.5), height: DEPTH, x: focus.x, y: Math.max(focus.y, box.bottom + 2 + DEPTH / 2) },
    { gap: focus.x - box.left, width: DEPTH, height: Math.max(4, box.height * 0.5), x: Math.min(focus.x, box.left - 2 - DEPTH / 2), y: focus.y },
    { gap: box.right - focus.x, width: DEPTH, height: Math.max(4, box.height * 0.5), x: Math.max(focus.x, box.right + 2 + DEPTH / 2), y: focus.y },
  ];
  const { x, y, width, height } = sides.reduce((best, side) => (side.gap < best.gap ? side : best));
  return { left: x - width / 2, top: y - height / 2, width, height, round: 1 };
}

const AROUND = 1.3; // units around the seats, for the letters of rows

/** A box that has the seats, with room for the letters of rows, the stage, and these corners of what else is drawn. */
export function withStage(seats, stage, corners = []) {
  let [left, top, right, bottom] = [seats.left - AROUND, seats.top - AROUND, seats.right + AROUND, seats.bottom + AROUND];
  if (stage) {
    [left, top] = [Math.min(left, stage.left), Math.min(top, stage.top)];
    [right, bottom] = [Math.max(right, stage.left + stage.width), Math.max(bottom, stage.top + stage.height)];
  }
  for (const [x, y] of corners) [left, top, right, bottom] = [Math.min(left, x), Math.min(top, y), Math.max(right, x), Math.max(bottom, y)];
  return { left, top, right, bottom, width: right - left, height: bottom - top };
}

export function drawStage(ctx, view, stage, ink, name) {
  const [w, h] = [stage.width * view.k, stage.height * view.k];
  const [left, top] = [stage.left * view.k + view.ox, stage.top * view.k + view.oy];
  if (left > view.w || top > view.h || left + w < 0 || top + h < 0) return;
  ctx.beginPath();
  ctx.roundRect(left, top, w, h, Math.min(stage.round * view.k, 12));
  [ctx.fillStyle, ctx.strokeStyle, ctx.lineWidth] = [ink.stage, ink["stage-line"], 1];
  ctx.fill(), ctx.stroke();
  // The name stays in sight while some of the stage does.
  const [right, bottom] = [Math.min(view.w, left + w), Math.min(view.h, top + h)];
  const [x, y] = [(Math.max(0, left) + right) / 2, (Math.max(0, top) + bottom) / 2];
  const size = Math.max(9, Math.min(15, Math.max(w, h) / 6));
  ctx.save();
  ctx.translate(x, y);
  if (h > 2 * w) ctx.rotate(-Math.PI / 2);
  ctx.font = `600 ${size}px Inter, system-ui, sans-serif`;
  [ctx.textAlign, ctx.textBaseline, ctx.fillStyle] = ["center", "middle", ink.text];
  if (ctx.measureText(name).width < Math.max(w, h)) ctx.fillText(name, 0, 0);
  ctx.restore();
}
