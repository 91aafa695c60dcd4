// The seat picker of the shop: choose freely first, on a map or from a list; then hold everything at once.

import { SeatMap } from "../seat-map/seat-map.js";
import { step } from "../seat-map/walk.js";
import { Api } from "./api.js";
import { Bar } from "./bar.js";
import { Basket } from "./basket.js";
import { BestPanel } from "./best.js";
import { say } from "./dom.js";
import { legend } from "./legend.js";
import { SeatList } from "./list.js";
import { CLOSED, FREE, LiveSeats } from "./live.js";
import { Looks } from "./looks.js";
import { Notes } from "./notes.js";
import { Overview } from "./overview.js";
import { Places } from "./places.js";
import { Prices, priceGroups } from "./prices.js";
import { explain, leftSingle } from "./refusals.js";
import { shopSkin } from "./skin.js";
import { Memory } from "./storage.js";
import { Words } from "./words.js";

const ZOOM_STEP = 1.6;
const OFFER_ZOOM = 26; // pixels from seat to seat where seats are shown to somebody

class Picker {
  constructor(root) {
    this.root = root;
    this.config = JSON.parse(root.dataset.config);
    this.words = new Words(this.config);
    this.memory = new Memory(this.config.event, this.config.shop);
    this.api = new Api(this.config.shop, this.memory);
    this.day = this.#chosenDay();
    this.prices = new Prices(this.config.prices, this.day);
    this.basket = new Basket(this.config.limit);
    this.notes = new Notes(this.find("note"));
    this.offered = new Set();
  }

  find(name) {
    return this.root.querySelector(`[data-${name}]`);
  }

  get days() {
    return this.day ? { days: [this.day] } : {};
  }

