// Zones without numbered seats: how many places, beside the map.

import { el, say, stepper } from "./dom.js";

export class Places {
  constructor(list, picker) {
    Object.assign(this, { picker, zones: new Map() });
    for (const zone of picker.live.layout.zones.filter((each) => each.open && !each.numbered)) {
      const price = picker.prices.of(zone.number);
      if (price) list.append(this.#zone(zone, price));
    }
    list.closest("[data-places-of]").hidden = !this.zones.size;
  }

  #zone(zone, price) {
    const { words, basket } = this.picker;
    const left = el("span", { class: "small quiet" });
    const value = basket.wanted.get(zone.number) ?? 0;
    const control = stepper({ label: words.t("places.of", { zone: zone.name }), less: words.t("places.fewer", { zone: zone.name }), more: words.t("places.more", { zone: zone.name }), value, change: (n) => this.picker.want(zone.number, n) });
    this.zones.set(zone.number, { left, control });
    const cost = words.t(price.from ? "from" : "exactly", { price: words.amount(price.cents) });
    return el("li", { class: "place" }, el("span", { class: "place-text" }, el("b", {}, zone.name), el("span", { class: "number" }, cost), left), control.element);
  }

  // To one that was touched on the map.
  go(number) {
    const { control } = this.zones.get(number) ?? {};
    control?.element.scrollIntoView({ block: "center" });
    control?.element.querySelector("button:last-child").focus({ preventScroll: true });
  }

  // What is left now, and what is wanted.
  show() {
    const { words, basket, live } = this.picker;
    for (const [number, { left, control }] of this.zones) {
      const available = live.zones.get(number)?.available ?? 0;
      say(left, available ? words.t("left", { n: available }) : words.t("sold_out"));
      control.limit(available);
      control.set(basket.wanted.get(number) ?? 0);
    }
  }
}
