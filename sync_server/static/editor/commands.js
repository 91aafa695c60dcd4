// Changes of a map as plain data: applying one returns the command that takes it back.

import { COLUMNS } from "./seat-map.js";

const MOST = 200; // steps that can be taken back

// "seats" sets columns of seats, "grow" appends seats, "sheet" replaces parts of the rest, "all" does several, "map"
// puts a whole other map in its place.
const APPLIED = {
  seats(map, { at, set }) {
    const before = {};
    for (const [column, values] of Object.entries(set)) {
      const stored = map.columns[column];
      before[column] = at.map((slot) => stored[slot]);
      at.forEach((slot, n) => (stored[slot] = Array.isArray(values) ? values[n] : values));
    }
    return { do: "seats", at, set: before };
  },
  grow(map, { seats, set }) {
    const start = map.count;
    map.grow(seats);
    for (const column of Object.keys(COLUMNS)) {
      const value = set[column] ?? (column === "companion" ? -1 : 0);
      for (let n = 0; n < seats; n++) map.columns[column][start + n] = Array.isArray(value) ? value[n] : value;
    }
    return { do: "seats", at: Array.from({ length: seats }, (_, n) => start + n), set: { alive: 0 } };
  },
  sheet(map, { set }) {
    const before = Object.fromEntries(Object.keys(set).map((name) => [name, map.sheet[name]]));
    map.sheet = { ...map.sheet, ...set };
    return { do: "sheet", set: before };
  },
  map(map, { value }) {
    const before = map.kept();
    map.hold(value);
    return { do: "map", value: before };
  },
  all(map, { commands }) {
    return { do: "all", commands: commands.map((command) => apply(map, command)).reverse() };
  },
};

export function apply(map, command) {
  map.revision++;
  return APPLIED[command.do](map, command);
}

// What was done and can be taken back, and what was taken back and can be done again.
export class History {
  constructor(map) {
    [this.map, this.done, this.undone] = [map, [], []];
  }

  // Steps with the same `join` in a row are one: a row that is pushed along by ten arrow keys comes back in one.
  run(label, command, join = null) {
    const last = this.done.at(-1);
    const back = apply(this.map, command);
    if (join && last?.join === join && !this.undone.length) last.back = { do: "all", commands: [back, last.back] };
    else this.done.push({ label, back, join });
    if (this.done.length > MOST) this.done.shift();
    this.undone = [];
  }

  undo() {
    return this.#move(this.done, this.undone);
  }

  redo() {
    return this.#move(this.undone, this.done);
  }

  #move(from, to) {
    const step = from.pop();
    if (!step) return null;
    to.push({ ...step, back: apply(this.map, step.back) });
    return step.label;
  }
}
