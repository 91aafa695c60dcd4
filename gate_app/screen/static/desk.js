// The work of stewards and supervisors: each button asks the running gate, and what needs a PIN asks for it first.
"use strict";

const byId = (id) => document.getElementById(id);
const WORDS = JSON.parse(document.body.dataset.words);
const IS_SUPERVISOR = document.body.dataset.role === "supervisor";
const LATEST_EVERY_MS = 5000;
let asked = null;
let shownTicket = null;
let situation = {};

function made(tag, text, kind) {
  const node = document.createElement(tag);
  if (text) node.textContent = text;
  if (kind) node.className = kind;
  return node;
}

function button(text, does, kind) {
  const node = made("button", text, "button " + (kind || ""));
  node.type = "button";
  node.addEventListener("click", does);
  return node;
}

function say(text) {
  byId("said").textContent = text || "";
  byId("said").hidden = !text;
}

// What the gate answers; an error is thrown as its words.
async function ask(action, fields) {
  let response, answer;
  try {
    const sent = { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(fields || {}) };
    response = await fetch("/desk/" + action, sent);
    answer = await response.json();
  } catch {
    throw new Error(WORDS.no_contact);
  }
  if (answer.error && answer.error.code === "not_paired") location.replace("/");
  if (answer.error) throw new Error(answer.error.message);
  return answer;
}

async function trying(does) {
  try { await does(); } catch (why) { say(why.message); }
}

// Asks for a PIN, and for a reason where there must be one, and repeats while the gate refuses them.
function withPin(what, action, fields, options) {
  asked = { action, fields, then: options && options.then };
  byId("ask-what").textContent = what;
  byId("reason-part").hidden = !(options && options.reason);
  for (const id of ["pin", "reason"]) byId(id).value = "";
  byId("wrong").hidden = true;
  byId("ask").showModal();
  byId(options && options.reason ? "reason" : "pin").focus();
}

async function submitPin(event) {
  event.preventDefault();
  const now = asked;
  const fields = { ...now.fields, pin: byId("pin").value, reason: byId("reason").value };
  byId("pin").value = "";
  byId("do-it").disabled = true;
  let answer;
  try {
    answer = await ask(now.action, fields);
  } catch (why) {
    byId("wrong").textContent = why.message;
    byId("wrong").hidden = false;
    byId("pin").focus();
    return;
  } finally {
    byId("do-it").disabled = false;
  }
  byId("ask").close();
  say(answer.message);
  if (now.then) now.then(answer);
  await trying(refresh);
}

function seatOf(row, seat) {
  const parts = [row && WORDS.row.replace("{row}", () => row), seat && WORDS.seat.replace("{seat}", () => seat)];
  return parts.filter(Boolean).join(" · ");
}

function line(main, more, ...buttons) {
  const node = made("li");
  const words = made("div", "", "words");
  words.append(made("strong", main), made("span", more, "soft"));
  const tools = made("div", "", "tools");
  tools.append(...buttons);
  node.append(words, tools);
  return node;
}

// Only at a gate with a printer.
function printButtons(what, fields) {
  const print = () => withPin(WORDS.print_badge + " · " + what, "print", fields);
  return situation.printer ? [button(WORDS.print_badge, print)] : [];
}

function ticketLine(ticket) {
  const main = [seatOf(ticket.row, ticket.seat) || WORDS.seat_unknown, ticket.name].filter(Boolean).join(" · ");
  const more = [ticket.number, ticket.type, ticket.zone, WORDS[ticket.state] || ticket.state].filter(Boolean).join(" · ");
  return line(
    main, more,
    button(WORDS.look, () => trying(() => showTicket("look", ticket.ticket))),
    button(WORDS.admit, () => trying(() => showTicket("admit", ticket.ticket)), "first"),
    ...printButtons(ticket.number, { ticket: ticket.ticket }),
  );
}

async function showTicket(action, ticket) {
  say("");
  drawCard((await ask(action, { ticket })).verdict, ticket);
  await refresh();
}

