// The one note above the map: what has gone wrong or could be better, and the one step that solves it.

import { el } from "./dom.js";

export class Notes {
  constructor(place) {
    this.place = place;
  }

  // `actions` are [text, function]; the first is the one to take.
  show(kind, text, actions = []) {
    const buttons = actions.map(([label, act], n) => el("button", { type: "button", class: `button${n ? "" : " strong"}`, onclick: () => (this.clear(), act()) }, label));
    const note = el("div", { class: `note ${kind}` }, el("p", {}, text), ...(buttons.length ? [el("div", { class: "buttons" }, ...buttons)] : []));
    this.place.replaceChildren(note);
    this.place.scrollIntoView?.({ block: "nearest" });
    if (buttons.length) buttons[0].focus({ preventScroll: true });
  }

  clear() {
    this.place.replaceChildren();
  }
}
