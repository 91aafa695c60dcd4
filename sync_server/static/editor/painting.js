// Draws the map that is edited: background picture, shapes, seats, labels, and what is chosen or dragged.

import { drawAreas, drawOutline, label } from "../seat-map/areas.js";
import { SeatLayer } from "../seat-map/seat-layer.js";
import { Stamps } from "../seat-map/stamps.js";
import { stageOf } from "./editing.js";
import { boxOf, inLine, rowBox, rowsOf, sectionsOf } from "./rows.js";
import { numbered } from "./seat-map.js";
import { EditorSkin, lookOf } from "./skin.js";

const ROWS_FROM = 8;
const REST_MS = 90;
const SEAT = 0.8; // of the distance between seats
const MOST_GHOSTS = 4000; // dragged seats beyond this are shown as a frame
export const HANDLE = 30; // from the top of what is chosen to the handle that turns it

export class Painter {
  constructor(canvas, desk) {
    [this.canvas, this.desk] = [canvas, desk];
    this.ctx = canvas.getContext("2d", { alpha: false });
    this.skin = new EditorSkin();
    this.layer = new SeatLayer(this.#shown(), this.skin);
    this.frames = 0;
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.ink());
    new ResizeObserver(() => this.resize()).observe(canvas);
    this.ink();
    this.resize();
  }

  ink() {
    const style = getComputedStyle(this.canvas);
    const value = (name) => style.getPropertyValue(`--${name}`).trim() || "#888";
    const mixed = (name) => this.#solid(value(name));
    this.inks = { page: mixed("sheet"), text: mixed("ink"), quiet: mixed("quiet"), line: mixed("line-strong"), faint: mixed("line"), sunk: mixed("sunk"), area: mixed("sunk"), chosen: mixed("accent"), soft: mixed("accent-soft"), bad: mixed("bad"), font: style.fontFamily };
    this.changed();
  }

