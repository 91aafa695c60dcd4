// The list before publishing: mistakes that the API found, what guests would miss, and the question itself.

import { advice } from "./findings.js";

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
    this.find("checked").textContent = grave ? `${grave} ${grave === 1 ? "thing prevents" : "things prevent"} publishing.` : found.length ? "It can be published. Guests would be glad of this:" : "Nothing stands against publishing.";
  }

  #list(place, findings) {
    const items = findings.map((finding) => {
      const item = Object.assign(document.createElement("li"), { className: finding.grave ? "bad" : "warn" });
      const where = Object.assign(document.createElement("b"), { textContent: finding.where });
      item.append(where, ` ${finding.words} `);
      if (finding.seats.length || finding.zone !== undefined || finding.tool) {
        const button = Object.assign(document.createElement("button"), { type: "button", textContent: "Show" });
        button.setAttribute("aria-label", `Show ${finding.where}`);
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
    const words = `Version ${server.version} has ${map.total.toLocaleString("en")} seats in ${map.sheet.zones.length} ${map.sheet.zones.length === 1 ? "zone" : "zones"}. Once published, events can choose it, and it never changes again: what you change later becomes version ${server.version + 1}. Events that use an earlier version keep theirs.`;
    this.find("publish-words").textContent = grave ? "It cannot be published yet." : words;
    this.#list(this.find("publish-findings"), found);
    const button = this.root.querySelector("[data-do=reallyPublish]");
    button.hidden = grave;
    button.textContent = `Publish version ${server.version}`;
    this.find("publish").showModal();
  }
}
