// The map as a list: zones, their sections and rows, to choose and edit them without the drawing.

import { fromTheFront, sectionsOf } from "./rows.js";
import { numbered } from "./seat-map.js";
import { t } from "./words.js";

const MOST_OPEN = 80; // rows; larger sections start closed

export class Outline {
  constructor(place, board, painter) {
    Object.assign(this, { place, board, painter, open: new Map() });
    board.addEventListener("change", () => this.#soon());
    board.addEventListener("choice", () => this.#mark());
    place.addEventListener("toggle", (event) => this.#toggled(event.target), true);
    place.addEventListener("change", (event) => this.#chosen(event.target));
    place.addEventListener("click", (event) => event.target.dataset.zone && this.#zone(Number(event.target.dataset.zone)));
  }

  // Only while it is to be seen: a stadium has thousands of rows.
  #soon() {
    this.stale = true;
    if (!this.place.closest("[hidden]")) this.show();
  }

  show() {
    if (!this.stale) return;
    this.stale = false;
    this.rows = [];
    const parts = sectionsOf(this.board.map).map(({ zone, sections }) => this.#part(zone, sections));
    this.place.replaceChildren(...parts);
    this.#mark();
  }

  #part(zone, sections) {
    const part = document.createElement("div");
    const heading = document.createElement("h3");
    const button = Object.assign(document.createElement("button"), { type: "button", className: "plain", textContent: zone.name || t("name.none") });
    button.dataset.zone = zone.key;
    heading.append(button);
    part.append(heading);
    if (!numbered(zone)) part.append(text("p", t("list.places", { n: zone.capacity }), "quiet"));
    else if (!sections.length) part.append(text("p", t("list.no_seats"), "quiet"));
    part.append(...sections.map((section) => this.#section(zone, section)));
    return part;
  }

  #section(zone, section) {
    const details = document.createElement("details");
    details.dataset.section = `${zone.key}/${section.name}`;
    details.open = this.open.get(details.dataset.section) ?? section.rows.length <= MOST_OPEN;
    details.append(text("summary", t("list.section", { name: section.name || t("list.rows"), n: section.rows.length, seats: t("seats", { n: section.seats }) })));
    details.section = section;
    if (details.open) this.#fill(details);
    return details;
  }

  #fill(details) {
    if (details.querySelector("ul")) return;
    const list = Object.assign(document.createElement("ul"), { className: "plain rows" });
    list.append(...fromTheFront(this.board.map, details.section.rows).map((row) => this.#row(row)));
    details.append(list);
  }

  #row(row) {
    const item = document.createElement("li");
    const label = document.createElement("label");
    const box = Object.assign(document.createElement("input"), { type: "checkbox" });
    box.row = row;
    this.rows.push(box);
    const { map } = this.board;
    label.append(box, ` ${t("list.row", { row: row.label })}`, text("span", ` ${t("list.seats", { n: row.slots.length, first: map.words(row.slots[0], "number"), last: map.words(row.slots.at(-1), "number") })}`, "quiet"));
    item.append(label);
    return item;
  }

  #toggled(details) {
    if (!details.section) return;
    this.open.set(details.dataset.section, details.open);
    if (details.open) this.#fill(details);
    this.#mark();
  }

  #chosen(box) {
    if (!box.row) return;
    this.own = true;
    this.board.choose(box.row.slots, box.checked ? "add" : "take");
    this.own = false;
    this.painter.changed();
  }

  #zone(key) {
    this.board.chooseZone(key);
    this.board.use("select");
    this.place.dispatchEvent(new CustomEvent("edit", { bubbles: true }));
  }

  #mark() {
    if (this.own || !this.rows || this.place.closest("[hidden]")) return;
    const { chosen } = this.board;
    for (const box of this.rows) box.checked = box.row.slots.every((slot) => chosen[slot]);
  }
}

function text(name, words, look = "") {
  return Object.assign(document.createElement(name), { textContent: words, className: look });
}