function drawCard(verdict, ticket) {
  shownTicket = ticket;
  byId("card").hidden = false;
  byId("card").dataset.tone = verdict.tone;
  for (const part of ["heading", "title", "seat", "holder", "message"]) byId("card-" + part).textContent = verdict[part];
  byId("card-notices").replaceChildren(...verdict.notices.map((notice) => made("li", notice.words)));
  byId("card-earlier").replaceChildren(...verdict.earlier.map((each) => made("li", each)));
  byId("override").hidden = verdict.tone !== "deny";
  byId("card").scrollIntoView({ block: "nearest" });
}

async function search(event) {
  event.preventDefault();
  say("");
  byId("card").hidden = true;
  await trying(async () => {
    const found = (await ask("find", { query: byId("query").value })).tickets;
    byId("found").replaceChildren(...(found.length ? found.map(ticketLine) : [made("li", WORDS.nothing_found, "soft")]));
  });
}

function admissionLine(one) {
  const main = "#" + one.seq + " · " + (seatOf(one.row, one.seat) || one.zone || WORDS.seat_unknown);
  const annul = () => withPin(WORDS.annul + " #" + one.seq, "annul", { seq: one.seq }, { reason: true });
  const print = one.direction === "entry" ? printButtons(one.ticket, { seq: one.seq }) : [];
  return line(main, [one.local, one.ticket, one.reader].join(" · "), button(WORDS.annul, annul), ...print);
}

async function drawLatest() {
  const lines = (await ask("latest")).admissions.map(admissionLine);
  byId("last").replaceChildren(...(lines.length ? lines : [made("li", WORDS.no_admissions, "soft")]));
}

function press(id, on, words) {
  byId(id).dataset.on = on ? "yes" : "no";
  byId(id).textContent = words;
}

function drawSituation(now) {
  situation = now;
  dispatchEvent(new CustomEvent("gate-situation", { detail: now }));
  press("info", now.info, now.info ? WORDS.info_stop : WORDS.info_start);
  press("quiet", now.quiet, now.quiet ? WORDS.aloud : WORDS.quiet);
  byId("quiet").setAttribute("aria-pressed", String(now.quiet));
  if (document.activeElement !== byId("loudness")) byId("loudness").value = now.loudness;
  byId("loudness-now").textContent = byId("loudness").value + " %";
  byId("names").firstChild.textContent = now.names ? WORDS.names_on : WORDS.name_locked + " ";
  byId("show-names").hidden = now.names;
  if (!IS_SUPERVISOR) return;
  const open = now.doors_opened.includes(0);
  press("doors", open, open ? WORDS.doors_close : WORDS.doors_open);
  press("train", now.training, now.training ? WORDS.train_stop : WORDS.train_start);
  byId("stand-part").hidden = now.gates.length < 2;
  drawGates(now.gates, now.gate);
}

// Drawn again only once the gate stands elsewhere: what somebody has chosen meanwhile stays chosen.
function drawGates(gates, current) {
  const drawn = JSON.stringify([gates, current]);
  if (byId("gates").dataset.drawn === drawn) return;
  byId("gates").dataset.drawn = drawn;
  byId("gates").replaceChildren(...gates.map((gate) => new Option(gate, gate, false, gate === current)));
}

