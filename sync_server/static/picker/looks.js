// How each seat looks now, as the number of its stamp: one byte a seat, kept up to date seat by seat.

import { FREE, TAKEN as STATE_TAKEN } from "./live.js";
import * as skin from "./skin.js";

export class Looks {
  // `picker` has live, groups, basket, offered, and may(n).
  constructor(picker) {
    this.picker = picker;
    const { layout, states } = picker.live;
    const { groups, groupOf } = picker.groups;
    const [patterns, sold] = [groups.map((group) => group.pattern), groups.map((group) => group.price !== undefined)];
    this.of = new Uint8Array(layout.count);
    for (let n = 0; n < layout.count; n++) {
      const group = groupOf[n];
      this.of[n] = states[n] === FREE && sold[group] ? skin.free(patterns[group], signOf(layout, n)) : states[n] === STATE_TAKEN ? skin.TAKEN : skin.CLOSED;
    }
  }

  change(seats) {
    for (const n of seats) this.of[n] = this.#look(n);
  }

  #look(n) {
    const { live, basket, offered } = this.picker;
    const sign = signOf(live.layout, n);
    if (basket.held.has(n)) return skin.held(sign);
    if (offered.has(n)) return skin.offered(sign);
    if (basket.chosen.has(n)) return skin.chosen(sign);
    if (this.picker.may(n)) return skin.free(this.picker.patternOf(n), sign);
    return live.states[n] === STATE_TAKEN ? skin.TAKEN : skin.CLOSED;
  }
}

// Signs that are not known yet look like ordinary seats.
const signOf = (layout, n) => (layout.signOf[n] < skin.KINDS ? layout.signOf[n] : 0);
