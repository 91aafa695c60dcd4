// Where seats that are dragged come to rest: level with other seats, else on the grid.

// The move as it is meant, and the lines to show. `anchor` is the seat under the pointer, `others` the grid of seats,
// `reach` how near counts, `chosen` says which seats are dragged themselves.
export function snapped(anchor, dx, dy, { others, chosen, reach, step, look }) {
  const to = { x: anchor.x + dx, y: anchor.y + dy };
  const best = { x: null, y: null };
  others.within(to.x - look, to.y - reach, to.x + look, to.y + reach, (n) => nearer(best, "y", others.y[n], to.y, chosen[n], others.x[n]));
  others.within(to.x - reach, to.y - look, to.x + reach, to.y + look, (n) => nearer(best, "x", others.x[n], to.x, chosen[n], others.y[n]));
  const resting = (axis) => best[axis]?.at ?? Math.round(to[axis] / step) * step;
  return { dx: resting("x") - anchor.x, dy: resting("y") - anchor.y, lines: { x: best.x && best.x.at, y: best.y && best.y.at } };
}

function nearer(best, axis, at, wanted, dragged) {
  if (dragged) return;
  const far = Math.abs(at - wanted);
  if (!best[axis] || far < best[axis].far) best[axis] = { at, far };
}
