// What a page remembers: in this tab what was chosen and the pass of a queue, in this browser that a shop was visited.

function kept(storage, name) {
  try {
    return JSON.parse(storage.getItem(name));
  } catch {
    return null; // storage is forbidden or damaged: the page works without
  }
}

function keep(storage, name, value) {
  try {
    if (value === undefined) storage.removeItem(name);
    else storage.setItem(name, JSON.stringify(value));
  } catch {
    // as above
  }
}

export class Memory {
  constructor(event, shop) {
    Object.assign(this, { event, shop });
  }

  get choice() {
    return kept(sessionStorage, `choice ${this.event}`) ?? { seats: [], places: [] };
  }

  set choice(choice) {
    keep(sessionStorage, `choice ${this.event}`, choice);
  }

  // The secret that binds a turn to this tab: made once, and sent with each hold.
  get tab() {
    return kept(sessionStorage, `queue ${this.event}`) ?? "";
  }

  makeTab() {
    if (!this.tab) keep(sessionStorage, `queue ${this.event}`, Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join(""));
    return this.tab;
  }

  forgetTab() {
    keep(sessionStorage, `queue ${this.event}`, undefined);
  }

  get visited() {
    return kept(localStorage, `guest of ${this.shop}`) === true;
  }

  set visited(value) {
    keep(localStorage, `guest of ${this.shop}`, value || undefined);
  }
}
