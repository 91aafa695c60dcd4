// Keeps the states of all seats up to date: by the stream of changes, and by asking now and then where there is no place in it.

import { read, unpack } from "../seat-map/plan.js";

const ASK_MS = 4000; // without a stream; each page a little differently, so that a crowd does not ask at once
const TRY_STREAM_MS = 60000;
export const [FREE, TAKEN, CLOSED] = [0, 2, 3];

/** Events: `seats` (detail: numbers from 0), `zones`, `connection` (detail: "live", "asking" or "lost"), `gone` and `replaced`. */
export class LiveSeats extends EventTarget {
  constructor({ map, changes, day }) {
    super();
    Object.assign(this, { map, changes, day, zones: new Map(), etag: undefined });
  }

  #url(path, query = {}) {
    const asked = new URLSearchParams(this.day ? { ...query, day: this.day } : query).toString();
    return path + (asked && `?${asked}`);
  }

  async load() {
    const response = await fetch(this.#url(this.map));
    if (!response.ok) throw new Error(String(response.status));
    const { plan, state } = await response.json();
    this.layout = read(plan);
    this.states = unpack(state.seats, state.count);
    this.#take(state);
    return this;
  }

  follow() {
    this.stop();
    const stream = new EventSource(this.#url(this.changes, { since: this.version }), { withCredentials: true });
    this.stream = stream;
    stream.onopen = () => this.#tell("connection", "live");
    stream.onerror = () => (stream.readyState === EventSource.CLOSED ? this.#askInstead() : this.#tell("connection", "lost"));
    stream.addEventListener("changes", (event) => this.#apply(JSON.parse(event.data)));
    stream.addEventListener("gone", () => (this.stop(), this.#tell("gone")));
  }

  stop() {
    this.stream?.close();
    clearTimeout(this.asking);
    this.stream = undefined;
  }

  #askInstead() {
    this.stop();
    const until = performance.now() + TRY_STREAM_MS * (0.75 + Math.random() / 2);
    const ask = async () => {
      await this.refresh();
      if (performance.now() > until) this.follow();
      else this.asking = setTimeout(ask, ASK_MS * (0.75 + Math.random() / 2));
    };
    this.asking = setTimeout(ask, Math.random() * ASK_MS);
  }

  // The whole state, unless it is as it was.
  async refresh() {
    try {
      const response = await fetch(this.#url(`${this.map}/state`), { headers: this.etag ? { "If-None-Match": this.etag } : {}, cache: "no-store" });
      if (response.status === 404) return this.stop(), this.#tell("gone");
      if (response.ok) {
        this.etag = response.headers.get("ETag");
        const state = await response.json();
        if (state.plan !== this.layout.id) return this.#tell("replaced");
        this.#replace(unpack(state.seats, state.count));
        this.#take(state);
      }
      if (!this.stream) this.#tell("connection", response.ok || response.status === 304 ? "asking" : "lost");
    } catch {
      this.#tell("connection", "lost");
    }
  }

  #take({ version, zones }) {
    this.version = version;
    this.zones = new Map(zones.map((zone) => [zone.zone, zone]));
    this.#tell("zones");
  }

  #replace(fresh) {
    const different = [];
    fresh.forEach((state, n) => state !== this.states[n] && different.push(n));
    this.states.set(fresh);
    if (different.length) this.#tell("seats", different);
  }

  #apply(changes) {
    if (changes.reset) return this.refresh();
    const different = changes.seats.map(([number]) => number - this.layout.first);
    for (const [number, state] of changes.seats) this.states[number - this.layout.first] = state;
    this.#take(changes);
    if (different.length) this.#tell("seats", different);
  }

  #tell(name, detail) {
    this.dispatchEvent(new CustomEvent(name, { detail }));
  }
}
