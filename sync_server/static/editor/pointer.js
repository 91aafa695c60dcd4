// Mouse, pen and fingers on the drawing: choosing, dragging, turning, panning, and putting down what a tool makes.

import * as editing from "./editing.js";
import { inside, turned } from "./geometry.js";
import { HANDLE } from "./painting.js";
import { pointsOf, rowOf } from "./rows.js";
import { snapped } from "./snapping.js";
import { t } from "./words.js";

const THRESHOLD = 4; // pixels before a press is a drag
const TOUCH = 20;
const MAGNET = 7; // pixels within which seats pull
const RIGHT_ANGLES = 15; // degrees that turning with Shift keeps to

export class Pointer {
  constructor(canvas, board, painter, makers) {
    Object.assign(this, { canvas, board, painter, makers, fingers: new Map(), doing: null });
    for (const name of ["pointerdown", "pointermove", "pointerup", "pointercancel"]) canvas.addEventListener(name, (event) => this[name](event));
    canvas.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    canvas.addEventListener("dblclick", (event) => this.double(event));
    canvas.addEventListener("contextmenu", (event) => event.preventDefault());
  }

  place(event) {
    return this.board.view.at(event.offsetX, event.offsetY);
  }

  pointerdown(event) {
    this.canvas.focus({ preventScroll: true });
    this.canvas.setPointerCapture(event.pointerId);
    this.fingers.set(event.pointerId, { x: event.offsetX, y: event.offsetY });
    if (this.fingers.size > 1) return this.#drop();
    const from = { x: event.offsetX, y: event.offsetY, at: this.place(event), touch: event.pointerType === "touch", adding: event.shiftKey || event.ctrlKey || event.metaKey };
    this.doing = { ...from, kind: null, ...this.#meant(event, from) };
  }

  // What a press here will do when it becomes a drag, and what it hit.
  #meant(event, from) {
    const { board } = this;
    if (event.button === 1 || board.tool === "pan" || this.space) return { drag: "pan" };
    if (board.tool !== "select") return { drag: "draw" };
    const hit = this.#seatAt(from);
    if (this.#onHandle(from)) return { drag: "turn" };
    if (hit >= 0) return { hit, drag: board.readOnly ? "pan" : "move" };
    const zone = board.map.sheet.zones.find((each) => each.outline && inside(each.outline, from.at.x, from.at.y));
    if (zone && zone.key === board.zone && !board.readOnly) return { zone: zone.key, drag: "zone" };
    return { zone: zone?.key, drag: from.touch ? "pan" : "marquee" };
  }

  #seatAt({ at, touch }) {
    return this.board.grid.nearest(at.x, at.y, Math.max(this.board.pitch * 0.55, (touch ? TOUCH : 4) / this.board.view.k));
  }

