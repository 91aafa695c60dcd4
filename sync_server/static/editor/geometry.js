// Where seats stand: blocks of rows, tables, and how a choice of seats is moved, turned, mirrored, bent and spread.

const RADIANS = Math.PI / 180;

// A point so far along a row from its middle. A bent row is an arc whose ends come forward, to smaller y.
function onArc(along, radius) {
  if (!Number.isFinite(radius)) return { x: along, y: 0 };
  const angle = along / radius;
  return { x: radius * Math.sin(angle), y: radius * Math.cos(angle) - radius };
}

// Rows one behind the other, seats from left to right; each with whether an aisle follows. `curve` is the angle in
// degrees that the front row spans, `more` how many seats each row has more than the one before, `aisles` after which
// seats, counted in the front row, there is room to walk.
export function block({ rows, seats, spacing = 25, depth = 30, curve = 0, more = 0, aisles = [] }) {
  const front = (seats - 1 + aisles.length) * spacing;
  const radius = curve ? front / (curve * RADIANS) : Infinity;
  return Array.from({ length: rows }, (_, row) => {
    const here = Math.max(1, seats + row * more);
    const cuts = new Set(aisles.map((after) => Math.round((after / seats) * here)).filter((after) => after > 0 && after < here));
    const width = (here - 1 + cuts.size) * spacing;
    let gone = 0;
    return Array.from({ length: here }, (_, n) => {
      const { x, y } = onArc((n + gone) * spacing - width / 2, radius + (curve ? row * depth : 0));
      const aisle = cuts.has(n + 1);
      if (aisle) gone++;
      return { x, y: y + row * depth, aisle };
    });
  });
}

export function roundTable(seats, spacing = 25) {
  const radius = Math.max(spacing * 1.1, (seats * spacing) / (2 * Math.PI));
  return Array.from({ length: seats }, (_, n) => {
    const angle = (n / seats) * 2 * Math.PI - Math.PI / 2;
    return { x: radius * Math.cos(angle), y: radius * Math.sin(angle), aisle: false };
  });
}

// A long table: half of its seats on either side, those at the ends included when asked for.
export function longTable(seats, spacing = 25, ends = false) {
  const sides = seats - (ends && seats > 3 ? 2 : 0);
  const above = Math.ceil(sides / 2);
  const line = (count, y) => Array.from({ length: count }, (_, n) => ({ x: (n - (count - 1) / 2) * spacing, y, aisle: false }));
  const reach = (above / 2 + 0.6) * spacing;
  const heads = sides < seats ? [{ x: reach, y: 0, aisle: false }, { x: -reach, y: 0, aisle: false }] : [];
  return [...line(above, -spacing), ...heads.slice(0, 1), ...line(sides - above, spacing).reverse(), ...heads.slice(1)];
}

export function bounds(points) {
  const box = { left: Infinity, top: Infinity, right: -Infinity, bottom: -Infinity };
  for (const { x, y } of points) {
    box.left = Math.min(box.left, x);
    box.right = Math.max(box.right, x);
    box.top = Math.min(box.top, y);
    box.bottom = Math.max(box.bottom, y);
  }
  return { ...box, x: (box.left + box.right) / 2, y: (box.top + box.bottom) / 2, width: box.right - box.left, height: box.bottom - box.top };
}

export const moved = (points, dx, dy) => points.map(({ x, y }) => ({ x: x + dx, y: y + dy }));
export const mirrored = (points, axis) => points.map(({ x, y }) => ({ x: 2 * axis - x, y }));

export function turned(points, degrees, centre = bounds(points)) {
  const [sin, cos] = [Math.sin(degrees * RADIANS), Math.cos(degrees * RADIANS)];
  return points.map(({ x, y }) => {
    const [dx, dy] = [x - centre.x, y - centre.y];
    return { x: centre.x + dx * cos - dy * sin, y: centre.y + dx * sin + dy * cos };
  });
}