  // The seats as they are now; those that are dragged are drawn elsewhere.
  #shown() {
    const { map, grid, pitch, chosen, ghost, priceLooks, looks } = this.desk;
    const { price, kind, number } = map.columns;
    this.skin.show(looks.values());
    const look = (n) => (ghost && chosen[n] ? -1 : lookOf(priceLooks[price[n]], kind[n], chosen[n]));
    return { grid, pitch, look, label: (n) => map.texts[number[n]] };
  }

  // A colour that a canvas understands, whatever function the stylesheet computes it with.
  #solid(value) {
    const probe = document.createElement("i");
    probe.hidden = true;
    probe.style.color = value;
    this.canvas.after(probe);
    const colour = getComputedStyle(probe).color;
    probe.remove();
    return colour;
  }

  resize() {
    const { clientWidth: width, clientHeight: height } = this.canvas;
    if (!width || !height) return;
    this.dots = Math.min(2, devicePixelRatio || 1);
    [this.canvas.width, this.canvas.height] = [Math.round(width * this.dots), Math.round(height * this.dots)];
    this.desk.view.resize(width, height, this.dots);
    this.desk.resized();
    this.changed();
  }

  // Seats look different, or are others; after panning `redraw` is enough.
  changed() {
    this.stale = true;
    this.redraw();
  }

  redraw() {
    this.wanted ??= requestAnimationFrame(() => {
      this.wanted = undefined;
      this.draw();
    });
  }

  draw() {
    const { ctx, desk, inks, dots } = this;
    const { view, map } = desk;
    ctx.setTransform(1, 0, 0, 1, 0, 0);
    ctx.fillStyle = inks.page;
    ctx.fillRect(0, 0, this.canvas.width, this.canvas.height);
    ctx.setTransform(dots, 0, 0, dots, 0, 0);
    this.#background();
    this.#dotsOfGrid();
    drawAreas(ctx, view, map.sheet.drawing.areas, inks);
    for (const zone of map.sheet.zones) if (zone.outline) drawOutline(ctx, view, zone, inks, desk.zone === zone.key, numbered(zone) ? "" : `${zone.capacity} places`);
    this.#tables();
    ctx.setTransform(1, 0, 0, 1, 0, 0);
    this.#seats();
    ctx.setTransform(dots, 0, 0, dots, 0, 0);
    this.#labels();
    this.#focus();
    this.#chosen();
    this.#tool();
    this.frames++;
    this.canvas.dataset.drawn = this.frames;
  }

  // While somebody zooms, the picture of the seats is only scaled; when it rests, it is drawn sharp.
  #seats() {
    const { desk, ctx } = this;
    if (this.stale) this.#restart();
    const moving = this.scale !== undefined && this.scale !== desk.view.k;
    this.scale = desk.view.k;
    if (this.layer.draw(ctx, desk.view, moving)) return;
    clearTimeout(this.resting);
    this.resting = setTimeout(() => this.redraw(), REST_MS);
  }

  // Pictures of seats are made anew only where their looks or the colours of the page are others.
  #restart() {
    this.stale = false;
    this.layer.show(this.#shown());
    const made = JSON.stringify([this.skin.looks, this.inks]);
    if (made === this.made) return;
    this.made = made;
    this.layer.restart(new Stamps(this.skin, this.inks));
  }

  #background() {
    const { background, view } = this.desk;
    if (!background) return;
    const at = view.to(background.x, background.y);
    this.ctx.globalAlpha = background.opacity;
    this.ctx.drawImage(background.picture, at.x, at.y, background.width * view.k, background.height * view.k);
    this.ctx.globalAlpha = 1;
  }

  #dotsOfGrid() {
    const { view, pitch, snapping } = this.desk;
    const step = pitch * view.k;
    if (!snapping || step < 16) return;
    this.ctx.fillStyle = this.inks.faint;
    for (let x = ((view.ox % step) + step) % step; x < view.w; x += step) for (let y = ((view.oy % step) + step) % step; y < view.h; y += step) this.ctx.fillRect(x - 0.75, y - 0.75, 1.5, 1.5);
  }

  #tables() {
    const { map, view, ghost, chosen, pitch } = this.desk;
    for (const group of map.sheet.groups) {
      if (group.group_type !== "vip_table" || group.seats.length < 2) continue;
      const dragged = ghost && chosen[group.seats[0]];
      const box = boxOf(map, group.seats);
      const centre = view.to((box.left + box.right) / 2 + (dragged ? ghost.dx : 0), (box.top + box.bottom) / 2 + (dragged ? ghost.dy : 0));
      const inner = (length) => Math.max(pitch * 0.5, length / 2 - pitch * 0.62) * view.k;
      if (centre.x < -400 || centre.y < -400 || centre.x > view.w + 400 || centre.y > view.h + 400) continue;
      this.ctx.beginPath();
      if (Math.abs(box.width - box.height) < pitch * 0.7) this.ctx.arc(centre.x, centre.y, inner(Math.min(box.width, box.height)), 0, 7);
      else this.ctx.roundRect(centre.x - (box.width / 2) * view.k, centre.y - inner(box.height), box.width * view.k, 2 * inner(box.height), 6);
      this.ctx.fillStyle = this.inks.sunk;
      this.ctx.strokeStyle = this.inks.line;
      this.ctx.lineWidth = 1.5;
      this.ctx.fill(), this.ctx.stroke();
      if (pitch * view.k >= 13) label(this.ctx, group.metadata.name ?? "", centre.x, centre.y, 12, this.inks);
    }
  }

  #labels() {
    const { map, view, pitch } = this.desk;
    const step = pitch * view.k;
    if (step < ROWS_FROM) return this.#sectionNames();
    const at = { from: view.at(0, 0), to: view.at(view.w, view.h) };
    const tables = new Set(map.sheet.groups.filter((group) => group.group_type === "vip_table").map((group) => group.seats[0]));
    for (const row of rowsOf(map)) {
      const box = rowBox(map, row);
      if (box.right < at.from.x || box.left > at.to.x || box.bottom < at.from.y || box.top > at.to.y || tables.has(row.slots[0])) continue;
      this.#rowLabel(row);
    }
  }

  // At both ends of a row, or at the edge of the view where the row goes on.
  #rowLabel(row) {
    const { map, view, pitch, ghost, chosen } = this.desk;
    if (ghost && chosen[row.slots[0]]) return;
    const line = inLine(map, row);
    const { x, y } = map.columns;
    const end = (slot, next) => {
      const [dx, dy] = next === undefined ? [-1, 0] : [x[slot] - x[next], y[slot] - y[next]];
      const far = Math.hypot(dx, dy) || 1;
      return view.to(x[slot] + (dx / far) * pitch, y[slot] + (dy / far) * pitch);
    };
    const ends = [end(line[0], line[1]), ...(line.length > 1 ? [end(line.at(-1), line.at(-2))] : [])];
    const level = Math.abs(ends[0].y - (ends[1] ?? ends[0]).y) < 12;
    const inView = (value) => Math.min(view.w - 14, Math.max(14, value));
    const size = Math.min(15, Math.max(10, pitch * view.k * 0.55));
    for (const { x: px, y: py } of ends) label(this.ctx, row.label, level ? inView(px) : px, py, size, this.inks, this.inks.quiet);
  }

  // The parts of the venue by name, with the rectangle of each; the same until the map changes.
  #parts() {
    const { map } = this.desk;
    if (this.named?.map === map && this.named.revision === map.revision) return this.named.parts;
    const parts = sectionsOf(map).flatMap(({ zone, sections }) => {
      const many = sections.length > 1 && sections.length < 60;
      return many ? sections.map((section) => [section.name || zone.name, section.rows]) : [[zone.name, sections.flatMap((section) => section.rows)]];
    });
    const named = parts.filter(([, rows]) => rows.length).map(([name, rows]) => ({ name, ...boxOf(map, rows.flatMap((row) => row.slots)) }));
    this.named = { map, revision: map.revision, parts: named };
    return named;
  }

  #sectionNames() {
    const { view } = this.desk;
    for (const { name, left, top, width, height } of this.#parts()) {
      if (width * view.k < 24) continue;
      const at = view.to(left + width / 2, top + height / 2);
      label(this.ctx, name, at.x, at.y, 14, this.inks);
    }
  }

  // What the seats face, as a small target; the middle of the stage needs none.
  #focus() {
    const { map, view } = this.desk;
    const stage = stageOf(map);
    const { focus } = map.sheet;
    if (!focus || (stage && Math.hypot(stage.x - focus.x, stage.y - focus.y) < 1)) return;
    const { ctx, inks } = this;
    const at = view.to(map.sheet.focus.x, map.sheet.focus.y);
    ctx.strokeStyle = inks.chosen;
    ctx.lineWidth = 1.5;
    ctx.beginPath();
    ctx.arc(at.x, at.y, 6, 0, 7);
    for (const [dx, dy] of [[1, 0], [-1, 0], [0, 1], [0, -1]]) ctx.moveTo(at.x + dx * 4, at.y + dy * 4), ctx.lineTo(at.x + dx * 11, at.y + dy * 11);
    ctx.stroke();
  }

  #chosen() {
    const { desk, ctx, inks } = this;
    const { view, map, ghost } = desk;
    if (ghost) this.#ghosts();
    const box = desk.chosenBox();
    if (!box) return;
    const pad = desk.pitch * 0.75;
    const [dx, dy] = ghost ? [ghost.dx, ghost.dy] : [0, 0];
    const at = view.to(box.left - pad + dx, box.top - pad + dy);
    const to = view.to(box.right + pad + dx, box.bottom + pad + dy);
    ctx.strokeStyle = inks.chosen;
    ctx.lineWidth = 1.5;
    ctx.setLineDash([4, 4]);
    ctx.strokeRect(at.x, at.y, to.x - at.x, to.y - at.y);
    ctx.setLineDash([]);
    if (desk.canTurn() && !ghost) {
      const x = (at.x + to.x) / 2;
      ctx.beginPath();
      ctx.moveTo(x, at.y), ctx.lineTo(x, at.y - HANDLE + 6), ctx.stroke();
      ctx.beginPath();
      ctx.arc(x, at.y - HANDLE, 6, 0, 7);
      ctx.fillStyle = inks.page;
      ctx.fill(), ctx.stroke();
    }
    this.#pairs(map, view);
  }

  // A line from each chosen wheelchair place to its companion seat.
  #pairs(map, view) {
    const { companion, x, y, kind } = map.columns;
    this.ctx.strokeStyle = this.inks.chosen;
    this.ctx.lineWidth = 3;
    for (const slot of this.desk.list()) {
      if (kind[slot] !== 1 || companion[slot] < 0) continue;
      const [one, other] = [view.to(x[slot], y[slot]), view.to(x[companion[slot]], y[companion[slot]])];
      this.ctx.beginPath();
      this.ctx.moveTo(one.x, one.y), this.ctx.lineTo(other.x, other.y), this.ctx.stroke();
    }
  }

  #ghosts() {
    const { desk, ctx } = this;
    const { map, view, ghost, priceLooks } = desk;
    const slots = desk.list();
    if (slots.length > MOST_GHOSTS) return;
    const size = Math.max(2, Math.round(desk.pitch * SEAT * view.k * this.dots));
    ctx.globalAlpha = 0.75;
    for (const slot of slots) {
      const point = ghost.points ? ghost.points.get(slot) : { x: map.columns.x[slot] + ghost.dx, y: map.columns.y[slot] + ghost.dy };
      const at = view.to(point.x, point.y);
      const stamp = this.layer.stamps.of(lookOf(priceLooks[map.columns.price[slot]], map.columns.kind[slot], 1), size);
      ctx.drawImage(stamp.canvas, at.x - size / this.dots / 2, at.y - size / this.dots / 2, size / this.dots, size / this.dots);
    }
    ctx.globalAlpha = 1;
  }

  // The rectangle of a choice, the corners of an area, the rows about to be put down, and lines of the snap.
  #tool() {
    const { ctx, inks, desk } = this;
    const { view, marquee, corners, preview, lines } = desk;
    ctx.strokeStyle = inks.chosen;
    ctx.lineWidth = 1.5;
    if (lines?.x != null) strokeLine(ctx, view.to(lines.x, 0).x, 0, view.to(lines.x, 0).x, view.h);
    if (lines?.y != null) strokeLine(ctx, 0, view.to(0, lines.y).y, view.w, view.to(0, lines.y).y);
    if (marquee) {
      ctx.globalAlpha = 0.12;
      ctx.fillStyle = inks.chosen;
      ctx.fillRect(marquee.x, marquee.y, marquee.width, marquee.height);
      ctx.globalAlpha = 1;
      ctx.strokeRect(marquee.x, marquee.y, marquee.width, marquee.height);
    }
    if (corners?.length) {
      ctx.beginPath();
      for (const [x, y] of corners) ctx.lineTo(view.to(x, y).x, view.to(x, y).y);
      ctx.stroke();
      for (const [x, y] of corners) ctx.strokeRect(view.to(x, y).x - 4, view.to(x, y).y - 4, 8, 8);
    }
    if (preview) {
      const r = Math.max(1.5, (desk.pitch * SEAT * view.k) / 2);
      ctx.fillStyle = inks.chosen;
      ctx.globalAlpha = 0.45;
      for (const { x, y } of preview) {
        const at = view.to(x, y);
        ctx.beginPath();
        ctx.arc(at.x, at.y, r, 0, 7), ctx.fill();
      }
      ctx.globalAlpha = 1;
    }
  }
}

function strokeLine(ctx, ax, ay, bx, by) {
  ctx.beginPath();
  ctx.moveTo(ax, ay), ctx.lineTo(bx, by), ctx.stroke();
}