  #onHandle({ x, y }) {
    const box = this.board.canTurn() && this.board.chosenBox();
    if (!box) return false;
    const at = this.board.view.to((box.left + box.right) / 2, box.top - this.board.pitch * 0.75);
    return Math.hypot(at.x - x, at.y - HANDLE - y) < 12;
  }

  pointermove(event) {
    const before = this.fingers.get(event.pointerId);
    if (!before) return this.#hover(event);
    const now = { x: event.offsetX, y: event.offsetY };
    this.fingers.set(event.pointerId, now);
    if (this.fingers.size === 2) return this.#pinch(event.pointerId, before, now);
    const { doing } = this;
    if (!doing) return;
    if (!doing.kind && Math.hypot(now.x - doing.x, now.y - doing.y) < THRESHOLD) return;
    if (!doing.kind) this.#begin(doing);
    this[`drag_${doing.kind}`](doing, now, before, event);
    this.painter.redraw();
  }

  #begin(doing) {
    doing.kind = doing.drag;
    if (doing.kind === "move" && !this.board.chosen[doing.hit]) this.board.choose([doing.hit], doing.adding ? "add" : "set");
    if (doing.kind === "move" || doing.kind === "turn") {
      this.board.ghost = { dx: 0, dy: 0 };
      this.painter.changed();
    }
  }

  drag_pan(doing, now, before) {
    this.board.view.pan(now.x - before.x, now.y - before.y);
    this.board.fit = false;
  }

  drag_marquee(doing, now) {
    this.board.marquee = { x: Math.min(doing.x, now.x), y: Math.min(doing.y, now.y), width: Math.abs(now.x - doing.x), height: Math.abs(now.y - doing.y) };
  }

  drag_move(doing, now, before, event) {
    const { board } = this;
    let [dx, dy] = [(now.x - doing.x) / board.view.k, (now.y - doing.y) / board.view.k];
    if (event.shiftKey) Math.abs(dx) > Math.abs(dy) ? (dy = 0) : (dx = 0);
    board.lines = null;
    if (board.snapping && !event.altKey) {
      const { x, y } = board.map.columns;
      const reach = MAGNET / board.view.k;
      const rest = snapped({ x: x[doing.hit], y: y[doing.hit] }, dx, dy, { others: board.grid, chosen: board.chosen, reach, step: board.pitch / 4, look: board.pitch * 30 });
      [dx, dy, board.lines] = [event.shiftKey && !dx ? 0 : rest.dx, event.shiftKey && !dy ? 0 : rest.dy, rest.lines];
    }
    board.ghost = { dx, dy };
  }

  // The zone that is chosen follows with its outline.
  drag_zone(doing, now) {
    const { board } = this;
    const [dx, dy] = [(now.x - doing.x) / board.view.k, (now.y - doing.y) / board.view.k];
    doing.by = [dx, dy];
    board.corners = board.map.zone(doing.zone).outline.map(([x, y]) => [x + dx, y + dy]);
  }

  end_zone({ zone, by: [dx, dy] }) {
    const { board } = this;
    board.corners = null;
    board.run(t("step.move"), editing.moveZone(board.map, zone, dx, dy));
  }

  drag_turn(doing, now, before, event) {
    const { board } = this;
    const box = board.chosenBox();
    const centre = { x: (box.left + box.right) / 2, y: (box.top + box.bottom) / 2 };
    const at = board.view.at(now.x, now.y);
    let degrees = (Math.atan2(at.x - centre.x, centre.y - at.y) * 180) / Math.PI;
    degrees = event.shiftKey ? Math.round(degrees / RIGHT_ANGLES) * RIGHT_ANGLES : Math.round(degrees);
    const points = turned(pointsOf(board.map, board.list()), degrees, centre);
    board.ghost = { dx: 0, dy: 0, degrees, points: new Map(board.list().map((slot, n) => [slot, points[n]])) };
  }

  drag_draw(doing, now) {
    const at = this.board.view.at(now.x, now.y);
    this.makers.drawing(this.board.tool, doing.at, at);
  }

  pointerup(event) {
    const { doing, board } = this;
    this.fingers.delete(event.pointerId);
    this.doing = null;
    if (!doing) return;
    if (doing.kind) this[`end_${doing.kind}`]?.(doing, event);
    else this.#tap(doing);
    Object.assign(board, { ghost: null, marquee: null, lines: null });
    this.painter.changed();
  }

  pointercancel(event) {
    this.fingers.delete(event.pointerId);
    this.#drop();
  }

  #drop() {
    this.doing = null;
    Object.assign(this.board, { ghost: null, marquee: null, lines: null });
    this.painter.changed();
  }

  #tap({ hit, zone, adding, at, drag }) {
    const { board } = this;
    if (drag === "draw") return this.makers.click(board.tool, at);
    if (drag === "pan" && board.tool === "pan") return;
    if (hit >= 0) return board.choose([hit], adding ? (board.chosen[hit] ? "take" : "add") : "set");
    if (zone !== undefined) return board.chooseZone(zone);
    if (!adding) board.chooseZone(null);
  }

  end_marquee(doing) {
    const { board } = this;
    const { x, y, width, height } = board.marquee;
    const [from, to] = [board.view.at(x, y), board.view.at(x + width, y + height)];
    const found = [];
    board.grid.within(from.x, from.y, to.x, to.y, (slot) => found.push(slot));
    board.choose(found, doing.adding ? "add" : "set");
  }

  end_move() {
    const { board } = this;
    const { dx, dy } = board.ghost;
    board.ghost = null;
    if (dx || dy) board.run(t("step.move"), editing.move(board.map, board.list(), dx, dy));
  }

  end_turn() {
    const { board } = this;
    const { points } = board.ghost;
    board.ghost = null;
    if (points) board.run(t("step.turn"), editing.place(board.list(), board.list().map((slot) => points.get(slot))));
  }

  end_draw(doing, event) {
    this.makers.drawn(this.board.tool, doing.at, this.place(event));
  }

  #hover(event) {
    this.canvas.style.cursor = this.board.tool === "pan" || this.space ? "grab" : this.board.tool === "select" ? "default" : "crosshair";
    if (this.board.tool === "area" && this.board.corners?.length) this.makers.hover?.(this.place(event));
  }

  // A double click takes the whole row.
  double(event) {
    const { board } = this;
    if (board.tool !== "select") return this.makers.finish(board.tool);
    const slot = this.#seatAt({ at: this.place(event) });
    if (slot >= 0) board.choose(rowOf(board.map, slot).slots, event.shiftKey ? "add" : "set");
  }

  wheel(event) {
    event.preventDefault();
    const { view } = this.board;
    if (event.shiftKey && !event.ctrlKey) view.pan(-event.deltaY - event.deltaX, 0);
    else view.zoom(Math.exp(-event.deltaY * (event.deltaMode ? 0.05 : 0.002)), event.offsetX, event.offsetY);
    this.board.fit = false;
    this.painter.redraw();
  }

  #pinch(id, before, now) {
    const [, other] = [...this.fingers].find(([each]) => each !== id);
    const apart = (one) => Math.max(1, Math.hypot(one.x - other.x, one.y - other.y));
    const { view } = this.board;
    const [px, py] = [(before.x + other.x) / 2, (before.y + other.y) / 2];
    const place = view.at(px, py);
    view.look(place, (view.k * apart(now)) / apart(before), (now.x + other.x) / 2, (now.y + other.y) / 2);
    this.board.fit = false;
    this.painter.redraw();
  }
}
