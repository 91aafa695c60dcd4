// "Best for us": how many people, what they wish, and which seats the server would give them; nothing is held until they say so.

import { el, stepper } from "./dom.js";
import { sum } from "./prices.js";

export class BestPanel {
  // `picker` has config, words, api, live, groups, priceOf(n), nameOf(n), offer(seats), take(seats), refused(problem).
  constructor(panel, picker) {
    Object.assign(this, { panel, picker, passedOver: [] });
    const { words, config } = picker;
    const t = (key, values) => words.t(`best.${key}`, values);
    this.people = stepper({ label: t("people"), less: t("fewer"), more: t("more"), value: Math.min(2, config.limit), least: 1, most: config.limit, change: (n) => this.#wish(() => this.wheelchairs.limit(Math.min(n, config.wheelchairs))) });
    this.wheelchairs = stepper({ label: t("wheelchairs"), less: t("fewer_wheelchairs"), more: t("more_wheelchairs"), value: 0, most: Math.min(2, config.wheelchairs), change: () => this.#wish() });
    this.category = this.#categories(t);
    this.result = el("div", { class: "best-result", role: "status", "aria-live": "polite" });
    const field = (label, control) => el("div", { class: "best-field" }, el("span", { class: "label", "aria-hidden": "true" }, label), control);
    const wishes = [field(t("people"), this.people.element)];
    if (this.category) wishes.push(el("label", { class: "best-field" }, el("span", { class: "label" }, t("category")), this.category));
    if (picker.live.layout.signs.includes("wheelchair") && config.wheelchairs) wishes.push(field(t("wheelchairs"), this.wheelchairs.element));
    this.ask = el("button", { type: "submit", class: "button strong" }, t("show"));
    this.form = el("form", { class: "best-form", onsubmit: (event) => (event.preventDefault(), this.show()) }, ...wishes, this.ask);
    panel.append(el("p", { class: "small quiet" }, t("how")), this.form, this.result);
  }

  #categories(t) {
    const { groups, words } = this.picker;
    const named = groups.groups.filter((group) => group.category && group.price);
    const names = new Map(named.map((group) => [group.category, group]));
    if (names.size < 2) return undefined;
    const options = [...names].map(([name, { price }]) => new Option(t("of_category", { name, price: words.amount(price.cents) }), name));
    const select = el("select", { onchange: () => this.#wish() });
    select.append(new Option(t("any_category"), ""), ...options);
    return select;
  }

  // Another wish begins with the best again.
  #wish(also) {
    also?.();
    this.passedOver = [];
    this.clear();
  }

  clear() {
    this.ask.classList.add("strong");
    this.result.replaceChildren();
    this.picker.offer([]);
  }

  async show() {
    const { picker, result } = this;
    const { words } = picker;
    result.replaceChildren(el("p", { class: "quiet" }, words.t("best.looking")));
    const wheelchairs = this.wheelchairs.value;
    const body = { best: this.people.value, passed_over_seat_ids: this.passedOver, ...picker.days };
    if (wheelchairs) body.wheelchairs = wheelchairs;
    else if (this.category?.value) body.price_category = this.category.value;
    try {
      const { data } = await picker.api.ask("POST", `${picker.config.holds}/preview`, body);
      this.#found(data);
    } catch (problem) {
      picker.offer([]);
      this.#nothing(problem);
    }
  }

  #found(data) {
    const { picker, result } = this;
    const { words } = picker;
    const names = data.seats.map((seat) => seat.seat_name);
    const seats = picker.live.layout.find(names);
    this.passedOver = [...this.passedOver, ...names].slice(-400);
    picker.offer(seats);
    this.ask.classList.remove("strong");
    const cost = sum(seats.map((n) => picker.priceOf(n)));
    const total = words.t(cost.from ? "from" : "exactly", { price: words.amount(cost.cents) });
    const grade = words.has(`best.grade.${data.grade}`) ? words.t(`best.grade.${data.grade}`) : "";
    const kept = data.companion_seats.length ? el("p", { class: "small quiet" }, words.t("best.companions", { n: data.companion_seats.length })) : undefined;
    result.replaceChildren(
      el("p", { class: "best-seats" }, el("b", {}, picker.namesOf(seats)), " ", el("span", { class: "number" }, total)),
      ...(grade ? [el("p", { class: "small quiet" }, grade)] : []),
      ...(kept ? [kept] : []),
      el("div", { class: "buttons" }, el("button", { type: "button", class: "button strong", onclick: () => this.#take(seats) }, words.t("best.take", { n: seats.length })), el("button", { type: "button", class: "button", onclick: () => this.show() }, words.t("best.others"))),
    );
  }

  #nothing(problem) {
    const { words } = this.picker;
    const again = this.passedOver.length && ["sold_out", "not_together", "no_wheelchair_place"].includes(problem.code);
    this.passedOver = [];
    const text = again ? words.t("best.no_others") : this.picker.inWords(problem);
    this.result.replaceChildren(el("p", { class: "note warn" }, el("span", {}, text)), ...(again ? [el("button", { type: "button", class: "button", onclick: () => this.show() }, words.t("best.first_again"))] : []));
    if (problem.offline || !again) this.picker.refused(problem, []);
  }

  async #take(seats) {
    this.clear();
    await this.picker.take(seats);
  }
}
