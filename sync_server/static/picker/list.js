// The same choice as a list, for whoever cannot or does not want to use a map: zone, row, seats, each with its name and price.

import { el, say } from "./dom.js";
import { FREE } from "./live.js";

export class SeatList {
  constructor(pane, picker) {
    Object.assign(this, { pane, picker, rows: new Map(), zones: new Map() });
    const { layout } = picker.live;
    for (const [index, zone] of layout.zones.entries()) {
      if (zone.open && zone.numbered) pane.append(this.#zone(zone, layout.rows.filter((row) => row.zone === index)));
    }
  }

  #zone(zone, rows) {
    const summary = el("span", { class: "list-count" });
    const body = el("div", { class: "list-rows" });
    this.zones.set(zone.number, { zone, summary });
    const filled = { done: false };
    const open = (event) => {
      if (event.target !== made || filled.done) return;
      filled.done = true;
      body.append(...rows.map((row) => this.#row(row)));
    };
    const made = el("details", { class: "list-zone", ontoggle: open }, el("summary", {}, el("b", {}, zone.name), " ", summary), body);
    return made;
  }

  #row(row) {
    const { words } = this.picker;
    const name = words.t("list.row", { row: row.section ? `${row.section}, ${row.label}` : row.label });
    const count = el("span", { class: "list-count" });
    const body = el("div", { class: "list-seats", role: "group", "aria-label": name });
    const entry = { row, count, seats: new Map() };
    this.rows.set(row.number, entry);
    const fill = () => {
      if (entry.seats.size) return;
      for (let n = row.start; n < row.start + row.count; n++) body.append(this.#seat(entry, n));
      this.#showRow(entry);
    };
    this.#countRow(entry);
    return el("details", { class: "list-row", ontoggle: fill }, el("summary", {}, el("span", {}, name), " ", count), body);
  }

  #seat(entry, n) {
    const { picker } = this;
    const button = el("button", { type: "button", class: `list-seat${picker.live.layout.aisles.has(n) ? " aisle" : ""}`, onclick: () => picker.toggle(n) }, picker.live.layout.label(n));
    entry.seats.set(n, button);
    return button;
  }

  // How many are free in a row, and how many of them side by side.
  #countRow({ row, count }) {
    const { words, live } = this.picker;
    let [free, run, longest] = [0, 0, 0];
    for (let n = row.start; n < row.start + row.count; n++) {
      run = live.states[n] === FREE ? run + 1 : 0;
      free += run > 0;
      longest = Math.max(longest, run);
      if (live.layout.aisles.has(n)) run = 0;
    }
    say(count, free ? words.t("list.free", { n: free, together: longest }) : words.t("sold_out"));
  }

  #showRow(entry) {
    const { picker } = this;
    for (const [n, button] of entry.seats) {
      const mine = picker.basket.chosen.has(n) || picker.basket.held.has(n);
      button.setAttribute("aria-pressed", String(mine));
      button.setAttribute("aria-disabled", String(!mine && !picker.may(n)));
      button.setAttribute("aria-label", picker.describe(n));
      button.dataset.pattern = picker.patternOf(n);
    }
  }

  // These seats changed: for others, or by the guest.
  change(seats) {
    const rows = new Set(seats.map((n) => this.picker.live.layout.rowOf[n]));
    for (const number of rows) {
      const entry = this.rows.get(number);
      if (!entry) continue;
      this.#countRow(entry);
      this.#showRow(entry);
    }
  }

  showZones() {
    const { words } = this.picker;
    for (const { zone, summary } of this.zones.values()) say(summary, this.picker.zoneNow(zone).words);
  }
}
