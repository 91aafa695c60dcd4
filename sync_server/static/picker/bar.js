// The bar at the bottom: what is chosen and held, the sum, the time that is left, and the next step.

import { el, say } from "./dom.js";
import { sum } from "./prices.js";
import { clock } from "./words.js";

const WARN_S = 30;
const MORE_TIME_S = 60; // from then on one may ask for more time

export class Bar {
  constructor(bar, picker) {
    Object.assign(this, { bar, picker });
    for (const name of ["summary", "sum", "chips", "clock", "warning", "hold", "checkout", "extend"]) this[name] = bar.querySelector(`[data-bar-${name}]`);
    this.hold.addEventListener("click", () => picker.hold());
    this.extend.addEventListener("click", () => picker.extend());
    setInterval(() => this.tick(), 250);
  }

  show() {
    const { basket, words } = this.picker;
    const { size, chosenSize, heldSize } = basket;
    this.bar.classList.toggle("filled", size > 0);
    const cost = sum(this.#prices());
    say(this.summary, size ? words.t(heldSize && !chosenSize ? "bar.held" : "bar.chosen", { n: size }) : words.t("bar.nothing"));
    say(this.sum, size ? words.t(cost.from ? "from" : "exactly", { price: words.amount(cost.cents) }) : "");
    this.chips.replaceChildren(...this.#chips());
    this.hold.hidden = !chosenSize;
    say(this.hold, words.t(heldSize ? "bar.hold_more" : "bar.hold", { n: chosenSize, minutes: this.picker.config.minutes }));
    this.checkout.hidden = !heldSize;
    this.checkout.classList.toggle("strong", !chosenSize);
    this.tick();
  }

  #prices() {
    const { basket, prices, places } = this.picker;
    const each = (zone, count) => Array(count).fill(prices.of(zone));
    const held = basket.heldPlaces.flatMap((hold) => each(hold.zone, hold.quantity));
    return [...basket.chosen, ...basket.held.keys()].map((n) => this.picker.priceOf(n)).concat(held, [...basket.wanted].flatMap(([zone, count]) => each(zone, count)));
  }

  #chips() {
    const { basket, words } = this.picker;
    const chip = (text, remove, held) => el("li", { class: `chip${held ? " held" : ""}` }, el("span", {}, text), el("button", { type: "button", class: "chip-remove", "aria-label": words.t(held ? "bar.release" : "bar.remove", { what: text }), onclick: remove }, "×"));
    const zone = (number) => this.picker.live.layout.zones.find((each) => each.number === number)?.name ?? "";
    return [
      ...[...basket.held.keys()].map((n) => chip(this.picker.shortName(n), () => this.picker.toggle(n), true)),
      ...basket.heldPlaces.map((hold) => chip(`${hold.quantity} × ${zone(hold.zone)}`, () => this.picker.release([hold]), true)),
      ...[...basket.chosen].map((n) => chip(this.picker.shortName(n), () => this.picker.toggle(n), false)),
      ...[...basket.wanted].map(([number, count]) => chip(`${count} × ${zone(number)}`, () => this.picker.want(number, 0), false)),
    ];
  }

  tick() {
    const { basket, words } = this.picker;
    const { endsAt } = basket;
    this.clock.hidden = endsAt === undefined;
    if (endsAt === undefined) this.warning.hidden = true;
    this.extend.hidden = endsAt === undefined || endsAt - Date.now() > MORE_TIME_S * 1000 || this.picker.extended;
    if (endsAt === undefined) return (this.warned = false);
    const left = (endsAt - Date.now()) / 1000;
    say(this.clock, clock(left));
    this.clock.classList.toggle("warn", left <= WARN_S);
    this.warning.hidden = left > WARN_S || left <= 0;
    if (!this.warning.hidden) say(this.warning, words.t(this.picker.extended ? "bar.warning_last" : "bar.warning", { n: Math.ceil(left) }));
    if (left > WARN_S) this.warned = false;
    else if (!this.warned && left > 0) {
      this.warned = true;
      this.picker.announce(this.warning.textContent);
    }
    if (left <= 0) this.picker.ranOut();
  }
}
