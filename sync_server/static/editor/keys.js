// The keyboard: everywhere on the page to undo, save and copy, and on the drawing to choose, push and look around.

import { inLine, fromTheFront, rowOf, rowsOf } from "./rows.js";

const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
const LOOK = 60; // pixels that an arrow moves the view
const TOOLS = { v: "select", h: "pan", r: "rows", t: "table", a: "area", s: "stage" };

const writing = (target) => target.matches?.("input:not([type=checkbox]):not([type=range]), textarea, select");

export class Keys {
  constructor(canvas, board, actions, painter, pointer) {
    Object.assign(this, { canvas, board, actions, painter, pointer });
    document.addEventListener("keydown", (event) => this.#anywhere(event));
    canvas.addEventListener("keydown", (event) => this.#onDrawing(event));
    canvas.addEventListener("keyup", (event) => event.key === " " && (pointer.space = false));
  }

  #anywhere(event) {
    if (!(event.ctrlKey || event.metaKey) || (writing(event.target) && event.key.toLowerCase() !== "s")) return;
    const { actions } = this;
    const meant = { z: event.shiftKey ? "redo" : "undo", y: "redo", s: "save", c: "copy", v: "paste", x: "cut", d: "duplicate", a: "all" }[event.key.toLowerCase()];
    if (!meant || (["c", "a"].includes(event.key.toLowerCase()) && event.target !== this.canvas && String(getSelection()))) return;
    event.preventDefault();
    actions[meant]();
  }

  #onDrawing(event) {
    if (event.ctrlKey || event.metaKey) return;
    if (!this.#handled(event)) return;
    event.preventDefault();
    event.stopPropagation();
  }

  #handled(event) {
    const { board, actions } = this;
    const { key } = event;
    if (ARROWS[key]) return this.#arrow(ARROWS[key], event), true;
    if (key === " ") return (this.pointer.space = true);
    if (key === "[" || key === "]" || key === "{" || key === "}") return this.#row(key === "]" || key === "}" ? 1 : -1, event.shiftKey), true;
    if (key === "," || key === "." || key === "<" || key === ">") return this.#seat(key === "." || key === ">" ? 1 : -1, event.shiftKey), true;
    if (key === "Delete" || key === "Backspace") return actions.remove(), true;
    if (key === "Escape") return actions.escape(), true;
    if (key === "Enter") return actions.enter(), true;
    if (key === "+" || key === "=") return actions.zoom(1.4), true;
    if (key === "-") return actions.zoom(1 / 1.4), true;
    if (key === "0") return board.showWhole(), true;
    if (TOOLS[key]) return board.use(TOOLS[key]), true;
    return false;
  }

  // What is chosen moves by a quarter of a seat, with Shift by four; else the view moves.
  #arrow([right, down], event) {
    const { board, actions, painter } = this;
    if (!board.list().length && !board.map.zone(board.zone)?.outline) {
      board.view.pan(-right * LOOK, -down * LOOK);
      board.fit = false;
      return painter.redraw();
    }
    const step = board.pitch * (event.shiftKey ? 4 : event.altKey ? 0.02 : 0.25);
    actions.push(right * step, down * step);
  }

  // The next row of the same section and zone, else the first of the next.
  #row(by, adding) {
    const { board } = this;
    const rows = this.#rowsInOrder();
    if (!rows.length) return;
    const present = board.list().length ? rows.indexOf(rowOf(board.map, board.list().at(by > 0 ? -1 : 0))) : by > 0 ? -1 : rows.length;
    const next = rows[(present + by + rows.length) % rows.length];
    board.choose(next.slots, adding ? "add" : "set");
    this.#bringIntoView(next.slots[0]);
  }

  #rowsInOrder() {
    const { map } = this.board;
    if (this.ordered?.revision !== map.revision || this.ordered.map !== map) {
      const parts = new Map();
      for (const row of rowsOf(map)) parts.set(`${row.zone}/${row.section}`, [...(parts.get(`${row.zone}/${row.section}`) ?? []), row]);
      this.ordered = { map, revision: map.revision, rows: [...parts.values()].flatMap((rows) => fromTheFront(map, rows)) };
    }
    return this.ordered.rows;
  }

  #seat(by, adding) {
    const { board } = this;
    const last = board.list().at(by > 0 ? -1 : 0);
    if (last === undefined) return this.#row(1, false);
    const line = inLine(board.map, rowOf(board.map, last));
    const next = line[(line.indexOf(last) + by + line.length) % line.length];
    board.choose([next], adding ? "add" : "set");
    this.#bringIntoView(next);
  }

  #bringIntoView(slot) {
    const { view, map } = this.board;
    const [x, y] = [map.columns.x[slot], map.columns.y[slot]];
    const at = view.to(x, y);
    if (at.x < 30 || at.y < 30 || at.x > view.w - 30 || at.y > view.h - 30) view.look({ x, y }, view.k);
    this.painter.changed();
  }
}
