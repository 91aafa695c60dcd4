// The tickets of a party: who may come in is ticked, all or some are let in, and each says when the way is free.
"use strict";

(() => {
  const byId = (id) => document.getElementById(id);
  const box = byId("party");
  const MARKS = { may: "○", chosen: "○", going: "➜", in: "✓", refused: "✕", taken_back: "↶" };
  const chooses = box.dataset.chooses === "yes";
  let shown = null;
  let drawn = "";

  const made = (tag, text, kind) => {
    const node = document.createElement(tag);
    if (text) node.textContent = text;
    if (kind) node.className = kind;
    return node;
  };

  // A verdict says more than a list of which everything is decided.
  const lasts = (party) => party.asks || !party.progress || party.members.some((one) => ["going", "chosen"].includes(one.standing));

  function line(one, asks) {
    const node = made("li", "", "member");
    node.dataset.standing = one.standing;
    const row = made(asks && one.standing === "may" ? "label" : "div", "", "row");
    if (row.tagName === "LABEL") {
      const tick = made("input");
      Object.assign(tick, { type: "checkbox", checked: one.ticked, value: one.ticket });
      tick.addEventListener("change", count);
      row.append(tick);
    } else {
      const mark = made("span", MARKS[one.standing], "mark");
      mark.setAttribute("aria-hidden", "true");
      row.append(mark);
    }
    const words = made("span", "", "words");
    const says = asks && one.ticked ? "" : [one.says, one.spent].filter(Boolean).join(", ");
    for (const [tag, text, kind] of [["strong", one.label, ""], ["span", says, "says"], ["span", [one.holder, one.more].filter(Boolean).join(" · "), "more"]]) {
      if (text) words.append(made(tag, text, kind));
    }
    row.append(words);
    node.append(row);
    if (one.notices.length) {
      const notices = made("ul", "", "notices-of");
      notices.append(...one.notices.map((notice) => made("li", (notice.act ? "▲ " : "") + notice.words)));
      node.append(notices);
    }
    return node;
  }

  const ticked = () => [...box.querySelectorAll("input:checked")].map((tick) => tick.value);

  function count() {
    const n = ticked().length;
    byId("party-n").textContent = n;
    byId("party-some").disabled = n === 0;
  }

  function draw(party) {
    const opened = shown === null || shown.number !== party.number;
    byId("party-heading").textContent = party.heading;
    byId("party-progress").textContent = party.progress;
    byId("party-ask").hidden = !party.asks;
    byId("party-list").replaceChildren(...party.members.map((one) => line(one, party.asks && chooses)));
    byId("party-tools").hidden = !(party.asks && chooses);
    byId("party-may").textContent = party.may;
    if (opened) byId("party-wrong").hidden = true;
    box.hidden = false;
    count();
    shown = party;
    if (opened) byId("party-heading").focus();
    byId("party-list").querySelector("[data-standing=going]")?.scrollIntoView({ block: "nearest" });
  }

  function follow(view) {
    const party = view.party && lasts(view.party) ? view.party : null;
    const now = JSON.stringify(party);
    if (now === drawn) return;
    drawn = now;
    if (party) return draw(party);
    box.hidden = true;
    shown = null;
  }

  async function ask(action, fields) {
    for (const node of byId("party-tools").children) node.disabled = true;
    const sent = { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ party: shown.number, ...fields }) };
    try {
      const answer = await (await fetch("/party/" + action, sent)).json();
      if (answer.error) throw new Error(answer.error.message);
    } catch (why) {
      byId("party-wrong").textContent = why.message;
      byId("party-wrong").hidden = false;
    } finally {
      for (const node of byId("party-tools").children) node.disabled = false;
      count();
    }
  }

  byId("party-all").addEventListener("click", () => ask("choose", {}));
  byId("party-some").addEventListener("click", () => ask("choose", { tickets: ticked() }));
  byId("party-none").addEventListener("click", () => ask("dismiss", {}));
  addEventListener("keydown", (key) => { if (key.key === "Escape" && !box.hidden && chooses && shown.asks) ask("dismiss", {}); });
  addEventListener("gate-view", (message) => follow(message.detail));
})();