function screenLine(screen) {
  const when = new Date(screen.paired_at).toLocaleTimeString(document.documentElement.lang, { hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
  const remove = () => trying(async () => drawScreens(await ask("unpair", { screen: screen.id })));
  const more = [WORDS.paired_at.replace("{when}", () => when), screen.this && WORDS.this_screen].filter(Boolean).join(" · ");
  return line([WORDS[screen.role], screen.name].filter(Boolean).join(" · "), more, button(WORDS.remove, remove));
}

function drawScreens(answer) {
  byId("screens").replaceChildren(...answer.screens.map(screenLine));
}

function drawLink(answer) {
  const edge = answer.code.length + 8;
  const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
  const modules = answer.code.flatMap((row, y) => [...row].map((dark, x) => (dark === "1" ? `M${x + 4} ${y + 4}h1v1h-1z` : "")));
  path.setAttribute("d", modules.join(""));
  byId("code").setAttribute("viewBox", `0 0 ${edge} ${edge}`);
  byId("code").replaceChildren(path);
  byId("link-address").href = answer.link;
  byId("link-address").textContent = answer.link.split("#")[0];
  byId("link-print").hidden = !answer.fingerprint;
  byId("fingerprint").textContent = answer.fingerprint || "";
  byId("link").hidden = false;
  byId("link").scrollIntoView({ block: "nearest" });
}

async function refresh() {
  drawSituation(await ask("situation"));
  await drawLatest();
  if (IS_SUPERVISOR) drawScreens(await ask("paired"));
}

function drawStrip(view) {
  const verdict = view.age_ms < 8000 ? view.verdict : null;
  byId("strip").dataset.tone = verdict ? verdict.tone : view.condition.ready ? "wait" : "fault";
  for (const [id, text] of [["strip-heading", verdict ? verdict.heading : view.condition.event], ["strip-title", verdict ? verdict.title : view.condition.why]]) {
    if (byId(id).textContent !== text) byId(id).textContent = text;
  }
}

function listen() {
  const stream = new EventSource(document.body.dataset.stream);
  let heard = Date.now();
  stream.onmessage = (message) => {
    const view = JSON.parse(message.data);
    if (view.unpaired) { stream.close(); location.replace("/"); return; }
    heard = Date.now();
    drawStrip(view);
    dispatchEvent(new CustomEvent("gate-view", { detail: view }));
  };
  const watch = setInterval(() => {
    if (Date.now() - heard < 2500) return;
    clearInterval(watch);
    stream.close();
    byId("strip").dataset.tone = "lost";
    byId("strip-heading").textContent = WORDS.no_contact;
    byId("strip-title").textContent = "";
    setTimeout(listen, 1000);
  }, 250);
}

byId("search").addEventListener("submit", search);
byId("ask-form").addEventListener("submit", submitPin);
byId("cancel").addEventListener("click", () => byId("ask").close());
byId("show-names").addEventListener("click", () => withPin(byId("show-names").textContent, "names", {}));
byId("info").addEventListener("click", () => trying(async () => { await ask("info", { on: !situation.info }); await refresh(); }));
byId("loudness").addEventListener("input", () => { byId("loudness-now").textContent = byId("loudness").value + " %"; });
byId("loudness").addEventListener("change", () => trying(async () => { await ask("loudness", { percent: byId("loudness").valueAsNumber }); await refresh(); }));
byId("quiet").addEventListener("click", () => trying(async () => { await ask("loudness", { quiet: !situation.quiet }); await refresh(); }));
byId("override").addEventListener("click", () => {
  const ticket = shownTicket;
  withPin(WORDS.override, "override", { ticket }, { reason: true, then: (answer) => drawCard(answer.verdict, ticket) });
});
if (IS_SUPERVISOR) {
  byId("doors").addEventListener("click", () => withPin(byId("doors").textContent, "doors", { opened: !situation.doors_opened.includes(0) }));
  byId("train").addEventListener("click", () => withPin(byId("train").textContent, "train", { on: !situation.training }));
  byId("empty").addEventListener("click", () => withPin(WORDS.sure_empty, "empty-house", {}));
  byId("stand").addEventListener("click", () => withPin(byId("stand").textContent + ": " + byId("gates").value, "stand", { gate: byId("gates").value }));
  byId("pair-steward").addEventListener("click", () => trying(async () => drawLink(await ask("pair", { role: "steward" }))));
  byId("reader-form").addEventListener("submit", (event) => {
    event.preventDefault();
    const fields = { role: "reader", name: byId("reader-name").value, direction: byId("reader-direction").value };
    trying(async () => drawLink(await ask("pair", fields)));
  });
  byId("pair-supervisor").addEventListener("click", () => withPin(byId("pair-supervisor").textContent, "pair", { role: "supervisor" }, { then: drawLink }));
}
for (const each of document.querySelectorAll("[data-waits]")) each.disabled = false; // they were disabled for want of this script
listen();
trying(refresh);
setInterval(() => { if (!document.hidden) trying(refresh); }, LATEST_EVERY_MS);
