// Speaks to the API about one layout: loads, saves with If-Match, makes versions and publishes them.

import { t } from "./words.js";

const DIRECT = 250_000; // bytes; larger maps become a new version with each save
const PATIENCE_MS = 600;

export class Refused extends Error {
  constructor(status, error) {
    super(error.message);
    Object.assign(this, { status, code: error.code, mistakes: error.details?.mistakes ?? [], details: error.details });
  }
}

export class Server {
  constructor({ layouts, csrf, layout }) {
    Object.assign(this, { layouts, csrf, id: layout || null, etag: null, status: layout ? null : "new", version: 0 });
  }

  async ask(path, { method = "GET", body, headers = {} } = {}) {
    const sent = { Accept: "application/json", ...headers };
    if (method !== "GET") sent["X-CSRF-Token"] = this.csrf;
    if (typeof body === "string") sent["Content-Type"] ??= "application/json";
    const response = await fetch(path, { method, headers: sent, body });
    const payload = response.status === 204 ? null : await response.json();
    if (!response.ok) throw new Refused(response.status, payload.error);
    return { payload, response };
  }

  // The layout with its seats as columns, to be drawn.
  async load(id = this.id) {
    const { payload } = await this.ask(`${this.layouts}/${id}/columns`);
    return payload;
  }

  // The layout as it is uploaded, to be stored once more.
  async whole(id) {
    const { payload } = await this.ask(`${this.layouts}/${id}`);
    return payload;
  }

  follow({ id, etag, status, version }) {
    Object.assign(this, { id, etag, status, version });
  }

  isLarge(body) {
    return body.length > DIRECT;
  }

  // Stores the layout: into the draft, or as a new one where there is none. `told` hears how far a large one is.
  async save(layout, { asVersion = false, told = () => {} } = {}) {
    const body = JSON.stringify(layout);
    const large = this.isLarge(body);
    if (this.status === "draft" && !asVersion && !large) {
      const { payload } = await this.ask(`${this.layouts}/${this.id}`, { method: "PUT", body, headers: { "If-Match": `"${this.etag}"` } });
      this.follow(payload);
      return payload;
    }
    const path = this.id ? `${this.layouts}/${this.id}/versions` : this.layouts;
    const { payload, response } = await this.ask(path, { method: "POST", body });
    const view = response.status === 202 ? await this.imported(payload, told) : payload;
    this.follow(view);
    return view;
  }

  // Waits for an import, and returns the layout that came of it.
  async imported({ id }, told) {
    for (;;) {
      const { payload } = await this.ask(`/api/imports/${id}`);
      if (payload.state === "done") return (({ layout, seats, ...view }) => view)(await this.load(payload.layout_id));
      if (payload.state === "failed") throw new Refused(400, payload.problem);
      if (payload.state === "cancelled") throw new Refused(409, { code: "cancelled", message: t("import.cancelled") });
      told(payload);
      await new Promise((done) => setTimeout(done, PATIENCE_MS));
    }
  }

  async read(file, format, told = () => {}) {
    const query = new URLSearchParams({ format, name: file.name.replace(/\.[^.]*$/, "").slice(0, 100) || t("import.name") });
    if (this.id) query.set("layout_id", this.id);
    const { payload, response } = await this.ask(`${this.layouts}/import?${query}`, { method: "POST", body: await file.arrayBuffer(), headers: { "Content-Type": "application/octet-stream" } });
    return response.status === 202 ? this.imported(payload, told) : payload;
  }

  async publish() {
    const { payload } = await this.ask(`${this.layouts}/${this.id}/activate`, { method: "POST" });
    this.follow(payload);
  }
}
