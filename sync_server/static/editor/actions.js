// What buttons and keys do to the map. Each is one step that can be taken back.

import * as editing from "./editing.js";
import { aligned, distributed, turned } from "./geometry.js";
import { boxOf, pointsOf, rowsAmong, rowOf } from "./rows.js";
import { KINDS } from "./seat-map.js";

const CLIPBOARD = "gatehouse-seats"; // so that seats can be copied from one map to another

export class Actions {
  constructor(board, painter, makers, told) {
    Object.assign(this, { board, painter, makers, told });
  }

  get map() {
    return this.board.map;
  }

  get slots() {
    return this.board.list();
  }

  run(label, command, options) {
    try {
      this.board.run(label, typeof command === "function" ? command() : command, options);
    } catch (problem) {
      if (!(problem instanceof RangeError)) throw problem;
      this.told(problem.message);
    }
  }

  undo() {
    const label = this.board.undo();
    this.told(label ? `Taken back: ${label}.` : "There is nothing to take back.");
  }

  redo() {
    const label = this.board.redo();
    this.told(label ? `Done again: ${label}.` : "There is nothing to do again.");
  }

  push(dx, dy) {
    const { zone } = this.board;
    if (zone !== null) return this.run("move", editing.moveZone(this.map, zone, dx, dy), { join: `push zone ${zone}` });
    this.run("move", editing.move(this.map, this.slots, dx, dy), { join: `push ${this.slots.length} ${this.slots[0]}` });
  }

  remove() {
    if (!this.slots.length) return;
    const count = this.slots.length;
    this.run("delete", editing.remove(this.map, this.slots));
    this.told(`${count} ${count === 1 ? "seat" : "seats"} deleted. Undo brings them back.`);
  }

  copy() {
    if (!this.slots.length) return;
    const copied = editing.copied(this.map, this.slots);
    this.clipboard = copied;
    try {
      localStorage.setItem(CLIPBOARD, JSON.stringify(copied));
    } catch {
      // Too many for it: they can be put down on this map only.
    }
    this.told(`${this.slots.length} seats copied.`);
  }

  cut() {
    this.copy();
    this.remove();
  }

  paste() {
    const stored = this.clipboard ?? JSON.parse(localStorage.getItem(CLIPBOARD) ?? "null");
    if (!stored) return this.told("Nothing has been copied yet.");
    this.#put("paste", stored, { dx: this.board.pitch, dy: this.board.pitch });
  }

  duplicate() {
    const box = this.board.chosenBox();
    if (box) this.#put("duplicate", editing.copied(this.map, this.slots), { dx: 0, dy: box.height + this.board.pitch * 2 });
  }

  // Around the middle of the stage; what would lie on itself goes beside.
  mirror() {
    const box = this.board.chosenBox();
    if (!box) return;
    const focus = this.map.sheet.focus?.x;
    const apart = focus !== undefined && (focus < box.left || focus > box.right);
    this.#put("duplicate mirrored", editing.copied(this.map, this.slots), { axis: apart ? focus : box.right + this.board.pitch * 1.5 });
  }

  #put(label, copied, where) {
    if (!this.map.sheet.zones.length) return this.told("Add rows first: seats need a zone.");
    this.run(label, editing.paste(this.map, copied, where), { choose: "new" });
    this.painter.changed();
    this.told(`${copied.seats.length} seats put down.`);
  }

  all() {
    this.board.choose([...this.map.seats()]);
  }

  escape() {
    const { board } = this;
    if (board.tool !== "select") board.use("select");
    else board.chooseZone(null);
  }

  enter() {
    if (this.board.corners?.length) this.makers.finish("area");
    else document.querySelector('[data-form="labels"] input, .beside [data-when]:not([hidden]) input')?.focus();
  }

  zoom(times) {
    this.board.view.zoom(times);
    this.board.fit = false;
    this.painter.redraw();
  }

  wholeRows() {
    this.board.choose([...new Set(this.slots.map((slot) => rowOf(this.map, slot)))].flatMap((row) => row.slots));
  }

  align(edge) {
    this.#eachRow("align", (groups) => aligned(groups, edge));
  }

  distribute() {
    const box = boxOf(this.map, this.slots);
    this.#eachRow("same distances", (groups) => distributed(groups, box.height >= box.width ? "y" : "x"));
  }

  #eachRow(label, change) {
    const rows = rowsAmong(this.map, this.slots);
    if (rows.length < 2) return this.told("Select seats of two rows or more.");
    const points = change(rows.map((row) => pointsOf(this.map, row.slots)));
    this.run(label, editing.place(rows.flatMap((row) => row.slots), points.flat()));
  }

  turn(degrees) {
    this.run("turn", editing.place(this.slots, turned(pointsOf(this.map, this.slots), degrees)));
  }

  aisle(after) {
    this.run(after ? "aisle" : "no aisle", editing.setAisle(this.slots, after));
  }

  pair() {
    const { kind } = this.map.columns;
    if (this.slots.length !== 2) return this.told("Select two seats: the wheelchair place and its companion seat.");
    const [one, other] = this.slots;
    this.run("pair", editing.pair(this.map, kind[other] === 1 ? [other, one] : [one, other]));
    this.told("Paired: the companion seat is kept for the guest of the wheelchair place.");
  }

  ungroup() {
    this.run("take apart", editing.ungroup(this.map, this.slots));
  }

  kind(name) {
    this.run("kind of seat", () => editing.setKind(this.map, this.slots, name));
    const alone = this.slots.filter((slot) => this.map.columns.kind[slot] === KINDS.indexOf("wheelchair") && this.map.columns.companion[slot] < 0);
    if (name === "wheelchair" && alone.length) this.told(`${alone.length} of them have no free seat beside them for a companion.`);
  }
}
