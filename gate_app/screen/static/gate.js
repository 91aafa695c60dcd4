// Draws the state of the gate. Every message carries the whole state, so a missed one does no harm.
"use strict";

const SHOWN_FOR_MS = 8000;
const HINT_FOR_MS = 1500;
// The gate sends its state twice a second. Whoever hears nothing for this long must not be trusted.
const LOST_AFTER_MS = 2000;
const LOOK_EVERY_MS = 250;
const RETRY_AFTER_MS = 1000;
// A connection that is accepted and never answered is given up; the browser alone would wait for ever.
const ANSWER_WITHIN_MS = 4000;

// What a telephone in a pocket or a glove says, in ms of shaking and rest: as the beeps, told apart by rhythm.
const SHAKES = { admit: [70], attention: [70, 60, 70, 60, 70], deny: [350, 120, 350], test: [40, 60, 40], fault: [120, 80, 120, 80, 120, 80, 120] };

const byId = (id) => document.getElementById(id);
const setText = (id, text) => { const node = byId(id); if (node.textContent !== text) node.textContent = text; };
const WORDS = JSON.parse(document.body.dataset.words);
const setShown = (id, shown) => { byId(id).hidden = !shown; };

let ready = true;
let why = "";
let place = "";
let known = false;
let fitted = null;
let drawn = null;
let drawnNumber = -1;
let seenHint = null;
let backToWaiting, hintEnds;
let stream = null;
let lost = false;
let heard = clocks();
let asked = clocks();

function item(text, kind) {
  const node = document.createElement("li");
  node.textContent = text;
  if (kind) node.className = kind;
  return node;
}

function scanLine(scan) {
  const node = document.createElement("li");
  node.dataset.tone = scan.tone;
  const number = scan.number && "#" + scan.number;
  for (const [kind, text] of [["at", scan.at.slice(0, 5)], ["what", scan.title], ["who", [number, scan.seat, scan.zone].filter(Boolean).join(" · ")]]) {
    const part = document.createElement("span");
    part.className = kind;
    part.textContent = text;
    node.append(part);
  }
  return node;
}

function drawWaiting() {
  document.body.dataset.tone = ready ? "wait" : "fault";
  setText("heading", ready ? WORDS.ready : WORDS.not_ready);
  setText("title", ready ? WORDS.hold_up : WORDS.cannot_admit);
  for (const id of ["guest", "spent", "seat", "holder"]) setText(id, "");
  setText("zone", place);
  setText("message", ready ? "" : why);
  setShown("facts", ready && known);
  drawn = null;
  for (const id of ["again", "test-word"]) setShown(id, false);
  byId("notices").replaceChildren();
  byId("earlier").replaceChildren();
}

function drawVerdict(verdict, again) {
  setShown("facts", false);
  document.body.dataset.tone = verdict.tone;
  setText("heading", verdict.heading);
  setText("title", verdict.title);
  setText("guest", [verdict.number && "#" + verdict.number, verdict.at].filter(Boolean).join("\n"));
  setText("spent", verdict.spent);
  setText("seat", verdict.seat);
  setText("zone", [verdict.zone, verdict.ticket].filter(Boolean).join(" · "));
  setText("holder", verdict.holder);
  setText("message", verdict.message);
  setText("again", verdict.tone === "deny" ? WORDS.again : WORDS.admit_nobody_else);
  setShown("again", again > 0);
  setShown("test-word", verdict.test && verdict.tone !== "test");
  byId("notices").replaceChildren(...verdict.notices.map((notice) => item(notice.words, notice.act ? "act" : "know")));
  byId("earlier").replaceChildren(...verdict.earlier.map((line) => item(line)));
}

function drawVerdictOrWaiting(view) {
  const left = SHOWN_FOR_MS - view.age_ms;
  clearTimeout(backToWaiting);
  if (!view.verdict || left <= 0) return drawWaiting();
  backToWaiting = setTimeout(() => { drawWaiting(); fit(); }, left);
  const wanted = view.verdict_number + ":" + view.again;
  if (wanted === drawn) return;
  drawn = wanted;
  drawVerdict(view.verdict, view.again);
  setShown("hint", false);
  // Two guests with the same verdict: the bar changes sides, the number counts on, and the panel pulses.
  byId("verdict").dataset.side = view.verdict_number % 2 ? "left" : "right";
  // A page that was opened a moment ago has not seen the guest come, and browsers shake for nobody who never touched them.
  if (view.again === 0 && view.age_ms < 1000 && navigator.vibrate) navigator.vibrate(SHAKES[view.verdict.tone] || 0);
  if (view.again === 0 && document.body.animate && !matchMedia("(prefers-reduced-motion: reduce)").matches) {
    byId("heading").parentElement.animate([{ transform: "scale(.94)", opacity: 0.4 }, { transform: "none", opacity: 1 }], 180);
  }
}

function drawHint(view) {
  const fresh = seenHint !== null && view.hint_number > seenHint && (!view.verdict || view.age_ms > 2500);
  seenHint = view.hint_number;
  if (!fresh) return;
  setText("hint", view.hint);
  setShown("hint", true);
  clearTimeout(hintEnds);
  hintEnds = setTimeout(() => setShown("hint", false), HINT_FOR_MS);
}

