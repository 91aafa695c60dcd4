// Saves by itself: a draft to the server, everything else in this browser until somebody saves it as a version.

import { forget, keep, kept } from "./keeping.js";
import { found } from "./findings.js";
import { read, SeatMap, write } from "./seat-map.js";
import { Refused } from "./server.js";
import { t } from "./words.js";

const KEEP_MS = 500; // after the last change
const SAVE_MS = 2500;

// Events: "state" with words about what is saved, "found" with the mistakes that the API lists, "conflict" when
// somebody else saved first, "stored" when it has another version.
export class Saving extends EventTarget {
  constructor(board, server, key) {
    super();
    Object.assign(this, { board, server, prefix: key, dirty: false, busy: null, mistakes: [] });
    board.addEventListener("change", () => this.#changed());
    addEventListener("beforeunload", () => this.dirty && this.#keep());
    addEventListener("pagehide", () => this.dirty && this.#keep());
  }

  get key() {
    return `${this.prefix}/${this.server.id ?? "new"}`;
  }

  // The stored layout, or what this browser kept of it.
  async open() {
    const [stored, mine] = await Promise.all([this.server.id ? this.server.load() : null, kept(this.key).catch(() => null)]);
    if (stored) this.server.follow(stored);
    this.opening = true;
    if (mine) {
      this.board.start(SeatMap.of(mine.map));
      if (stored && mine.etag) this.server.etag = mine.etag;
    } else if (stored) this.board.start(read(stored, stored.version > 1 || stored.status !== "draft"));
    this.opening = false;
    this.dirty = Boolean(mine);
    this.#say(mine ? t("save.back") : this.#standing());
    if (mine && this.server.status === "draft") this.#later();
    return { mine: Boolean(mine), stored };
  }

  // `server.etag` is that of the version the changes were made on: a save over somebody else's is refused.
  #standing() {
    const { status, version } = this.server;
    if (status === "new") return t("save.not_yet");
    return t(`save.${status}`, { version, next: version + 1 });
  }

  #changed() {
    if (this.opening) return;
    this.dirty = true;
    this.#say(t("save.kept"));
    clearTimeout(this.keeping);
    this.keeping = setTimeout(() => this.#keep(), KEEP_MS);
    this.#later();
  }

  #later() {
    clearTimeout(this.saving);
    if (this.server.status === "draft" && !this.large && !this.stopped) this.saving = setTimeout(() => this.save({ quietly: true }), SAVE_MS);
  }

  #keep() {
    if (!this.dirty) return Promise.resolve();
    return keep(this.key, { map: this.board.map.kept(), etag: this.server.etag }).catch(() => this.#say(t("save.cannot_keep"), "warn"));
  }

  // One save at a time; a change meanwhile is saved after it. Returns whether everything is stored.
  async save({ quietly = false, asVersion = false } = {}) {
    clearTimeout(this.saving);
    while (this.busy) await this.busy.catch(() => {});
    if (!this.dirty && !asVersion) return true;
    this.busy = this.#save(quietly, asVersion);
    try {
      return await this.busy;
    } finally {
      this.busy = null;
    }
  }

  async #save(quietly, asVersion) {
    const { board, server } = this;
    const { layout, order } = write(board.map);
    const [before, revision, map] = [this.key, board.map.revision, board.map];
    this.large = server.isLarge(JSON.stringify(layout));
    if (this.large && quietly) return this.#say(t("save.large")), false;
    this.#say(t("save.saving"));
    try {
      const view = await server.save(layout, { asVersion, told: (each) => this.#say(t("save.storing", each)) });
      this.mistakes = [];
      this.#tell("found");
      this.dirty = board.map !== map || board.map.revision !== revision;
      if (before !== this.key || !this.dirty) await forget(before).catch(() => {});
      if (this.dirty) this.#changed();
      else this.#say(t("save.saved_as", { version: view.version }), "good");
      this.#tell("stored");
      return !this.dirty;
    } catch (problem) {
      return this.#refused(problem, order, quietly);
    }
  }

  async #refused(problem, order, quietly) {
    await this.#keep();
    if (!(problem instanceof Refused)) this.#say(t("save.unreachable"), "warn"), this.#later();
    else if (problem.status === 412) this.#tell("conflict");
    else if (problem.mistakes.length) {
      this.mistakes = problem.mistakes.map((mistake) => found(this.board.map, order, mistake));
      const count = problem.details.mistakes_in_all ?? this.mistakes.length;
      this.#say(t("save.mistakes", { n: count }), "warn");
      this.#tell("found");
    } else this.#say(t("save.refused", { why: problem.message }), "bad");
    return false;
  }

  // Somebody else's version is shown; undo brings mine back, to be saved over it.
  async takeTheirs() {
    const stored = await this.server.load();
    this.server.follow(stored);
    this.opening = true;
    this.board.run(t("step.theirs"), { do: "map", value: read(stored, stored.version > 1).kept() });
    this.opening = false;
    this.dirty = false;
    await forget(this.key).catch(() => {});
    this.#say(t("save.theirs"));
  }

  #say(words, look = "") {
    this.dispatchEvent(new CustomEvent("state", { detail: { words, look } }));
  }

  #tell(name) {
    this.dispatchEvent(new Event(name));
  }
}
