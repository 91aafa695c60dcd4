// The panel beside the drawing: what is chosen, in figures that can be changed.

import { PATTERNS } from "./categories.js";
import * as editing from "./editing.js";
import { curveOf } from "./geometry.js";
import { pointsOf, rowsAmong } from "./rows.js";
import { KINDS, numbered } from "./seat-map.js";
import { drawSeat } from "./skin.js";
import { shown, t } from "./words.js";

const MIXED = () => t("several"); // as a placeholder: it stays as it is
const scheme = (values) => ({ start: values.start, count: values.count, backwards: values.direction === "left", without: values.without ? "IO" : "" });

export class Panel {
  constructor(root, board, actions) {
    Object.assign(this, { root, board, actions });
    const forms = {
      labels: (values, form) => this.#labels(values, form),
      "number-seats": (values) => actions.run(t("step.number_seats"), () => editing.renumberSeats(board.map, board.list(), scheme(values))),
      "number-rows": (values) => actions.run(t("step.number_rows"), () => editing.renumberRows(board.map, board.list(), { ...values, without: "IO" })),
      bend: ({ curve }) => actions.run(t("step.bend"), () => editing.bend(board.map, board.list(), Number(curve))),
      space: ({ spacing }) => actions.run(t("step.space"), () => editing.space(board.map, board.list(), Number(spacing))),
      turn: ({ degrees }) => actions.turn(Number(degrees)),
      group: (values) => actions.run(t("step.group"), () => editing.addGroup(board.map, board.list(), values.group_type, values.name.trim(), Boolean(values.soldWhole))),
      zone: (values) => this.#zone(values),
    };
    for (const [name, apply] of Object.entries(forms)) {
      const form = this.form(name);
      form.addEventListener("submit", (event) => {
        event.preventDefault();
        apply(Object.fromEntries(new FormData(form)), form);
      });
    }
    for (const event of ["change", "choice"]) board.addEventListener(event, () => this.#soon());
    board.addEventListener("tool", () => this.show()); // at once: its first field may get the focus
    this.show();
  }

  form(name) {
    return this.root.querySelector(`form[data-form="${name}"]`);
  }

  // Once for a whole burst of steps.
  #soon() {
    this.wanted ??= requestAnimationFrame(() => {
      this.wanted = undefined;
      this.show();
    });
  }

  show() {
    const { board } = this;
    const empty = !board.map.total && !board.map.sheet.zones.length;
    const what = board.tool !== "select" && board.tool !== "pan" ? `tool-${board.tool}` : board.list().length ? "seats" : board.zone !== null ? "zone" : empty ? "" : "nothing";
    for (const part of this.root.querySelectorAll("[data-when]")) part.hidden = part.dataset.when === "empty" ? !empty : part.dataset.when !== what;
    for (const button of this.root.querySelectorAll("[data-tool]")) button.setAttribute("aria-pressed", button.dataset.tool === board.tool);
    for (const button of this.root.querySelectorAll("[data-start]")) button.setAttribute("aria-pressed", button.dataset.start === board.tool);
    this.#names();
    if (what === "seats") this.#seats();
    else if (what === "zone") this.#zoneForm();
    else if (what === "nothing") this.#whole();
    if (board.readOnly) for (const control of this.root.querySelectorAll("form input, form select, form button, .panel [data-do]:not([data-do=check])")) control.disabled = true;
  }

