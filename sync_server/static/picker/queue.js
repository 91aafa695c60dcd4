// The page of the queue: asks every few seconds, counts down by the server's clock, and never forgets the place.

import { Api } from "./api.js";
import { el, say } from "./dom.js";
import { Memory } from "./storage.js";
import { clock, Words } from "./words.js";

const ASK_MS = 5000;
const TAKING_PART = ["waiting", "admitted"];

class Queue {
  constructor(root) {
    this.root = root;
    this.config = JSON.parse(root.dataset.config);
    [this.words, this.memory] = [new Words(this.config), new Memory(this.config.event, this.config.shop)];
    this.api = new Api(this.config.shop, this.memory);
    this.skew = this.config.now - Date.now();
    this.place = this.config.place;
  }

  find(name) {
    return this.root.querySelector(`[data-${name}]`);
  }

  get now() {
    return Date.now() + this.skew;
  }

  start() {
    this.find("join").addEventListener("submit", (event) => (event.preventDefault(), this.join()));
    this.find("check").addEventListener("click", () => this.check());
    this.find("leave").addEventListener("click", () => this.find("sure").showModal());
    this.find("sure").addEventListener("close", () => this.find("sure").returnValue === "leave" && this.leave());
    this.find("go").href = this.config.tickets;
    document.addEventListener("visibilitychange", () => document.visibilityState === "visible" && this.ask());
    addEventListener("online", () => this.ask());
    setInterval(() => this.tick(), 250);
    this.show();
    if (this.place) this.ask();
  }

  // Asks again after a while, whatever came of it.
  async ask() {
    clearTimeout(this.asking);
    if (this.place) {
      try {
        this.place = await this.api.ask("GET", this.config.queue);
        this.find("lost").hidden = true;
        await this.#admitted();
      } catch (problem) {
        if (problem.offline || problem.status >= 500) this.find("lost").hidden = false;
        else this.#problem(problem);
      }
      this.show();
    }
    if (!this.place || TAKING_PART.includes(this.place.state)) this.asking = setTimeout(() => this.ask(), ASK_MS);
  }

