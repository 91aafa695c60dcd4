// What the page works on: the map with its history, what is chosen, how it is seen. Parts of the page listen to it.

import { extentOf } from "../seat-map/areas.js";
import { SeatGrid } from "../seat-map/grid.js";
import { Viewport } from "../seat-map/viewport.js";
import { looks } from "./categories.js";
import { History } from "./commands.js";
import { boxOf } from "./rows.js";
import { pitch, SeatMap } from "./seat-map.js";

const EMPTY_BOX = { left: -300, top: -200, width: 600, height: 400 };

// Events: "change" after each step, "choice" when something else is chosen, "tool" when another tool is.
export class Board extends EventTarget {
  constructor() {
    super();
    this.view = new Viewport({ least: 0.0005, most: 400 });
    Object.assign(this, { ghost: null, marquee: null, corners: null, preview: null, lines: null, background: null, snapping: true, tool: "select", zone: null, readOnly: false });
    this.start(new SeatMap());
  }

  // Another map, with a history of its own.
  start(map) {
    this.map = map;
    this.history = new History(map);
    this.chosen = new Uint8Array(map.count);
    this.listed = [];
    this.zone = null;
    this.fit = true;
    this.#measure();
    this.#tell("change");
    this.#tell("choice");
  }

  // A step that can be taken back. What it returns is chosen then, if it names seats.
  run(label, command, { join = null, choose = null } = {}) {
    if (this.readOnly) return;
    const before = this.map.count;
    this.history.run(label, command, join);
    this.#changed();
    if (choose === "new") this.choose(Array.from({ length: this.map.count - before }, (_, n) => before + n));
    else if (choose) this.choose(choose);
  }

  undo() {
    return this.#step(this.history.undo());
  }

  redo() {
    return this.#step(this.history.redo());
  }

  #step(label) {
    if (label) this.#changed();
    return label;
  }

  #changed() {
    const { alive } = this.map.columns;
    const chosen = new Uint8Array(this.map.count);
    for (const slot of this.listed) if (alive[slot]) chosen[slot] = 1;
    this.chosen = chosen;
    this.listed = this.listed.filter((slot) => alive[slot]);
    if (this.zone !== null && !this.map.zone(this.zone)) this.zone = null;
    this.#measure();
    this.#tell("change");
  }

  #measure() {
    const { columns, count, sheet } = this.map;
    this.pitch = pitch(this.map);
    this.grid = new SeatGrid(columns.x, columns.y, { count, side: this.pitch * 3, alive: columns.alive });
    const prices = new Uint8Array(this.map.texts.length);
    for (let slot = 0; slot < count; slot++) if (columns.alive[slot]) prices[columns.price[slot]] = 1;
    this.looks = looks(sheet.drawing, this.map.texts.filter((name, number) => number && prices[number]));
    const order = new Map([...this.looks.keys()].map((name, at) => [name, at + 1]));
    this.priceLooks = Uint16Array.from(this.map.texts, (name, number) => (prices[number] && order.get(name)) || 0);
  }

  // `how` is "set", "add" or "take".
  choose(slots, how = "set") {
    const chosen = how === "set" ? new Uint8Array(this.map.count) : this.chosen.slice();
    for (const slot of slots) chosen[slot] = how === "take" ? 0 : 1;
    this.chosen = chosen;
    this.listed = [];
    for (let slot = 0; slot < chosen.length; slot++) if (chosen[slot]) this.listed.push(slot);
    this.box = undefined;
    if (this.listed.length) this.zone = null;
    this.#tell("choice");
  }

  chooseZone(key) {
    this.choose([]);
    this.zone = key;
    this.#tell("choice");
  }

  list() {
    return this.listed;
  }

  chosenBox() {
    if (!this.listed.length) return null;
    return boxOf(this.map, this.listed);
  }

  canTurn() {
    return this.listed.length > 1 && !this.readOnly && this.tool === "select";
  }

  use(tool) {
    this.tool = tool;
    this.corners = this.preview = null;
    this.#tell("tool");
  }

  // Everything that is drawn: seats, zones, the stage.
  whole() {
    const { box } = this.grid;
    const corners = this.map.total ? [[box.left, box.top], [box.right, box.bottom]] : [];
    for (const zone of this.map.sheet.zones) corners.push(...(zone.outline ?? []));
    for (const layer of this.map.sheet.drawing.areas ?? []) for (const area of layer.areas ?? []) corners.push(...extentOf(layer, area));
    if (this.preview) for (const { x, y } of this.preview) corners.push([x, y]);
    if (!corners.length) return EMPTY_BOX;
    const [left, right] = [least(corners, 0), most(corners, 0)];
    const [top, bottom] = [least(corners, 1), most(corners, 1)];
    const room = Math.max(this.pitch * 3, (right - left) * 0.02);
    return { left: left - room, top: top - room, width: right - left + 2 * room, height: bottom - top + 2 * room };
  }

  showWhole() {
    this.view.frame(this.whole(), 24);
    this.fit = true;
    this.#tell("view");
  }

  show(slots) {
    if (!slots.length) return;
    const box = boxOf(this.map, slots);
    const room = this.pitch * 6;
    this.view.frame({ left: box.left - room, top: box.top - room, width: box.width + 2 * room, height: box.height + 2 * room });
    this.fit = false;
    this.#tell("view");
  }

  resized() {
    if (this.fit) this.view.frame(this.whole(), 24);
  }

  #tell(name) {
    this.dispatchEvent(new Event(name));
  }
}

const least = (points, axis) => points.reduce((best, point) => Math.min(best, point[axis]), Infinity);
const most = (points, axis) => points.reduce((best, point) => Math.max(best, point[axis]), -Infinity);
