// What buttons and keys do to the map. Each is one step that can be taken back.

import * as editing from "./editing.js";
import { aligned, distributed, turned } from "./geometry.js";
import { boxOf, pointsOf, rowsAmong, rowOf } from "./rows.js";
import { KINDS } from "./seat-map.js";
import { t } from "./words.js";

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
    this.told(label ? t("done.taken_back", { what: label }) : t("done.nothing_to_take_back"));
  }

  redo() {
    const label = this.board.redo();
    this.told(label ? t("done.again", { what: label }) : t("done.nothing_to_do_again"));
  }

  push(dx, dy) {
    const { zone } = this.board;
    if (zone !== null) return this.run(t("step.move"), editing.moveZone(this.map, zone, dx, dy), { join: `push-zone-${zone}` });
    this.run(t("step.move"), editing.move(this.map, this.slots, dx, dy), { join: `push-${this.slots.length}-${this.slots[0]}` });
  }

  remove() {
    if (!this.slots.length) return;
    const count = this.slots.length;
    this.run(t("step.delete"), editing.remove(this.map, this.slots));
    this.told(t("done.deleted", { n: count }));
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
    this.told(t("done.copied", { n: this.slots.length }));
  }

  cut() {
    this.copy();
    this.remove();
  }

  paste() {
    const stored = this.clipboard ?? JSON.parse(localStorage.getItem(CLIPBOARD) ?? "null");
    if (!stored) return this.told(t("done.nothing_copied"));
    this.#put(t("step.paste"), stored, { dx: this.board.pitch, dy: this.board.pitch });
  }

  duplicate() {
    const box = this.board.chosenBox();
    if (box) this.#put(t("step.duplicate"), editing.copied(this.map, this.slots), { dx: 0, dy: box.height + this.board.pitch * 2 });
  }

  // Around the middle of the stage; what would lie on itself goes beside.
  mirror() {
    const box = this.board.chosenBox();
    if (!box) return;
    const focus = this.map.sheet.focus?.x;
    const apart = focus !== undefined && (focus < box.left || focus > box.right);
    this.#put(t("step.mirror"), editing.copied(this.map, this.slots), { axis: apart ? focus : box.right + this.board.pitch * 1.5 });
  }

  #put(label, copied, where) {
    if (!this.map.sheet.zones.length) return this.told(t("done.rows_first"));
    this.run(label, editing.paste(this.map, copied, where), { choose: "new" });
    this.painter.changed();
    this.told(t("done.put_down", { n: copied.seats.length }));
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
    else document.querySelector('[data-form="labels"] input, .panels [data-when]:not([hidden]) input')?.focus();
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
    this.#eachRow(t("step.align"), (groups) => aligned(groups, edge));
  }

  distribute() {
    const box = boxOf(this.map, this.slots);
    this.#eachRow(t("step.distances"), (groups) => distributed(groups, box.height >= box.width ? "y" : "x"));
  }

  #eachRow(label, change) {
    const rows = rowsAmong(this.map, this.slots);
    if (rows.length < 2) return this.told(t("done.two_rows"));
    const points = change(rows.map((row) => pointsOf(this.map, row.slots)));
    this.run(label, editing.place(rows.flatMap((row) => row.slots), points.flat()));
  }

  turn(degrees) {
    this.run(t("step.turn"), editing.place(this.slots, turned(pointsOf(this.map, this.slots), degrees)));
  }

  aisle(after) {
    this.run(t(after ? "step.aisle" : "step.no_aisle"), editing.setAisle(this.slots, after));
  }

  pair() {
    const { kind } = this.map.columns;
    if (this.slots.length !== 2) return this.told(t("done.two_seats"));
    const [one, other] = this.slots;
    this.run(t("step.pair"), editing.pair(this.map, kind[other] === 1 ? [other, one] : [one, other]));
    this.told(t("done.paired"));
  }

  ungroup() {
    this.run(t("step.take_apart"), editing.ungroup(this.map, this.slots));
  }

  kind(name) {
    this.run(t("step.kind"), () => editing.setKind(this.map, this.slots, name));
    const alone = this.slots.filter((slot) => this.map.columns.kind[slot] === KINDS.indexOf("wheelchair") && this.map.columns.companion[slot] < 0);
    if (name === "wheelchair" && alone.length) this.told(t("done.no_companion", { n: alone.length }));
  }
}