// A row, its points in order, bent to span this angle; its middle, direction and distances stay. Its ends come towards
// the point it faces.
export function bent(points, degrees, faces) {
  if (points.length < 2) return points;
  const { along, middle, direction, normal } = course(points, faces);
  const length = along.at(-1);
  const radius = degrees ? length / (degrees * RADIANS) : Infinity;
  const sag = Number.isFinite(radius) ? radius - radius * Math.cos(length / radius / 2) : 0;
  return along.map((at) => {
    const { x, y } = onArc(at - length / 2, radius);
    const forward = -y - sag / 2; // so that the row bends around where it stands
    return { x: middle.x + direction.x * x + normal.x * forward, y: middle.y + direction.y * x + normal.y * forward };
  });
}

// How far each seat is along its row, and the row's middle, direction and the side to which it looks.
function course(points, faces) {
  const along = [0];
  for (let n = 1; n < points.length; n++) along.push(along[n - 1] + Math.hypot(points[n].x - points[n - 1].x, points[n].y - points[n - 1].y));
  const [first, last] = [points[0], points.at(-1)];
  const chord = Math.hypot(last.x - first.x, last.y - first.y) || 1;
  const direction = { x: (last.x - first.x) / chord, y: (last.y - first.y) / chord };
  const box = bounds(points);
  const middle = { x: box.x, y: box.y };
  let normal = { x: direction.y, y: -direction.x };
  if (faces && (faces.x - middle.x) * normal.x + (faces.y - middle.y) * normal.y < 0) normal = { x: -normal.x, y: -normal.y };
  return { along, middle, direction, normal };
}

// The angle that a row spans as it stands.
export function curveOf(points, faces) {
  if (points.length < 3) return 0;
  const [first, last] = [points[0], points.at(-1)];
  const middle = points[(points.length - 1) >> 1];
  const chord = Math.hypot(last.x - first.x, last.y - first.y);
  if (!chord) return 0;
  const sag = ((last.x - first.x) * (first.y - middle.y) - (first.x - middle.x) * (last.y - first.y)) / chord;
  const angle = (4 * Math.atan((2 * Math.abs(sag)) / chord)) / RADIANS;
  const { normal } = course(points, faces);
  const ahead = ((first.x + last.x) / 2 - middle.x) * normal.x + ((first.y + last.y) / 2 - middle.y) * normal.y;
  return Math.round(ahead < 0 ? -angle : angle);
}

// The same number of seats in the same gaps, so far apart; the middle stays.
export function spread(points, spacing, usual) {
  const centre = bounds(points);
  const times = spacing / usual;
  return points.map(({ x, y }) => ({ x: centre.x + (x - centre.x) * times, y: centre.y + (y - centre.y) * times }));
}

// Points on one line: along an axis, at the mean or an edge.
export function aligned(groups, edge) {
  const boxes = groups.map(bounds);
  const values = { left: Math.min(...boxes.map((box) => box.left)), right: Math.max(...boxes.map((box) => box.right)), middle: mean(boxes.map((box) => box.x)), top: Math.min(...boxes.map((box) => box.top)) };
  return groups.map((points, n) => {
    const by = edge === "middle" ? values.middle - boxes[n].x : edge === "top" ? 0 : values[edge] - boxes[n][edge];
    return moved(points, by, edge === "top" ? values.top - boxes[n].top : 0);
  });
}

// The same distance from each to the next, downwards or to the right; the first and the last stay.
export function distributed(groups, axis = "y") {
  if (groups.length < 3) return groups;
  const centres = groups.map((points) => bounds(points)[axis]);
  const order = centres.map((_, n) => n).sort((one, other) => centres[one] - centres[other]);
  const [low, high] = [centres[order[0]], centres[order.at(-1)]];
  const found = [...groups];
  order.forEach((at, n) => {
    const by = low + ((high - low) * n) / (groups.length - 1) - centres[at];
    found[at] = axis === "y" ? moved(groups[at], 0, by) : moved(groups[at], by, 0);
  });
  return found;
}

const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;

export function inside(polygon, x, y) {
  let within = false;
  polygon.forEach(([ax, ay], n) => {
    const [bx, by] = polygon[(n + polygon.length - 1) % polygon.length];
    if (ay > y !== by > y && x < ((bx - ax) * (y - ay)) / (by - ay) + ax) within = !within;
  });
  return within;
}
