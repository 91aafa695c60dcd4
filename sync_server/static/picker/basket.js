// What a guest has chosen and what is held for the guest: chosen seats are only on this page, holds are the server's.

export class Basket extends EventTarget {
  constructor(limit) {
    super();
    Object.assign(this, { limit, chosen: new Set(), wanted: new Map(), held: new Map(), heldPlaces: [] });
  }

  #changed(seats = []) {
    this.dispatchEvent(new CustomEvent("change", { detail: seats }));
  }

  // How many seats and places there are in all.
  get size() {
    return this.chosen.size + this.held.size + sumOf(this.wanted.values()) + sumOf(this.heldPlaces.map((hold) => hold.quantity));
  }

  get chosenSize() {
    return this.chosen.size + sumOf(this.wanted.values());
  }

  get heldSize() {
    return this.size - this.chosenSize;
  }

  room(more = 1) {
    return this.size + more <= this.limit;
  }

  // These seats of a group that is sold whole go together; false if the booking would be too large.
  add(seats) {
    const fresh = seats.filter((n) => !this.chosen.has(n) && !this.held.has(n));
    if (!this.room(fresh.length)) return false;
    for (const n of fresh) this.chosen.add(n);
    if (fresh.length) this.#changed(fresh);
    return true;
  }

  drop(seats) {
    const gone = seats.filter((n) => this.chosen.delete(n));
    if (gone.length) this.#changed(gone);
    return gone;
  }

  // Places of a zone without seats.
  want(zone, count) {
    const before = this.wanted.get(zone) ?? 0;
    if (count > before && !this.room(count - before)) return false;
    if (count > 0) this.wanted.set(zone, count);
    else this.wanted.delete(zone);
    this.#changed();
    return true;
  }

  // The holds that the server has for this guest, by seat; whatever is held is no longer merely chosen.
  setHolds(bySeat, places) {
    const touched = new Set([...this.held.keys(), ...bySeat.keys()]);
    [this.held, this.heldPlaces] = [new Map(bySeat), places];
    for (const n of bySeat.keys()) if (this.chosen.delete(n)) touched.add(n);
    this.#changed([...touched]);
  }

  get holds() {
    return [...this.held.values(), ...this.heldPlaces];
  }

  // When the first of the holds ends, in milliseconds; undefined without holds.
  get endsAt() {
    const ends = this.holds.map((hold) => hold.endsAt).filter(Number.isFinite);
    return ends.length ? Math.min(...ends) : undefined;
  }
}

const sumOf = (numbers) => [...numbers].reduce((total, number) => total + number, 0);