  // As it was chosen before; else every day, where something is sold for that.
  #chosenDay() {
    const days = [...(this.find("day")?.options ?? [])].map(({ value }) => value);
    const before = this.memory.choice.day;
    return days.includes(before) ? before : (days[0] ?? "");
  }

  async start() {
    try {
      this.live = await new LiveSeats({ map: this.config.map, changes: this.config.changes, day: this.day }).load();
    } catch {
      this.root.dataset.failed = "true";
      return this.notes.show("bad", this.words.t("no_map"), [[this.words.t("again"), () => location.reload()], [this.words.t("to_event"), () => location.assign(this.config.event_page)]]);
    }
    this.groups = priceGroups(this.live.layout, this.prices);
    this.looks = new Looks(this);
    this.#draw();
    this.#panels();
    this.#listen();
    this.#remember();
    this.root.dataset.ready = "true";
    this.live.follow();
    if (this.memory.visited) await this.readHolds().catch((problem) => this.refused(problem, []));
  }

  #draw() {
    const { layout } = this.live;
    this.overview = new Overview(layout, this.groups, (zone) => this.zoneNow(zone));
    this.map = new SeatMap(this.find("canvas"), layout, this.looks.of, { ...shopSkin(this.words), far: this.overview, wordsOfZone: (zone) => this.zoneNow(zone).words, over: (ctx, view, ink) => this.#circles(ctx, view, ink) });
    this.find("skeleton").hidden = true;
  }

  #panels() {
    legend(this.find("legend"), this.find("signs"), this);
    [this.bar, this.list, this.places] = [new Bar(this.find("bar"), this), new SeatList(this.find("list"), this), new Places(this.find("places"), this)];
    const best = this.find("best-panel");
    const numbered = this.live.layout.count > 0;
    this.find("best").hidden = !numbered;
    this.find("pane-map").hidden = this.find("switch").hidden = !numbered;
    if (numbered) this.best = new BestPanel(best, this);
    this.find("best").addEventListener("click", () => this.openBest(best.hidden));
    for (const button of this.root.querySelectorAll("[data-show]")) button.addEventListener("click", () => this.showPane(button.dataset.show));
    const day = this.find("day");
    if (day) {
      day.value = this.day;
      day.addEventListener("change", () => ((this.memory.choice = { seats: [], places: [], day: day.value }), location.reload()));
    }
  }

  openBest(open) {
    this.find("best-panel").hidden = !open;
    this.find("best").setAttribute("aria-expanded", String(open));
    if (!open) this.best.clear();
  }

  showPane(name) {
    for (const button of this.root.querySelectorAll("[data-show]")) button.setAttribute("aria-pressed", String(button.dataset.show === name));
    this.find("pane-map").hidden = name !== "map";
    this.find("pane-list").hidden = name !== "list";
  }

  #listen() {
    const { live, map, basket } = this;
    live.addEventListener("seats", ({ detail }) => this.#othersTook(detail));
    live.addEventListener("zones", () => this.#showZones());
    live.addEventListener("connection", ({ detail }) => this.#connection(detail));
    live.addEventListener("replaced", () => location.reload());
    live.addEventListener("gone", () => this.notes.show("bad", this.words.t("event_gone"), [[this.words.t("to_event"), () => location.assign(this.config.event_page)]]));
    basket.addEventListener("change", ({ detail }) => this.#mineChanged(detail));
    map.addEventListener("pick", ({ detail }) => this.#picked(detail));
    map.addEventListener("zone", ({ detail }) => this.places.go(detail.number));
    map.addEventListener("hover", ({ detail }) => this.#hover(detail));
    map.addEventListener("look", () => this.#hover(undefined));
    map.canvas.addEventListener("keydown", (event) => this.#key(event));
    const views = { nearer: () => map.zoomToSeats(ZOOM_STEP), farther: () => map.zoomToSeats(1 / ZOOM_STEP), whole: () => map.whole() };
    for (const button of this.root.querySelectorAll("[data-view]")) button.addEventListener("click", views[button.dataset.view]);
    addEventListener("pagehide", () => live.stop());
    addEventListener("pageshow", (event) => event.persisted && (live.refresh(), live.follow(), this.readHolds().catch(() => {})));
    addEventListener("online", () => live.refresh());
  }

  // What was chosen in this tab before, as far as it is still free.
  #remember() {
    const { seats, places } = this.memory.choice;
    const kept = seats.length ? this.live.layout.find(seats).filter((n) => this.may(n)) : [];
    this.basket.add(kept);
    for (const [zone, count] of places) this.basket.want(zone, Math.min(count, this.live.zones.get(zone)?.available ?? 0));
    this.#showZones();
    this.bar.show();
  }

  // --- What seats are, in words ---

  priceOf(n) {
    return this.groups.groups[this.groups.groupOf[n]].price;
  }

  patternOf(n) {
    return this.groups.groups[this.groups.groupOf[n]].pattern;
  }

  // Whether the guest may choose a seat: a companion's only together with its wheelchair place.
  may(n) {
    const state = this.live.states[n];
    if (!this.priceOf(n)) return false;
    return state === FREE || (state === CLOSED && this.#companionOf(n).some((place) => this.basket.chosen.has(place) || this.basket.held.has(place)));
  }

  #companionOf(n) {
    return this.live.layout.placesBeside.get(n) ?? [];
  }

  shortName(n) {
    const { layout } = this.live;
    const row = layout.row(n);
    return this.words.t("seat_short", { part: row.short, row: row.label, seat: layout.label(n) });
  }

  nameOf(n) {
    const { layout } = this.live;
    const row = layout.row(n);
    return this.words.t("seat", { part: row.part, row: row.label, seat: layout.label(n) });
  }

  namesOf(seats) {
    const rows = new Map();
    for (const n of [...seats].sort((one, other) => one - other)) rows.set(this.live.layout.rowOf[n], [...(rows.get(this.live.layout.rowOf[n]) ?? []), n]);
    return this.words.list([...rows.values()].map((each) => this.#namesInRow(each)));
  }

  #namesInRow(seats) {
    const row = this.live.layout.row(seats[0]);
    const labels = seats.map((n) => this.live.layout.label(n));
    return this.words.t("seats_of_row", { n: seats.length, part: row.part, row: row.label, seats: this.words.list(labels) });
  }

  // Name, price, kind and state of a seat: for screen readers and under the pointer.
  describe(n) {
    const [price, sign] = [this.priceOf(n), this.live.layout.sign(n)];
    const state = this.basket.held.has(n) ? "held" : this.basket.chosen.has(n) ? "chosen" : this.may(n) ? "free" : this.live.states[n] === CLOSED || !price ? "closed" : "taken";
    return [this.nameOf(n), price && this.words.t(price.from ? "from" : "exactly", { price: this.words.amount(price.cents) }), sign !== "standard" && this.words.t(`sign.${sign}`), this.words.t(`state.${state}`)].filter(Boolean).join(", ");
  }

  zoneNow(zone) {
    const [price, left] = [this.prices.from(zone.number), this.live.zones.get(zone.number)?.available ?? 0];
    if (!price || !zone.open) return { soldOut: true, words: this.words.t("not_sold") };
    if (!left) return { soldOut: true, words: this.words.t("sold_out") };
    const cost = this.words.t(price.from ? "from" : "exactly", { price: this.words.amount(price.cents) });
    return { soldOut: false, words: `${cost} · ${this.words.t("left", { n: left })}` };
  }

  announce(text) {
    say(this.find("say"), text);
  }

  // --- Choosing ---

  #picked(n) {
    if (this.map.selected !== undefined) this.map.select(undefined);
    this.toggle(n);
  }

  toggle(n) {
    const { basket, words } = this;
    if (basket.held.has(n)) return this.release([basket.held.get(n)]);
    const together = this.live.layout.groups.find((group) => group.seats.includes(n))?.seats ?? [n];
    if (basket.chosen.has(n)) basket.drop(together);
    else if (!together.every((each) => this.may(each))) return this.announce(this.describe(n));
    else if (!basket.add(together)) return this.notes.show("warn", words.t("too_many", { n: basket.limit }));
    this.notes.clear();
    this.singles = [];
    this.announce(this.describe(n));
    this.#hint(n);
  }

  // Who comes in a wheelchair is told which seat is kept beside.
  #hint(n) {
    const beside = (this.live.layout.companions.get(n) ?? []).filter((each) => !this.basket.chosen.has(each) && this.may(each));
    if (this.basket.chosen.has(n) && beside.length) this.notes.show("", this.words.t("companion_hint", { seats: this.namesOf(beside) }), [[this.words.t("companion_add", { n: beside.length }), () => this.basket.add(beside)]]);
  }

  want(zone, count) {
    if (this.basket.want(zone, count)) return true;
    this.notes.show("warn", this.words.t("too_many", { n: this.basket.limit }));
    return false;
  }

  #mineChanged(chosen) {
    const seats = chosen.flatMap((n) => [n, ...(this.live.layout.companions.get(n) ?? [])]);
    this.looks.change(seats);
    this.map.change(seats);
    this.list.change(seats);
    this.places.show();
    this.bar.show();
    const { layout } = this.live;
    this.memory.choice = { seats: [...this.basket.chosen].map((n) => layout.seatId(n)), places: [...this.basket.wanted], day: this.day };
  }

  // Others took or released seats; what one had only chosen is told by name, and the rest stays.
  #othersTook(seats) {
    const lost = seats.filter((n) => this.basket.chosen.has(n) && !this.may(n) && !this.holding?.has(n));
    if (lost.length) this.#lose(lost);
    this.looks.change(seats);
    this.map.change(seats);
    this.list.change(seats);
  }

  #lose(seats) {
    this.basket.drop(seats);
    this.notes.show("warn", this.words.t("gone", { n: seats.length, seats: this.namesOf(seats) }), [[this.words.t("best.button"), () => this.openBest(true)]]);
  }

  #showZones() {
    this.list?.showZones();
    this.places?.show();
    const soldOut = this.live.layout.zones.map((zone) => this.zoneNow(zone).soldOut).join();
    if (soldOut !== this.soldOut) this.overview?.restart();
    this.soldOut = soldOut;
    this.map?.redraw();
  }

  #connection(state) {
    const lost = state === "lost";
    this.find("connection").hidden = !lost;
    if (lost) return this.announce(this.words.t("connection_lost"));
    this.notes.place.querySelector("[data-offline]")?.remove();
  }

  // --- Holding ---

  async hold() {
    const { basket, config, live } = this;
    if (this.busy || !basket.chosenSize) return;
    const seats = [...basket.chosen];
    this.#isBusy(true, seats);
    try {
      if (seats.length) await this.api.ask("POST", config.holds, { seat_ids: seats.map((n) => live.layout.seatId(n)), ...this.days });
      for (const [number, count] of [...basket.wanted]) {
        const zone = live.layout.zones.find((each) => each.number === number);
        await this.api.ask("POST", config.holds, { count, zone_id: zone.id, ...this.days });
        basket.want(number, 0);
      }
      await this.readHolds();
      this.notes.clear();
      this.bar.checkout.focus({ preventScroll: true });
      this.announce(this.words.t("held_now", { n: basket.heldSize, minutes: config.minutes }));
    } catch (problem) {
      await this.refused(problem, seats);
    } finally {
      this.#isBusy(false);
    }
  }

  #isBusy(busy, seats = []) {
    [this.busy, this.holding] = [busy, busy ? new Set(seats) : undefined];
    this.bar.bar.classList.toggle("busy", busy);
    this.bar.hold.disabled = busy;
  }

  async take(seats) {
    this.openBest(false);
    if (!this.basket.add(seats)) return this.notes.show("warn", this.words.t("too_many", { n: this.basket.limit }));
    await this.hold();
  }

  // What the server holds for this guest at the event.
  async readHolds() {
    const { data } = await this.api.ask("GET", `/api/me/holds?event=${this.config.event}`);
    const now = Date.now();
    const holds = data.holds.map((hold) => ({ id: hold.hold_id, name: hold.seat_name, zone: hold.zone, quantity: hold.quantity ?? 1, endsAt: hold.status === "held" ? now + hold.expires_in_seconds * 1000 : NaN }));
    const seated = holds.filter((hold) => hold.name);
    const numbers = seated.length ? new Map(this.live.layout.find(seated.map((hold) => hold.name)).map((n) => [this.live.layout.seatId(n), n])) : new Map();
    this.basket.setHolds(
      new Map(seated.filter((hold) => numbers.has(hold.name)).map((hold) => [numbers.get(hold.name), hold])),
      holds.filter((hold) => !hold.name),
    );
  }

  async release(holds) {
    try {
      for (const hold of holds) await this.api.ask("DELETE", `/api/holds/${hold.id}`);
      await this.readHolds();
      this.announce(this.words.t("released"));
    } catch (problem) {
      this.refused(problem, []);
    }
  }

  async extend() {
    this.extended = true;
    try {
      for (const hold of this.basket.holds) await this.api.ask("POST", `/api/holds/${hold.id}/extend`, {});
      this.announce(this.words.t("bar.extended"));
    } catch (problem) {
      this.refused(problem, []);
    }
    await this.readHolds().catch(() => {});
  }

  // The time is over: what was held is chosen again, as far as nobody else has it.
  ranOut() {
    const seats = [...this.basket.held.keys()];
    this.basket.setHolds(new Map(), []);
    this.extended = false;
    this.basket.add(seats);
    this.notes.show("warn", this.words.t("ran_out", { n: seats.length }), [[this.words.t("hold_again"), () => this.hold()]]);
    this.live.refresh();
  }

  inWords(problem) {
    if (problem.offline) return this.words.t("offline");
    const key = `refusal.${problem.code}`;
    return this.words.has(key) ? this.words.t(key, { n: this.basket.limit, ...problem.details }) : problem.message;
  }

  // A refusal, with the way out of it.
  async refused(problem, asked) {
    const { words, notes } = this;
    const found = explain(problem, asked, (names) => this.live.layout.find(names));
    if (found.kind === "offline") return notes.show("warn", words.t("offline"), asked.length ? [[words.t("again"), () => this.hold()]] : []);
    if (found.kind === "queue") return notes.show("warn", this.inWords(problem), [[words.t("to_queue"), () => location.assign(this.config.queue_page)]]);
    if (found.kind === "swap") return this.#offerInstead(problem, found);
    if (found.kind === "gone") {
      await this.live.refresh();
      const gone = found.seats.length ? found.seats : asked.filter((n) => !this.may(n));
      return gone.length ? this.#lose(gone) : notes.show("warn", this.inWords(problem), [[words.t("again"), () => this.hold()]]);
    }
    notes.show("warn", this.inWords(problem));
  }

  #offerInstead(problem, { seats, instead }) {
    const { words } = this;
    this.singles = problem.code === "leaves_single_seat" ? leftSingle(this.live.layout, new Set(seats), (n) => this.live.states[n] !== FREE && !this.basket.held.has(n)) : [];
    this.offer(instead);
    const why = this.singles.length ? words.t("single_seat", { n: this.singles.length, seats: this.namesOf(this.singles) }) : this.inWords(problem);
    const swap = () => (this.offer([]), this.basket.drop(seats), this.basket.add(instead), this.hold());
    this.notes.show("warn", `${why} ${words.t("instead", { n: instead.length, seats: this.namesOf(instead) })}`, [
      [words.t("take_instead", { n: instead.length }), swap],
      [words.t("choose_others"), () => this.offer([])],
    ]);
  }

  // --- On the map ---

  // Seats that are shown to somebody before they are taken.
  offer(seats) {
    const before = [...this.offered];
    this.offered = new Set(seats);
    if (!seats.length) this.singles = [];
    const touched = [...before, ...seats];
    this.looks.change(touched);
    this.map.change(touched);
    if (!seats.length) return;
    const { x, y } = this.live.layout;
    const middle = (values) => seats.reduce((total, n) => total + values[n], 0) / seats.length;
    this.map.look({ x: middle(x), y: middle(y) }, Math.max(OFFER_ZOOM, this.map.view.k));
  }

  // Around the seats that would be left single.
  #circles(ctx, view, ink) {
    for (const n of this.singles ?? []) {
      const [px, py] = this.map.point(n);
      ctx.beginPath(), ctx.arc(px, py, Math.max(9, view.k * 0.62), 0, 7);
      [ctx.strokeStyle, ctx.lineWidth] = [ink.text, 2.5];
      ctx.setLineDash([4, 3]), ctx.stroke(), ctx.setLineDash([]);
    }
  }

  #hover(at) {
    const tip = this.find("tip");
    tip.hidden = at?.n === undefined;
    this.map.canvas.style.cursor = at?.n !== undefined && this.may(at.n) ? "pointer" : "";
    if (tip.hidden) return;
    say(tip, this.describe(at.n));
    tip.style.left = `${Math.min(at.px + 14, this.map.view.w - tip.offsetWidth - 6)}px`;
    tip.style.top = `${at.py > 70 ? at.py - tip.offsetHeight - 12 : at.py + 20}px`;
  }

  #key(event) {
    const directions = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    const zooms = { "+": ZOOM_STEP, "=": ZOOM_STEP, "-": 1 / ZOOM_STEP };
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const at = this.map.selected;
    if (directions[event.key]) this.#walk(directions[event.key]);
    else if (zooms[event.key]) this.map.zoomToSeats(zooms[event.key]);
    else if (event.key === "0") this.map.whole();
    else if (event.key === "Escape") this.map.select(undefined);
    else if ((event.key === "Enter" || event.key === " ") && at !== undefined) this.toggle(at);
    else return;
    event.preventDefault();
  }

  #walk(direction) {
    const at = this.map.selected;
    const next = at === undefined ? this.map.start() : step(this.live.layout, at, direction);
    if (next === undefined) return;
    this.map.select(next);
    this.announce(this.describe(next));
  }
}

const root = document.querySelector("#picker");
if (root) (root.page = new Picker(root)).start();
