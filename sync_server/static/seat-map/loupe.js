// A loupe above the finger, which hides what it touches.

const [RADIUS, LIFT, TIMES] = [58, 92, 2.4];
const LEAST = 26; // pixels from seat to seat in the loupe

export function drawLoupe(ctx, view, at, map) {
  const { layout, layer, colours: ink, skin } = map;
  const { look } = layer.seats;
  const [px, py] = [Math.max(RADIUS + 4, Math.min(view.w - RADIUS - 4, at.x)), at.y - LIFT < RADIUS + 4 ? at.y + LIFT : at.y - LIFT];
  const k = Math.max(LEAST, view.k * TIMES);
  const centre = view.at(at.x, at.y);
  ctx.save();
  ctx.beginPath(), ctx.arc(px, py, RADIUS, 0, 7);
  ctx.shadowColor = "rgb(0 0 0 / 35%)", (ctx.shadowBlur = 18), (ctx.shadowOffsetY = 6);
  ctx.fillStyle = ink.sheet, ctx.fill();
  ctx.shadowColor = "transparent";
  ctx.clip();
  const reach = RADIUS / k + 1;
  const side = Math.round(k * view.dots * 0.8);
  ctx.font = `600 ${Math.round(k * 0.3)}px Inter, system-ui, sans-serif`;
  [ctx.textAlign, ctx.textBaseline] = ["center", "middle"];
  layout.grid.each(centre.x - reach, centre.y - reach, centre.x + reach, centre.y + reach, (n) => {
    const [x, y] = [px + (layout.x[n] - centre.x) * k, py + (layout.y[n] - centre.y) * k];
    const shown = side / view.dots;
    ctx.drawImage(layer.stamps.of(look(n), side).canvas, x - shown / 2, y - shown / 2, shown, shown);
    const colour = skin.number(look(n));
    if (colour) (ctx.fillStyle = ink[colour]), ctx.fillText(layout.label(n), x, y);
  });
  const nearest = map.nearest(at.x, at.y);
  if (nearest !== undefined) {
    ctx.beginPath();
    ctx.arc(px + (layout.x[nearest] - centre.x) * k, py + (layout.y[nearest] - centre.y) * k, k * 0.52, 0, 7);
    [ctx.strokeStyle, ctx.lineWidth] = [ink.ring, 3];
    ctx.stroke();
  }
  ctx.restore();
  ctx.beginPath(), ctx.arc(px, py, RADIUS, 0, 7);
  [ctx.strokeStyle, ctx.lineWidth] = [ink.text, 1.5];
  ctx.stroke();
}