function drawCondition(view) {
  const now = view.condition;
  ready = now.ready;
  why = now.why;
  const gate = [now.gate && WORDS.gate.replace("{gate}", () => now.gate), now.exit_lane ? WORDS.exit : ""].filter(Boolean).join(" · ");
  setText("event", now.event || "Gatehouse");
  setText("gate", gate);
  place = [now.event, gate].filter(Boolean).join(" · ");
  known = now.inside !== "";
  byId("link").dataset.online = now.online ? "yes" : "no";
  const network = now.online ? WORDS.online : ready ? WORDS.offline : WORDS.offline_idle;
  setText("link-words", network);
  setShown("test-band", now.test);
  setText("admitted", String(view.admitted));
  setText("refused", String(view.refused));
  setText("inside", now.inside);
  setShown("inside-cell", now.inside !== "");
  setText("unsent", String(now.unsent));
  setText("snapshot", now.snapshot);
  setText("fact-inside", now.inside);
  setText("fact-others", now.heard);
  setText("fact-list", now.heard);
  setText("fact-network", network);
  for (const id of ["fact-others-cell", "fact-list-cell"]) byId(id).classList.toggle("watch", now.snapshot_old);
  byId("fact-network-cell").classList.toggle("watch", !now.online);
  byId("unsent-cell").classList.toggle("watch", now.unsent > 0 && !now.online);
  byId("snapshot-cell").classList.toggle("watch", now.snapshot_old);
  // Why the gate is not ready stands in the middle of the screen.
  byId("warnings").replaceChildren(...now.warnings.filter((warning) => ready || warning !== why).map((warning) => item(warning)));
}

// From least to most is given up for the message; the style sheet says what.
const ROOMS = ["", "tight", "least"];

// What everybody reads from two metres on a screen of this size: 28 px on the usual small kiosk.
function legible() { return Math.min(40, Math.max(16, 0.0585 * Math.min(innerWidth, innerHeight))); }

// Sets the largest letters with which nothing of the verdict is cut, and returns how large the message is then.
function fitInto(room, panel, heading) {
  if (room) panel.dataset.room = room; else delete panel.dataset.room;
  const overflows = () => panel.scrollHeight > panel.clientHeight || panel.scrollWidth > panel.clientWidth || heading.scrollWidth > heading.clientWidth;
  let fits = 6, spills = 80;
  while (spills - fits > 0.25) {
    const size = (fits + spills) / 2;
    panel.style.fontSize = size + "px";
    if (overflows()) spills = size; else fits = size;
  }
  panel.style.fontSize = fits + "px";
  return byId("message").textContent ? parseFloat(getComputedStyle(byId("message")).fontSize) : Infinity;
}

// The largest letters with which nothing is cut, whatever the screen and however long the reason; the message counts most.
function fit() {
  const panel = byId("verdict"), frame = panel.parentElement, heading = byId("heading");
  const words = panel.textContent.replace(/\d/g, "0");
  const camera = panel.querySelector("#picture-image");
  const wanted = [document.body.dataset.tone, document.body.dataset.picture, camera && camera.width / camera.height, frame.clientWidth, frame.clientHeight, words, byId("again").hidden, byId("test-word").hidden, byId("facts").hidden].join("|");
  if (wanted === fitted) return;
  fitted = wanted;
  let best = null, largest = 0;
  for (const room of ROOMS) {
    const size = fitInto(room, panel, heading);
    if (size >= legible()) return;
    if (size > largest) [best, largest] = [room, size];
  }
  fitInto(best, panel, heading);
}

function draw(view) {
  drawCondition(view);
  drawVerdictOrWaiting(view);
  drawHint(view);
  byId("recent").replaceChildren(...view.recent.map(scanLine));
  setShown("nothing", view.recent.length === 0);
  fit();
  drawnNumber = view.number;
}

// Monotonic time stands still while some machines sleep, and the wall clock may be set: the longer span counts.
function clocks() { return { steady: performance.now(), wall: Date.now() }; }
function since(then) { return Math.max(performance.now() - then.steady, Date.now() - then.wall); }

function noteContact() {
  lost = false;
  heard = clocks();
  setShown("lost", false);
}

function showNoContact() {
  lost = true;
  clearTimeout(backToWaiting);
  drawWaiting();
  // What was known is old by now, and must not look known.
  setShown("facts", false);
  document.body.dataset.tone = "lost";
  setText("heading", WORDS.no_contact);
  for (const id of ["title", "zone", "message"]) setText(id, "");
  byId("link").dataset.online = "no";
  setText("link-words", WORDS.no_contact);
  setShown("lost", true);
  fit();
}

// Only the last word from the gate counts, never what the connection looks like: a retry is no contact.
function look() {
  if (!lost && since(heard) > LOST_AFTER_MS) showNoContact();
  const wait = stream && stream.readyState !== EventSource.CLOSED ? ANSWER_WITHIN_MS : RETRY_AFTER_MS;
  if (since(heard) > wait && since(asked) > wait) listen();
}

// A supervisor has ended this screen, or its time is over: nothing of anybody stays on it.
function leave() {
  stream.close();
  // A telephone that reads tickets says that it does so no longer.
  location.replace(document.body.dataset.reader ? "/reader" : "/");
}

function listen() {
  asked = clocks();
  if (stream) stream.close();
  stream = new EventSource(document.body.dataset.stream);
  stream.onmessage = (message) => {
    const view = JSON.parse(message.data);
    if (view.unpaired) return leave();
    noteContact();
    draw(view);
    dispatchEvent(new CustomEvent("gate-view", { detail: view }));
  };
  // The browser's own retries come late, and not at all after a refusal.
  stream.onerror = () => stream.close();
}

addEventListener("resize", fit);
setInterval(look, LOOK_EVERY_MS);
// Where timers sleep, nothing old may be seen on waking.
document.addEventListener("freeze", showNoContact);
for (const woken of ["resume", "visibilitychange"]) document.addEventListener(woken, look);
for (const woken of ["pageshow", "focus"]) addEventListener(woken, look);
listen();
