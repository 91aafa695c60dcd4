// What a plan shows besides seats, shapes, texts and zones without seats, in its own measure beside seats that have another.

import { drawAreas, drawOutline, extentOf, saysStage } from "./areas.js";

export class Drawn {
  // `origin` is where the seats' measure begins, and one of its units has `unit` of the plan's.
  constructor({ areas = [], outlines = {} }, zones, [x, y], unit) {
    Object.assign(this, { areas: areas.filter((layer) => layer?.areas), x, y, unit: unit || 1 });
    this.zones = zones.filter((zone) => !zone.numbered && outlines[zone.name]?.length > 2).map((zone) => ({ ...zone, outline: outlines[zone.name] }));
    this.hasStage = this.areas.some((layer) => layer.areas.some(saysStage));
  }

  get isEmpty() {
    return !this.areas.length && !this.zones.length;
  }

  #in(value, origin) {
    return (value - origin) / this.unit;
  }

  // Its corners, as seats are placed.
  get corners() {
    const corners = this.areas.flatMap((layer) => layer.areas.flatMap((area) => extentOf(layer, area))).concat(this.zones.flatMap((zone) => zone.outline));
    return corners.map(([x, y]) => [this.#in(x, this.x), this.#in(y, this.y)]);
  }

  // `wordsOf(zone)` says what stands below the name of a zone.
  draw(ctx, view, ink, wordsOf) {
    if (this.isEmpty) return;
    const inks = { page: ink.sheet, sunk: ink.stage, area: ink.stage, line: ink["stage-line"], text: ink.text, quiet: ink.text, font: "Inter, system-ui, sans-serif" };
    const seen = { k: view.k / this.unit, to: (x, y) => view.to(this.#in(x, this.x), this.#in(y, this.y)) };
    drawAreas(ctx, seen, this.areas, inks);
    for (const zone of this.zones) drawOutline(ctx, seen, zone, inks, false, wordsOf?.(zone) ?? "");
  }

  // The zone without seats at a place, if there is one.
  zoneAt({ x, y }) {
    const [px, py] = [x * this.unit + this.x, y * this.unit + this.y];
    return this.zones.find((zone) => inside(zone.outline, px, py));
  }
}

function inside(corners, x, y) {
  let within = false;
  corners.forEach(([ax, ay], n) => {
    const [bx, by] = corners.at(n - 1);
    if (ay > y !== by > y && x < ((bx - ax) * (y - ay)) / (by - ay) + ax) within = !within;
  });
  return within;
}
