// Versions of the map: the list, restoring one, files in and out, and what to do when two people edit the same draft.

import { t } from "./words.js";

export class Versions {
  constructor(root, server, saving, notice, told) {
    Object.assign(this, { root, server, saving, notice, told });
    this.place = root.querySelector("[data-versions]");
    this.place.addEventListener("click", ({ target }) => target.dataset.restore && this.#restore(target.dataset.restore));
    root.addEventListener("click", (event) => event.target.dataset?.export && this.#write(event));
  }

  // The list as the server shows it; the present one's line says who edited it last.
  async refresh() {
    const response = await fetch(`${this.root.dataset.pages}/${this.server.id}/versions`);
    if (!response.ok) return null;
    const page = new DOMParser().parseFromString(await response.text(), "text/html");
    const list = page.querySelector("[data-list-of-versions]");
    if (list) this.place.replaceChildren(document.adoptNode(list));
    return list?.querySelector(`[data-version="${this.server.id}"]`)?.dataset ?? null;
  }

  // Somebody else saved this draft first.
  async conflict() {
    const line = await this.refresh();
    const who = line?.editedBy || t("conflict.somebody");
    const version = Math.max(this.server.version, ...[...this.place.querySelectorAll("[data-number]")].map((each) => Number(each.dataset.number))) + 1;
    this.saving.stopped = true;
    const resume = (work) => () => ((this.saving.stopped = false), work());
    this.notice.show(line ? t("conflict.saved_at", { who, at: line.editedAt }) : t("conflict.saved", { who }), {
      [t("conflict.mine", { version })]: resume(() => this.saving.save({ asVersion: true })),
      [t("conflict.theirs")]: resume(() => this.saving.takeTheirs()),
    });
  }

  // A copy of an old version, as the newest draft.
  async #restore(id) {
    try {
      if (this.saving.dirty && !(await this.saving.save())) return this.told(t("conflict.own_first"));
      const { layout, version } = await this.server.whole(id);
      const view = await this.server.save(layout, { asVersion: true, told: ({ percent }) => this.told(t("save.storing", { percent })) });
      this.told(t("restore.done", { version, next: view.version }));
      location.assign(`${this.root.dataset.pages}/${view.id}`);
    } catch (problem) {
      this.notice.show(t("restore.failed", { why: problem.message }));
    }
  }

  async read(file) {
    if (!file) return;
    try {
      if (this.saving.dirty && this.server.id && !(await this.saving.save())) return this.told(t("conflict.own_first"));
      this.told(t("import.reading", { name: file.name }));
      const view = await this.server.read(file, await formatOf(file), ({ percent }) => this.told(t("import.progress", { name: file.name, percent })));
      location.assign(`${this.root.dataset.pages}/${view.id}`);
    } catch (problem) {
      this.notice.show(t("import.failed", { name: file.name, why: problem.message }));
    }
  }

  #write(event) {
    event.preventDefault();
    if (!this.server.id) return this.told(t("export.save_first"));
    if (this.saving.dirty) this.told(t("export.as_saved"));
    location.assign(`${this.server.layouts}/${this.server.id}/export?format=${event.target.dataset.export}`);
  }
}

// Both our own format and that of pretix are JSON: only a plan of pretix says nothing of the zones' types.
async function formatOf(file) {
  const ending = file.name.toLowerCase().split(".").at(-1);
  if (ending === "csv" || ending === "svg") return ending;
  return /"zone_type"/.test(await file.text()) ? "gatehouse" : "pretix";
}
