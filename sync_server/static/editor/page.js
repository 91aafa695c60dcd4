// The editor's page: puts its parts together, and does what its buttons say.

import { Actions } from "./actions.js";
import { Background } from "./background.js";
import { Board } from "./board.js";
import { Checks } from "./checks.js";
import * as editing from "./editing.js";
import { Keys } from "./keys.js";
import { Makers } from "./makers.js";
import { Notice } from "./notice.js";
import { Outline } from "./outline.js";
import { Painter } from "./painting.js";
import { Panel } from "./panel.js";
import { Pointer } from "./pointer.js";
import { Saving } from "./saving.js";
import { Server } from "./server.js";
import { Tabs } from "./tabs.js";
import { Versions } from "./versions.js";
import { t } from "./words.js";

const TOLD_MS = 6000;

class Page {
  constructor(root) {
    this.root = root;
    const find = (name) => root.querySelector(`[data-${name}]`);
    this.find = find;
    const told = (words) => this.told(words);
    this.board = new Board();
    this.board.readOnly = "readOnly" in root.dataset;
    this.painter = new Painter(find("canvas"), this.board);
    this.makers = new Makers(root, this.board, this.painter, told);
    this.actions = new Actions(this.board, this.painter, this.makers, told);
    this.pointer = new Pointer(find("canvas"), this.board, this.painter, this.makers);
    this.server = new Server(root.dataset);
    this.saving = new Saving(this.board, this.server, root.dataset.who);
    this.tabs = new Tabs(root);
    this.notice = new Notice(root);
    this.checks = new Checks(root, this.board, this.saving, (finding) => this.show(finding));
    this.versions = new Versions(root, this.server, this.saving, this.notice, told);
    new Panel(root, this.board, this.actions);
    this.outline = new Outline(find("outline"), this.board, this.painter);
    new Background(root, this.board, this.painter, told);
    new Keys(find("canvas"), this.board, this.#keyed(), this.painter, this.pointer);
  }

  // The actions, and those that are more than a step of the map.
  #keyed() {
    this.doing = {
      save: () => this.save(), publish: () => this.checks.publish(this.server), check: () => this.check(),
      reallyPublish: () => this.publish(), closeDialog: () => this.find("publish").close(),
      alignLeft: () => this.actions.align("left"), alignMiddle: () => this.actions.align("middle"), alignRight: () => this.actions.align("right"),
      aisle: () => this.actions.aisle(true), noAisle: () => this.actions.aisle(false),
      zoneSeats: () => this.#zoneSeats(), removeZone: () => this.actions.run(t("step.delete_zone"), editing.removeZone(this.board.map, this.board.zone)),
      addCategory: () => this.#addCategory(),
    };
    const { actions, doing } = this;
    return new Proxy(actions, { get: (target, name) => doing[name] ?? (typeof target[name] === "function" ? target[name].bind(target) : target[name]) });
  }

  told(words) {
    const field = this.find("told");
    field.textContent = words;
    clearTimeout(this.telling);
    this.telling = setTimeout(() => (field.textContent = ""), TOLD_MS);
  }

  async start() {
    this.#listen();
    try {
      await this.saving.open();
      this.find("map-name").value = this.board.map.sheet.name === t("name.map") ? this.find("map-name").value : this.board.map.sheet.name;
      if (this.server.status === "new" && !this.board.map.total) this.board.map.sheet.name = this.find("map-name").value;
      this.board.showWhole();
      this.painter.changed();
      this.root.dataset.ready = "";
    } catch (problem) {
      this.notice.show(t("open.failed", { why: problem.message }), { [t("open.again")]: () => location.reload() });
    }
  }

