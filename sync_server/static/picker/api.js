// Requests of a guest of the shop: the session begins with the first of them that needs one.

/** What the server refused, with its code and details; `offline` where it was not reached. */
export class Refused extends Error {
  constructor(status, { code, message, details = {} }) {
    super(message);
    Object.assign(this, { status, code, details, offline: status === 0 });
  }
}

export class Api {
  constructor(shop, memory) {
    Object.assign(this, { sessionPath: `/api/o/${shop}/session`, memory, csrf: undefined });
  }

  // One session for all requests, however many begin at once.
  session() {
    this.csrf ??= this.#send("POST", this.sessionPath).then(
      (guest) => ((this.memory.visited = true), guest.csrf_token),
      (problem) => {
        this.csrf = undefined;
        throw problem;
      },
    );
    return this.csrf;
  }

  async ask(method, path, body) {
    const csrf = await this.session();
    try {
      return await this.#send(method, path, body, { "X-CSRF-Token": csrf, ...(this.memory.tab && { "X-Queue-Tab": this.memory.tab }) });
    } catch (problem) {
      if (problem.status !== 401 && problem.code !== "bad_csrf") throw problem;
      this.csrf = undefined; // the visit has ended: the next request begins another
      throw problem;
    }
  }

  async #send(method, path, body, headers = {}) {
    let response;
    try {
      response = await fetch(path, { method, headers: { Accept: "application/json", ...(body && { "Content-Type": "application/json" }), ...headers }, body: body && JSON.stringify(body) });
    } catch {
      throw new Refused(0, { code: "offline", message: "" });
    }
    const payload = response.status === 204 ? undefined : await response.json().catch(() => undefined);
    if (!response.ok) throw new Refused(response.status, payload?.error ?? { code: "unavailable", message: response.statusText });
    return payload;
  }
}
