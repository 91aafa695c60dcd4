// The list before publishing: mistakes that the API found, what guests would miss, and the question itself.

import { advice } from "./findings.js";
import { t } from "./words.js";

export class Checks {
  constructor(root, board, saving, show) {
    Object.assign(this, { root, board, saving, go: show });
    this.find = (name) => root.querySelector(`[data-${name}]`);
    saving.addEventListener("found", () => this.show());
    board.addEventListener("change", () => (this.stale = true));
  }

  findings() {
    return [...this.saving.mistakes, ...advice(this.board.map)];
  }

  show() {
    const { mistakes } = this.saving;
    const count = this.find("findings");
    count.textContent = mistakes.length;
    count.hidden = !mistakes.length;
    if (this.root.querySelector("#panel-check").hidden) return;
    const found = this.findings();
    this.#list(this.find("finding-list"), found);
    const grave = found.filter((finding) => finding.grave).length;
    this.find("checked").textContent = grave ? t("check.prevented", { n: grave }) : t(found.length ? "check.advised" : "check.nothing");
  }

  #list(place, findings) {
    const items = findings.map((finding) => {
      const item = Object.assign(document.createElement("li"), { className: finding.grave ? "bad" : "warn" });
      const where = Object.assign(document.createElement("b"), { textContent: finding.where });
      item.append(where, ` ${finding.words} `);
      if (finding.seats.length || finding.zone !== undefined || finding.tool) {
        const button = Object.assign(document.createElement("button"), { type: "button", textContent: t("check.show") });
        button.setAttribute("aria-label", t("check.show_what", { what: finding.where }));
        button.addEventListener("click", () => (this.find("publish").close(), this.go(finding)));
        item.append(button);
      }
      return item;
    });
    place.replaceChildren(...items);
  }

  // Asks before it is published. What cannot be stored cannot be published either.
  async publish(server) {
    const stored = await this.saving.save();
    const found = this.findings();
    const grave = found.some((finding) => finding.grave) || !stored;
    const { map } = this.board;
    const words = t("publish.means", { n: map.sheet.zones.length, seats: map.total, version: server.version, next: server.version + 1 });
    this.find("publish-words").textContent = grave ? t("publish.not_yet") : words;
    this.#list(this.find("publish-findings"), found);
    const button = this.root.querySelector("[data-do=reallyPublish]");
    button.hidden = grave;
    button.textContent = t("publish.button", { version: server.version });
    this.find("publish").showModal();
  }
}