  #listen() {
    const { board, painter, root } = this;
    const repaint = () => painter.changed();
    for (const name of ["change", "choice", "tool", "view"]) board.addEventListener(name, repaint);
    board.addEventListener("change", () => this.#buttons());
    this.saving.addEventListener("state", ({ detail }) => this.#state(detail));
    this.saving.addEventListener("conflict", () => this.versions.conflict());
    this.saving.addEventListener("stored", () => this.#stored());
    root.addEventListener("click", (event) => this.#clicked(event.target.closest("button")));
    root.addEventListener("edit", () => this.tabs.open("edit"));
    root.addEventListener("panel", () => (this.outline.show(), this.checks.show()));
    this.find("map-name").addEventListener("change", ({ target }) => board.run(t("step.name"), { do: "sheet", set: { name: target.value.trim() } }));
    this.find("snapping").addEventListener("change", ({ target }) => ((board.snapping = target.checked), painter.redraw()));
    this.find("import").addEventListener("change", ({ target }) => this.versions.read(target.files[0]));
    this.#buttons();
  }

  #clicked(button) {
    if (!button) return;
    const { tool, start, view } = button.dataset;
    const name = button.dataset.do;
    if (tool ?? start) this.board.use(tool ?? start);
    if (view === "whole") this.board.showWhole();
    else if (view) this.actions.zoom(view === "nearer" ? 1.5 : 1 / 1.5);
    if (name) (this.doing[name] ?? this.actions[name].bind(this.actions))();
    if (start || (tool && !["select", "pan"].includes(tool))) this.tabs.open("edit");
    if (start) this.root.querySelector(`form[data-form="${start}"] input`).select();
  }

  #buttons() {
    const { history, readOnly } = this.board;
    const button = (name) => this.root.querySelector(`[data-do=${name}]`);
    button("undo").disabled = !history.done.length;
    button("redo").disabled = !history.undone.length;
    for (const name of ["save", "publish"]) button(name).hidden = readOnly;
  }

  #state({ words, look }) {
    const field = this.find("saved");
    field.textContent = words;
    field.dataset.look = look;
    const { status, version } = this.server;
    this.root.querySelector("[data-do=save]").textContent = status === "active" || status === "archived" ? t("save.as_version", { version: version + 1 }) : t("save.button");
    this.root.querySelector("[data-do=publish]").disabled = status === "active" && !this.saving.dirty;
  }

  async save() {
    const before = this.saving.dirty;
    if (await this.saving.save()) this.told(t(before ? "save.saved" : "save.nothing"));
    else if (this.saving.mistakes.length) this.#showChecks();
  }

  async check() {
    await this.saving.save();
    this.#showChecks();
  }

  #showChecks() {
    this.tabs.open("check");
    this.checks.show();
  }

  async publish() {
    this.find("publish").close();
    try {
      await this.server.publish();
      this.told(t("publish.done", { version: this.server.version }));
      this.#state({ words: t("publish.is", { version: this.server.version }), look: "good" });
      this.versions.refresh();
    } catch (problem) {
      this.notice.show(t("publish.failed", { why: problem.message }));
    }
  }

  #stored() {
    const address = `${this.root.dataset.pages}/${this.server.id}`;
    if (location.pathname !== address) history.replaceState(null, "", address);
    this.versions.refresh();
  }

  // Jumps to what a finding is about.
  show({ seats, zone, tool }) {
    if (tool) return this.board.use(tool), this.tabs.open("edit");
    if (seats.length) {
      this.board.choose(seats);
      this.board.show(seats);
    } else if (zone !== undefined) this.board.chooseZone(zone);
    this.board.use("select");
    this.tabs.open("edit");
    this.find("canvas").focus({ preventScroll: false });
  }

  #zoneSeats() {
    const { map, zone } = this.board;
    this.board.choose([...map.seats()].filter((slot) => map.columns.zone[slot] === zone));
  }

  #addCategory() {
    const list = [...this.board.looks.values()];
    const name = ["standard", "premium", "reduced", "balcony"].map((each) => t(`name.${each}`)).find((each) => !this.board.looks.has(each)) ?? t("name.category", { n: list.length + 1 });
    const used = { name, colour: undefined, pattern: undefined };
    this.actions.run(t("step.category"), editing.setCategories(this.board.map, [...list, used]));
  }
}

const root = document.querySelector("#seat-map");
if (root) {
  const page = new Page(root);
  page.start();
  root.page = page;
}
