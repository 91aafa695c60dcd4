// Draws what is on a plan besides seats: the stage and other shapes of the drawing, and the outlines of zones.

// Shapes in the open format of pretix: layers of areas, each with a position.
export function drawAreas(ctx, view, areas, inks) {
  for (const layer of areas ?? []) {
    for (const area of layer.areas ?? []) drawArea(ctx, view, layer.position ?? { x: 0, y: 0 }, area, inks);
  }
}

function drawArea(ctx, view, origin, area, inks) {
  const at = view.to(origin.x + (area.position?.x ?? 0), origin.y + (area.position?.y ?? 0));
  ctx.save();
  ctx.translate(at.x, at.y);
  if (area.rotation) ctx.rotate((area.rotation * Math.PI) / 180);
  ctx.scale(view.k, view.k);
  ctx.beginPath();
  if (area.shape === "rectangle") ctx.rect(0, 0, area.rectangle?.width ?? 0, area.rectangle?.height ?? 0);
  else if (area.shape === "circle") ctx.arc(0, 0, area.circle?.radius ?? 0, 0, 7);
  else if (area.shape === "ellipse") ctx.ellipse(0, 0, area.ellipse?.radius.x ?? 0, area.ellipse?.radius.y ?? 0, 0, 0, 7);
  else if (area.shape === "polygon") (area.polygon?.points ?? []).forEach(({ x, y }) => ctx.lineTo(x, y)), ctx.closePath();
  ctx.fillStyle = inks.sunk;
  ctx.strokeStyle = inks.line;
  ctx.lineWidth = 1.5 / view.k;
  if (area.shape !== "text") ctx.fill(), ctx.stroke();
  ctx.restore();
  drawWords(ctx, view, origin, area, inks);
}

function drawWords(ctx, view, origin, area, inks) {
  const written = typeof area.text === "string" ? { text: area.text } : area.text;
  if (!written?.text) return;
  const x = origin.x + (area.position?.x ?? 0) + (written.position?.x ?? 0);
  const y = origin.y + (area.position?.y ?? 0) + (written.position?.y ?? 0);
  const at = view.to(x, y);
  const size = Math.min(28, Math.max(10, (written.size ?? 16) * view.k));
  ctx.font = `600 ${size}px ${inks.font}`;
  ctx.textAlign = "center";
  ctx.textBaseline = "middle";
  ctx.fillStyle = inks.quiet;
  ctx.fillText(written.text, at.x, at.y);
}

// A zone without seats: its outline, its name and how many it holds.
export function drawOutline(ctx, view, zone, inks, chosen = false, words = "") {
  const points = zone.outline.map(([x, y]) => view.to(x, y));
  ctx.beginPath();
  for (const { x, y } of points) ctx.lineTo(x, y);
  ctx.closePath();
  ctx.fillStyle = chosen ? inks.soft : inks.area;
  ctx.fill();
  ctx.setLineDash(chosen ? [] : [6, 5]);
  ctx.strokeStyle = chosen ? inks.chosen : inks.line;
  ctx.lineWidth = chosen ? 2.5 : 1.5;
  ctx.stroke();
  ctx.setLineDash([]);
  const [x, y] = [mean(points.map((point) => point.x)), mean(points.map((point) => point.y))];
  const across = points.map((point) => point.x);
  const room = Math.max(...across) - Math.min(...across);
  const fits = (text, size) => ((ctx.font = `600 ${size}px ${inks.font}`), ctx.measureText(text).width <= room - 6);
  const second = words && fits(words, 12);
  label(ctx, zone.name, x, y - (second ? 9 : 0), fits(zone.name, 15) ? 15 : 12, inks);
  if (second) label(ctx, words, x, y + 10, 12, inks, inks.quiet);
}

export function label(ctx, words, x, y, size, inks, colour = inks.text) {
  ctx.font = `600 ${size}px ${inks.font}`;
  ctx.textAlign = "center";
  ctx.textBaseline = "middle";
  ctx.lineWidth = 4;
  ctx.lineJoin = "round";
  ctx.strokeStyle = inks.page;
  ctx.strokeText(words, x, y);
  ctx.fillStyle = colour;
  ctx.fillText(words, x, y);
}

// Whether a shape is the stage, by what is written on it.
export function saysStage(area) {
  const written = typeof area.text === "string" ? area.text : area.text?.text;
  return /^\s*stage\s*$/i.test(written ?? "");
}

// Opposite corners of what a shape takes, or all of a polygon's.
export function extentOf(layer, area) {
  const [x, y] = [(layer.position?.x ?? 0) + (area.position?.x ?? 0), (layer.position?.y ?? 0) + (area.position?.y ?? 0)];
  if (area.rectangle) return [[x, y], [x + area.rectangle.width, y + area.rectangle.height]];
  if (area.polygon) return area.polygon.points.map((point) => [x + point.x, y + point.y]);
  const [across, down] = area.circle ? [area.circle.radius, area.circle.radius] : [area.ellipse?.radius.x ?? 0, area.ellipse?.radius.y ?? 0];
  return [[x - across, y - down], [x + across, y + down]];
}

const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
