// A picture of the hall to trace: it stays in this browser, and is no part of the map.

import { forget, keep, kept } from "./keeping.js";
import { t } from "./words.js";

export class Background {
  constructor(root, board, painter, told) {
    Object.assign(this, { root, board, painter, told });
    this.find = (name) => root.querySelector(`[data-${name}]`);
    this.key = `background${location.pathname}`;
    this.find("background").addEventListener("change", ({ target }) => this.#choose(target.files[0]));
    this.find("background-opacity").addEventListener("input", ({ target }) => this.#change({ opacity: target.value / 100 }));
    this.find("background-width").addEventListener("change", ({ target }) => this.#resize(Number(target.value)));
    root.querySelector("[data-do=dropBackground]").addEventListener("click", (event) => (event.stopPropagation(), this.#drop()));
    kept(this.key).then((stored) => stored && this.#show(stored.file, stored)).catch(() => {});
  }

  async #choose(file) {
    if (!file) return;
    try {
      await this.#show(file, {});
      await keep(this.key, { file, ...this.#place() });
    } catch {
      this.told(t("background.no_picture"));
    }
  }

  async #show(file, { x, y, width, opacity = 0.5 }) {
    const picture = await createImageBitmap(file);
    const box = this.board.whole();
    width ??= Math.max(box.width, 400);
    const height = (width * picture.height) / picture.width;
    this.file = file;
    this.board.background = { picture, width, height, x: x ?? box.left, y: y ?? box.top, opacity };
    this.find("background-tools").hidden = false;
    this.find("background-width").value = Math.round(width);
    this.painter.redraw();
  }

  #place() {
    const { x, y, width, opacity } = this.board.background;
    return { x, y, width, opacity };
  }

  #change(values) {
    if (!this.board.background) return;
    Object.assign(this.board.background, values);
    this.painter.redraw();
    keep(this.key, { file: this.file, ...this.#place() }).catch(() => {});
  }

  #resize(width) {
    const { picture } = this.board.background ?? {};
    if (picture && width > 0) this.#change({ width, height: (width * picture.height) / picture.width });
  }

  #drop() {
    this.board.background = null;
    this.find("background-tools").hidden = true;
    this.painter.redraw();
    forget(this.key).catch(() => {});
  }
}