  #problem(problem) {
    if (["not_in_queue", "no_session", "unauthorized"].includes(problem.code)) this.place = null;
    else this.#tell(this.words.has(problem.code) ? this.words.t(problem.code) : this.words.t("refused", { why: problem.message }));
  }

  #tell(text) {
    this.find("problem").hidden = !text;
    say(this.find("problem").firstElementChild, text);
  }

  async join() {
    this.#tell("");
    this.find("join-button").disabled = true;
    try {
      this.memory.forgetTab();
      this.place = await this.api.ask("POST", this.config.queue);
      this.find("lost").hidden = true;
    } catch (problem) {
      if (problem.offline) this.find("lost").hidden = false;
      else this.#tell(problem.code === "queue_cooldown" ? problem.message : this.words.t("refused", { why: problem.message }));
    }
    this.find("join-button").disabled = false;
    this.show();
    if (this.place) await this.ask();
  }

  async leave() {
    try {
      await this.api.ask("DELETE", this.config.queue);
    } catch (problem) {
      return void (problem.offline ? (this.find("lost").hidden = false) : this.#problem(problem));
    }
    await this.ask();
  }

  // The turn is bound to this tab, and then one goes on to the tickets as soon as the page is looked at.
  async #admitted() {
    if (this.place.state !== "admitted") return;
    if (!this.bound) {
      try {
        await this.api.ask("POST", `${this.config.queue}/pass`, { tab: this.memory.makeTab() });
        this.bound = true;
      } catch (problem) {
        if (problem.code !== "pass_of_another_tab") throw problem;
        this.memory.forgetTab();
        return void (this.elsewhere = true);
      }
    }
    document.title = `${this.words.t("turn")} · ${document.title.replace(/^.* · /, "")}`;
    if (document.visibilityState === "visible") this.going ??= setTimeout(() => location.assign(this.config.tickets), 2500);
  }

  // --- What is shown ---

  show() {
    const { place } = this;
    const taking = TAKING_PART.includes(place?.state);
    const key = JSON.stringify([place?.state, place?.position, place?.waiting, place?.wait_at_most_seconds, place?.drawn_at, place?.paused, this.elsewhere, this.now >= this.config.room_at, this.now >= this.config.draw_at, this.now >= Date.parse(place?.draw_at ?? 0)]);
    if (key !== this.shown) this.find("now").replaceChildren(...this.#lines());
    this.shown = key;
    const cooling = place?.cooldown_until && Date.parse(place.cooldown_until) > this.now;
    this.find("join").hidden = taking || cooling || this.now < this.config.room_at;
    say(this.find("join-button"), place && !taking ? this.words.t("again") : this.find("join-button").dataset.text ?? (this.find("join-button").dataset.text = this.find("join-button").textContent));
    this.find("go").hidden = place?.state !== "admitted" || this.elsewhere;
    this.find("leave-of").hidden = place?.state !== "waiting";
    this.find("receipt-of").hidden = !place;
    if (place) say(this.find("receipt"), place.receipt);
    this.find("check").hidden = !place?.drawn_at;
    const current = !place || !taking ? "" : place.state === "admitted" ? "turn" : place.drawn_at ? "wait" : "draw";
    for (const step of this.root.querySelectorAll("[data-step]")) current === step.dataset.step ? step.setAttribute("aria-current", "step") : step.removeAttribute("aria-current");
    this.#progress();
    this.tick();
  }

  #lines() {
    const { words, place } = this;
    const line = (text, className) => el("p", className ? { class: className } : {}, text);
    const countdown = (label, at) => [line(label, "label"), el("p", { class: "queue-big", role: "timer", "aria-live": "off", "data-until": at })];
    if (!place && this.now < this.config.room_at) return countdown(words.t("opens_in"), this.config.room_at);
    if (!place) return [line(words.t("not_joined")), ...(this.now < this.config.draw_at ? countdown(words.t("draw_in"), this.config.draw_at) : [])];
    if (place.state === "admitted") {
      return this.elsewhere ? [line(words.t("turn"), "queue-big"), line(words.t("other_tab"))] : [line(words.t("turn"), "queue-big"), line(words.t("turn_here")), ...countdown(words.t("turn_left"), Date.parse(place.expires_at))];
    }
    if (place.state !== "waiting") {
      const wait = place.cooldown_until && Date.parse(place.cooldown_until) > this.now ? countdown(words.t("again_in"), Date.parse(place.cooldown_until)) : [];
      return [line(words.t(place.state)), ...wait];
    }
    if (!place.position) {
      const draw = Date.parse(place.draw_at);
      return draw > this.now ? [line(words.t("before")), ...countdown(words.t("draw_in"), draw)] : [line(words.t("drawing"))];
    }
    return [line(words.t("position"), "label"), line(words.number.format(place.position), "queue-big"), line(place.position === 1 ? words.t("next_one") : words.t("of", { n: place.waiting }), "quiet"), line(this.#estimate())];
  }

  #estimate() {
    const { words, place } = this;
    if (place.paused) return words.t("paused");
    if (place.wait_at_most_seconds === null) return words.t("unknown");
    const minutes = (seconds) => (seconds < 60 ? words.t("less") : words.t("minutes", { n: Math.round(seconds / 60) }));
    return words.t("about", { least: minutes(place.wait_at_least_seconds), most: minutes(Math.max(60, place.wait_at_most_seconds)) });
  }

  // How far one has come since the first look of this tab.
  #progress() {
    const bar = this.find("progress");
    const { position } = this.place ?? {};
    bar.hidden = !position;
    if (!position) return;
    this.first = Math.max(this.first ?? Number(sessionStorage.getItem(`first ${this.config.event}`) ?? 0), position);
    sessionStorage.setItem(`first ${this.config.event}`, String(this.first));
    bar.value = 100 * (1 - position / (this.first + 1));
  }

  tick() {
    for (const timer of this.root.querySelectorAll("[data-until]")) {
      const left = (Number(timer.dataset.until) - this.now) / 1000;
      say(timer, clock(left));
      if (left <= 0 && timer.dataset.over === undefined) {
        timer.dataset.over = "";
        this.shown = "";
        this.place ? this.ask() : this.show();
      }
    }
  }

  // --- The draw ---

  async check() {
    const { words } = this;
    const verdict = this.find("verdict");
    say(verdict, words.t("checking"));
    try {
      const response = await fetch(`${this.config.queue}/draw/entries`);
      if (!response.ok) throw new Error((await response.json()).error.message);
      say(verdict, this.#verdict(await this.#recomputed(await response.text())));
    } catch (problem) {
      say(verdict, words.t("refused", { why: problem.message }));
    }
  }

  async #recomputed(text) {
    const taken = await this.#inWorker({ text, receipt: this.place.receipt });
    if (!/entry of this receipt/.test(taken.wrong ?? "")) return taken;
    return this.#inWorker({ text, receipt: null }); // whoever joined after the draw is not in it
  }

  #inWorker(message) {
    const worker = new Worker(new URL("draw-worker.js", import.meta.url), { type: "module" });
    return new Promise((resolve, reject) => {
      worker.onmessage = ({ data }) => resolve(data);
      worker.onerror = (event) => reject(new Error(event.message));
      worker.postMessage(message);
    }).finally(() => worker.terminate());
  }

  #verdict({ wrong, entries, place }) {
    if (wrong) return this.words.t("unfair", { why: wrong });
    return place ? this.words.t("fair", { n: entries, place }) : this.words.t("fair_without");
  }
}

const root = document.querySelector("#queue");
if (root) new Queue(root).start();
