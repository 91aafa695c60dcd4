// The tools that put something down: rows, tables, standing areas and the stage, from a form's numbers or a drag.

import * as editing from "./editing.js";
import { block, bounds, longTable, moved, roundTable } from "./geometry.js";
import { numbered } from "./seat-map.js";
import { t } from "./words.js";

const GAP = 2.5; // seats of room between what is there and what is put down
const MOST = 60_000; // seats put down at once

export class Makers {
  constructor(root, board, painter, told) {
    Object.assign(this, { root, board, painter, told });
    for (const form of root.querySelectorAll("form[data-form]")) {
      if (!["rows", "table", "area", "stage"].includes(form.dataset.form)) continue;
      form.addEventListener("input", () => this.show());
      form.addEventListener("submit", (event) => {
        event.preventDefault();
        this.#put(form.dataset.form, null);
      });
    }
    board.addEventListener("tool", () => this.show());
  }

  values(tool) {
    const form = this.root.querySelector(`form[data-form="${tool}"]`);
    const found = Object.fromEntries(new FormData(form));
    for (const input of form.querySelectorAll("input[type=number]")) found[input.name] = Number(input.value);
    return { ...found, valid: form.checkValidity() };
  }

  // The seats that a form would put down, around a point; null puts them where there is room.
  #seats(tool, values, at) {
    const placed = (rows) => {
      const flat = rows.flat();
      const box = bounds(flat);
      const to = at ?? this.#room(box);
      return rows.map((row) => row.map((seat) => ({ ...seat, x: seat.x - box.x + to.x, y: seat.y - box.y + to.y })));
    };
    if (tool === "rows") return placed(block({ ...values, aisles: figures(values.aisles) }));
    if (tool === "table") return placed(tables(values));
    return [];
  }

  // Below everything that is drawn, in the middle of it; at first below the stage to come.
  #room({ height }) {
    const { board } = this;
    board.preview = null; // it may be of the same seats, and is in nobody's way
    const drawn = board.map.total || board.map.sheet.zones.some((zone) => zone.outline) || editing.stageOf(board.map);
    if (!drawn) return { x: 0, y: height / 2 };
    const box = { ...board.whole() };
    const room = Math.max(board.pitch * 3, 0);
    const focus = board.map.sheet.focus;
    return { x: focus?.x ?? box.left + box.width / 2, y: box.top + box.height - room + board.pitch * GAP + height / 2 };
  }

  // The preview of the tool's form, and what it comes to in words.
  show(at = null) {
    const { board, painter } = this;
    board.preview = null;
    const words = this.root.querySelector(`form[data-form="${board.tool}"] [data-sum]`);
    if (board.tool === "rows" || board.tool === "table") {
      const values = this.values(board.tool);
      const amount = board.tool === "rows" ? values.rows * values.seats : values.count * values.seats;
      if (values.valid && amount > 0 && amount <= MOST) {
        board.preview = this.#seats(board.tool, values, at).flat();
        words.textContent = t("seats", { n: board.preview.length });
        if (!board.map.total) board.view.frame(withStage(board.whole()), 24);
      } else words.textContent = amount > MOST ? t("make.at_most", { n: MOST }) : "";
    }
    painter.redraw();
  }

  click(tool, at) {
    if (tool === "area") return this.#corner(at);
    this.#put(tool, at);
  }

  // While a rectangle is dragged: what it will hold.
  drawing(tool, from, to) {
    const { board } = this;
    if (tool === "rows") board.preview = this.#filled(from, to).rows.flat();
    else if (tool === "table") board.preview = this.#seats("table", { ...this.values("table"), count: 1 }, to).flat();
    else board.corners = rectangle(from, to);
  }

  #filled(from, to) {
    const values = this.values("rows");
    const [spacing, depth] = [values.spacing || 25, values.depth || 30];
    const seats = Math.max(1, Math.round(Math.abs(to.x - from.x) / spacing) + 1);
    const rows = Math.max(1, Math.round(Math.abs(to.y - from.y) / depth) + 1);
    if (rows * seats > MOST) return { rows: [] };
    const at = { x: (from.x + to.x) / 2, y: (from.y + to.y) / 2 };
    this.told(t("make.drawing", { rows, seats, n: rows * seats }));
    return { rows: this.#seats("rows", { ...values, seats, rows }, at), values: { ...values, seats, rows } };
  }

  drawn(tool, from, to) {
    const { board } = this;
    if (tool === "rows") this.#rows(this.#filled(from, to).rows, this.values("rows"));
    else if (tool === "table") this.#put("table", to);
    else if (tool === "area") this.#area(rectangle(from, to));
    else this.#stage({ x: (from.x + to.x) / 2, y: (from.y + to.y) / 2, width: Math.abs(to.x - from.x), height: Math.abs(to.y - from.y) });
    board.corners = board.preview = null;
  }

  #corner({ x, y }) {
    const { board } = this;
    const corners = board.corners ?? [];
    const first = corners[0];
    if (first && Math.hypot(first[0] - x, first[1] - y) * board.view.k < 12) return this.finish("area");
    board.corners = [...corners, [Math.round(x), Math.round(y)]];
    this.told(t("make.corners", { n: board.corners.length }));
    this.painter.redraw();
  }

  finish(tool) {
    const corners = this.board.corners ?? [];
    this.board.corners = null;
    if (tool === "area" && corners.length > 2) this.#area(corners);
    this.painter.redraw();
  }

  #put(tool, at) {
    try {
      const values = this.values(tool);
      if (tool === "rows") this.#rows(this.#seats("rows", values, at), values);
      else if (tool === "table") this.#tables(at ? { ...values, count: 1 } : values, at);
      else if (tool === "area") this.#area(this.#square(at, values.capacity));
      else this.#stage({ ...values, ...(at ?? this.#front(values)) });
    } catch (problem) {
      if (!(problem instanceof RangeError)) throw problem;
      this.told(problem.message);
    }
  }

  #rows(rows, values) {
    const { board } = this;
    if (!rows.length) return;
    const before = this.#first(rows.flat());
    const { key, commands } = this.#zone(values.zone || t("name.stalls"), "reserved_seating");
    const without = values.without ? "IO" : "";
    const seatScheme = { start: values.start, count: values.count, backwards: values.direction === "left" };
    const options = { zone: key, section: values.section.trim(), price: values.price.trim(), rows, rowStart: values.rowStart, without, seatScheme };
    board.run(t("step.add_rows"), { do: "all", commands: [...before, ...commands, editing.addRows(board.map, options)] }, { choose: "new" });
    this.told(t("make.rows", { n: rows.length, seats: rows.flat().length }));
    this.#done();
  }

  #tables(values, at) {
    const { board } = this;
    const rows = this.#seats("table", values, at);
    const before = this.#first(rows.flat());
    const { key, commands } = this.#zone(values.zone || t("name.tables"), "reserved_seating");
    board.run(t("step.add_tables"), { do: "all", commands: [...before, ...commands, ...this.#everyTable(rows, key, values)] }, { choose: "new" });
    this.told(t("make.tables", { n: rows.length }));
    if (!at) this.#done();
  }

  // Their seats in one go, and their groups.
  #everyTable(rows, zone, values) {
    const { map } = this.board;
    const prefix = values.prefix || "T";
    let number = Number(editing.freeRowName(map, prefix).slice(prefix.length));
    const names = rows.map(() => `${prefix}${number++}`);
    const grown = editing.addRows(map, { zone, price: values.price.trim(), rows, rowStart: "1" });
    grown.set.row = rows.flatMap((row, n) => row.map(() => map.text(names[n])));
    let slot = map.count;
    const groups = rows.map((row, n) => ({ group_type: "vip_table", metadata: { name: t("name.table", { name: names[n] }) }, sold_whole: Boolean(values.soldWhole), seats: row.map(() => slot++) }));
    return [grown, { do: "sheet", set: { groups: [...map.sheet.groups, ...groups] } }];
  }

  #area(outline) {
    const { board } = this;
    const values = this.values("area");
    const before = this.#first(outline.map(([x, y]) => ({ x, y })));
    const { key, command } = editing.addZone(board.map, { name: editing.freeZoneName(board.map, values.name.trim() || t("name.floor")), zone_type: values.zone_type, capacity: values.capacity, outline });
    board.run(t("step.add_area"), { do: "all", commands: [...before, command] });
    this.#done();
    board.chooseZone(key);
  }

  #stage(stage) {
    const { board } = this;
    if (stage.width < 1 || stage.height < 1) return;
    board.run(t("step.stage"), editing.setStage(board.map, round(stage)));
    this.told(t("make.stage"));
    this.#done();
  }

  // With the first thing of an empty map comes a stage in front of it.
  #first(points) {
    const { map } = this.board;
    if (map.total || map.sheet.focus || map.sheet.zones.length || !points.length) return [];
    const box = bounds(points);
    const width = Math.max(200, Math.min(600, box.width * 0.5));
    return [editing.setStage(map, round({ x: box.x, y: box.top - 90, width, height: 70 }))];
  }

  // In front of the seats, or around the middle of an empty map.
  #front({ height }) {
    const { board } = this;
    if (!board.map.total) return { x: 0, y: -height / 2 };
    const { box } = board.grid;
    return { x: (box.left + box.right) / 2, y: box.top - board.pitch * 2 - height / 2 };
  }

  // A square with room for as many, half a square metre for each where two seats are a metre.
  #square(at, people) {
    const { board } = this;
    const side = Math.max(6, Math.sqrt(people * 1.4)) * board.pitch;
    const height = side * 0.7;
    const { x, y } = at ?? this.#room({ height });
    return rectangle({ x: x - side / 2, y: y - height / 2 }, { x: x + side / 2, y: y + height / 2 });
  }

  #zone(name, zone_type) {
    const { map } = this.board;
    const known = map.sheet.zones.find((zone) => zone.name === name.trim());
    if (known && numbered(known)) return { key: known.key, commands: [] };
    const { key, command } = editing.addZone(map, { name: editing.freeZoneName(map, name.trim()), zone_type });
    return { key, commands: [command] };
  }

  #done() {
    this.board.preview = null;
    this.board.use("select");
    this.board.showWhole();
    this.painter.canvas.focus({ preventScroll: true }); // the form, and with it the focus, is gone
  }
}

const figures = (text) => text.split(/[\s,;]+/).map(Number).filter((number) => number > 0);

function tables({ count, seats, across, shape }) {
  const one = shape === "round" ? roundTable(seats) : longTable(seats, 25, shape === "ends");
  const box = bounds(one);
  const [width, height] = [box.width + 70, box.height + 70];
  return Array.from({ length: count }, (_, n) => moved(one, (n % across) * width, Math.floor(n / across) * height));
}

const rectangle = (from, to) => {
  const [left, right] = [Math.min(from.x, to.x), Math.max(from.x, to.x)].map(Math.round);
  const [top, bottom] = [Math.min(from.y, to.y), Math.max(from.y, to.y)].map(Math.round);
  return [[left, top], [right, top], [right, bottom], [left, bottom]];
};

const round = ({ x, y, width, height }) => ({ x: Math.round(x), y: Math.round(y), width: Math.round(width), height: Math.round(height) });
const withStage = (box) => ({ ...box, top: box.top - 150, height: box.height + 150 });
