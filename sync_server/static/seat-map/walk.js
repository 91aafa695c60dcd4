// Where the arrow keys lead: to the next seat of the row, and to the nearest one of the row before or behind.

const [NEAR, FAR] = [4, 24];

/** The nearest seat in a direction, straight on preferred; undefined at the end. */
export function step({ x, y, grid }, from, [right, down]) {
  let best;
  for (const reach of [NEAR, FAR]) {
    grid.each(x[from] - reach, y[from] - reach, x[from] + reach, y[from] + reach, (n) => {
      const [dx, dy] = [x[n] - x[from], y[n] - y[from]];
      const [along, aside] = right ? [dx * right, dy] : [dy * down, dx];
      const far = along + 3 * Math.abs(aside);
      if (along > 0.1 && n !== from && (!best || far < best.far)) best = { n, far };
    });
    if (best && best.far <= reach) break;
  }
  return best?.n;
}