  #names() {
    const { board, root } = this;
    const zones = board.map.sheet.zones.filter(numbered).map((zone) => new Option(zone.name, zone.name));
    root.querySelector("#zone-names").replaceChildren(...zones);
    root.querySelector("#price-names").replaceChildren(...[...board.looks.keys()].map((name) => new Option(name, name)));
    this.form("labels").elements.zone.replaceChildren(...board.map.sheet.zones.filter(numbered).map((zone) => new Option(zone.name, zone.key)));
  }

  #seats() {
    const { map } = this.board;
    const slots = this.board.list();
    const rows = rowsAmong(map, slots);
    const seats = t("seats", { n: slots.length });
    this.root.querySelector("[data-chosen-title]").textContent = rows.length === 1 ? t("chosen.row", { row: rows[0].label, seats }) : t("chosen.rows", { seats, n: rows.length });
    const pairs = slots.filter((slot) => map.columns.companion[slot] >= 0).length;
    const groups = map.sheet.groups.filter((group) => group.seats.some((slot) => this.board.chosen[slot]));
    this.root.querySelector("[data-chosen-words]").textContent = [
      pairs && t("chosen.paired", { n: pairs }), ...groups.slice(0, 2).map((group) => t(group.sold_whole ? "chosen.in_whole" : "chosen.in", { name: group.metadata.name ?? t("chosen.a_group") })),
    ].filter(Boolean).join(" · ");
    const form = this.form("labels");
    for (const column of ["section", "row", "number", "price"]) this.#field(form.elements[column], this.#shared(slots, (slot) => map.words(slot, column)));
    this.#choice(form.elements.zone, this.#shared(slots, (slot) => map.columns.zone[slot]));
    this.#choice(form.elements.kind, this.#shared(slots, (slot) => KINDS[map.columns.kind[slot]]));
    this.root.querySelector("[data-rows-only]").hidden = slots.length < 2;
    const line = rows[0].slots;
    if (document.activeElement?.form !== this.form("bend")) this.form("bend").elements.curve.value = curveOf(pointsOf(map, line), map.zone(rows[0].zone)?.focus ?? map.sheet.focus ?? { x: 0, y: -1e7 });
    if (document.activeElement?.form !== this.form("space")) this.form("space").elements.spacing.value = Math.round(editing.usual(pointsOf(map, line)) * 100) / 100;
  }

  // What all of them have, or undefined.
  #shared(slots, of) {
    const first = of(slots[0]);
    return slots.every((slot) => of(slot) === first) ? first : undefined;
  }

  #field(input, value) {
    input.placeholder = value === undefined ? MIXED() : "";
    input.value = input.defaultValue = value ?? "";
  }

  #choice(select, value) {
    select.querySelector("option[value=several]")?.remove();
    if (value === undefined) select.prepend(new Option(t("several_choice"), "several"));
    select.value = select.dataset.before = value ?? "several";
  }

  // Only what was changed: a field that says several stays as it is.
  #labels(values, form) {
    const { board, actions } = this;
    const slots = board.list();
    const commands = [];
    for (const column of ["section", "row", "number", "price"]) {
      const input = form.elements[column];
      if (input.value !== input.defaultValue) commands.push(editing.setTexts(board.map, slots, column, values[column].trim()));
    }
    if (values.zone !== form.elements.zone.dataset.before && values.zone !== "several") commands.push(editing.setZone(slots, Number(values.zone)));
    if (commands.length) actions.run(t("step.labels"), { do: "all", commands });
    if (values.kind !== form.elements.kind.dataset.before && values.kind !== "several") actions.kind(values.kind);
  }

  #zoneForm() {
    const { board } = this;
    const zone = board.map.zone(board.zone);
    const { elements } = this.form("zone");
    for (const name of ["name", "zone_type", "access_mode"]) elements[name].value = zone[name];
    elements.membership_tier.value = zone.membership_tier ?? "";
    elements.allowed_roles.value = zone.allowed_roles.join(", ");
    elements.capacity.value = numbered(zone) ? Math.max(1, [...board.map.seats()].filter((slot) => board.map.columns.zone[slot] === zone.key).length) : zone.capacity;
    elements.capacity.disabled = numbered(zone);
    const seated = [...elements.zone_type.options];
    for (const option of seated) option.disabled = numbered({ zone_type: option.value }) !== numbered(zone) && board.map.total > 0 && numbered(zone);
  }

  #zone(values) {
    const { board, actions } = this;
    const zone = board.map.zone(board.zone);
    const capacity = values.capacity === undefined ? zone.capacity : Number(values.capacity);
    const allowed_roles = values.allowed_roles.split(/[\s,]+/).filter(Boolean);
    const changes = { name: values.name.trim(), zone_type: values.zone_type, access_mode: values.access_mode, membership_tier: values.membership_tier.trim() || null, allowed_roles, capacity };
    actions.run(t("step.zone"), editing.changeZone(board.map, board.zone, changes));
  }

  #whole() {
    const { board, root } = this;
    const { map } = board;
    const counts = new Map();
    for (const slot of map.seats()) counts.set(map.columns.zone[slot], (counts.get(map.columns.zone[slot]) ?? 0) + 1);
    const places = (zone) => (numbered(zone) ? (counts.get(zone.key) ?? 0) : zone.capacity);
    root.querySelector("[data-fact=seats]").textContent = shown(map.total);
    root.querySelector("[data-fact=capacity]").textContent = shown(map.sheet.zones.reduce((sum, zone) => sum + places(zone), 0));
    const zones = map.sheet.zones.map((zone) => {
      const item = document.createElement("li");
      const button = Object.assign(document.createElement("button"), { type: "button", className: "plain", textContent: zone.name || t("name.none") });
      button.addEventListener("click", () => board.chooseZone(zone.key));
      const words = Object.assign(document.createElement("span"), { className: "quiet", textContent: t(numbered(zone) ? "seats" : "places", { n: places(zone) }) });
      item.append(button, words);
      return item;
    });
    root.querySelector("[data-zones]").replaceChildren(...zones);
    if (!root.querySelector("[data-categories]").contains(document.activeElement)) this.#categories();
  }

  #categories() {
    const lines = [...this.board.looks.values()].map((look, at) => this.#category(look, at));
    this.root.querySelector("[data-categories]").replaceChildren(...lines);
  }

  // Name, colour and pattern of one, with a seat as it will look.
  #category(look, at) {
    const line = Object.assign(document.createElement("div"), { className: "category" });
    const swatch = Object.assign(document.createElement("canvas"), { width: 44, height: 44, className: "swatch" });
    drawSeat(swatch.getContext("2d"), 44, look, 0, 0, {});
    const name = Object.assign(document.createElement("input"), { value: look.name, maxLength: 60 });
    name.setAttribute("aria-label", t("price.name", { n: at + 1 }));
    const colour = Object.assign(document.createElement("input"), { type: "color", value: look.colour });
    colour.setAttribute("aria-label", t("price.colour", { name: look.name }));
    const pattern = document.createElement("select");
    pattern.setAttribute("aria-label", t("price.pattern", { name: look.name }));
    pattern.append(...PATTERNS.map((each) => new Option(t(`pattern.${each}`), each)));
    pattern.value = look.pattern;
    const change = () => {
      const list = [...this.board.looks.values()].map((each) => (each.name === look.name ? { name: name.value.trim() || look.name, colour: colour.value, pattern: pattern.value } : each));
      const renamed = name.value.trim() && name.value.trim() !== look.name ? { from: look.name, to: name.value.trim() } : null;
      document.activeElement?.blur?.();
      this.actions.run(t("step.price"), editing.setCategories(this.board.map, list, renamed));
    };
    for (const input of [name, colour, pattern]) input.addEventListener("change", change);
    line.append(swatch, name, colour, pattern);
    return line;
  }
}
