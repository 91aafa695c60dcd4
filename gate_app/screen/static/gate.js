// Draws what the gate says. Every message carries the whole state, so a missed one does no harm.
"use strict";

const SHOWN_FOR_MS = 8000;
const HINT_FOR_MS = 1500;
const LOST_AFTER_MS = 8000;
const GONE_AFTER_MS = 2500;

const AGAIN = "Again: the same ticket as a moment ago.";

const byId = (id) => document.getElementById(id);
const tell = (id, words) => { const node = byId(id); if (node.textContent !== words) node.textContent = words; };
const reveal = (id, shown) => { byId(id).hidden = !shown; };

let ready = true;
let drawn = null;
let seenGlimpse = null;
let backToWaiting, hintEnds, lostAt;

function item(words, kind) {
  const node = document.createElement("li");
  node.textContent = words;
  if (kind) node.className = kind;
  return node;
}

function scanLine(scan) {
  const node = document.createElement("li");
  node.dataset.tone = scan.tone;
  for (const [kind, words] of [["at", scan.at.slice(0, 5)], ["what", scan.title], ["who", [scan.seat, scan.zone].filter(Boolean).join(" · ")]]) {
    const part = document.createElement("span");
    part.className = kind;
    part.textContent = words;
    node.append(part);
  }
  return node;
}

function drawWaiting() {
  document.body.dataset.tone = ready ? "wait" : "fault";
  tell("heading", ready ? "Ready" : "Not ready");
  tell("title", ready ? "Hold the ticket's code in front of the reader" : "Nobody can be let in here yet");
  for (const id of ["seat", "zone", "holder", "message"]) tell(id, "");
  drawn = null;
  for (const id of ["again", "test-word"]) reveal(id, false);
  byId("notices").replaceChildren();
  byId("earlier").replaceChildren();
}

function drawVerdict(verdict, again) {
  document.body.dataset.tone = verdict.tone;
  tell("heading", verdict.heading);
  tell("title", verdict.title);
  tell("seat", verdict.seat);
  tell("zone", [verdict.zone, verdict.ticket].filter(Boolean).join(" · "));
  tell("holder", verdict.holder);
  tell("message", verdict.message);
  tell("again", verdict.tone === "deny" ? AGAIN : AGAIN + " Nobody else comes in on it.");
  reveal("again", again > 0);
  reveal("test-word", verdict.test && verdict.tone !== "test");
  byId("notices").replaceChildren(...verdict.notices.map((notice) => item(notice.words, notice.act ? "act" : "know")));
  byId("earlier").replaceChildren(...verdict.earlier.map((line) => item(line)));
}

function drawVerdictOrWaiting(view) {
  const left = SHOWN_FOR_MS - view.age_ms;
  clearTimeout(backToWaiting);
  if (!view.verdict || left <= 0) return drawWaiting();
  backToWaiting = setTimeout(drawWaiting, left);
  const wanted = view.verdict_number + ":" + view.again;
  if (wanted === drawn) return;
  drawn = wanted;
  drawVerdict(view.verdict, view.again);
  // The pulse tells two guests with the same verdict apart.
  if (view.again === 0 && document.body.animate && !matchMedia("(prefers-reduced-motion: reduce)").matches) {
    byId("heading").parentElement.animate([{ transform: "scale(.94)", opacity: 0.4 }, { transform: "none", opacity: 1 }], 180);
  }
}

function drawHint(view) {
  const fresh = seenGlimpse !== null && view.glimpse_number > seenGlimpse && (!view.verdict || view.age_ms > 2500);
  seenGlimpse = view.glimpse_number;
  if (!fresh) return;
  reveal("hold-still", true);
  clearTimeout(hintEnds);
  hintEnds = setTimeout(() => reveal("hold-still", false), HINT_FOR_MS);
}

function drawCondition(view) {
  const now = view.condition;
  ready = now.ready;
  tell("event", now.event || "Gatehouse");
  tell("gate", [now.gate && "Gate " + now.gate, now.exit_lane ? "Exit" : ""].filter(Boolean).join(" · "));
  byId("link").dataset.online = now.online ? "yes" : "no";
  tell("link-words", now.online ? "Online" : "Offline, still scanning");
  reveal("test-band", now.test);
  tell("admitted", String(view.admitted));
  tell("refused", String(view.refused));
  tell("inside", now.inside);
  reveal("inside-cell", now.inside !== "");
  tell("unsent", String(now.unsent));
  tell("snapshot", now.snapshot);
  byId("unsent-cell").classList.toggle("watch", now.unsent > 0 && !now.online);
  byId("snapshot-cell").classList.toggle("watch", now.snapshot_old);
  byId("warnings").replaceChildren(...now.warnings.map((words) => item(words)));
}

function draw(view) {
  drawCondition(view);
  drawVerdictOrWaiting(view);
  drawHint(view);
  byId("recent").replaceChildren(...view.recent.map(scanLine));
  reveal("nothing", view.recent.length === 0);
}

function heard() {
  reveal("lost", false);
  clearTimeout(lostAt);
  lostAt = setTimeout(lose, LOST_AFTER_MS);
}

function lose() {
  drawWaiting();
  document.body.dataset.tone = "lost";
  tell("heading", "No contact");
  tell("title", "");
  reveal("lost", true);
}

function listen() {
  const stream = new EventSource("/stream");
  stream.onmessage = (message) => { heard(); draw(JSON.parse(message.data)); };
  stream.onerror = () => {
    // The gate may only be starting again: wait a moment before saying that it is gone.
    clearTimeout(lostAt);
    lostAt = setTimeout(lose, GONE_AFTER_MS);
    // A refused stream is not tried again by the browser itself.
    if (stream.readyState === EventSource.CLOSED) setTimeout(listen, 2000);
  };
}

lostAt = setTimeout(lose, LOST_AFTER_MS);
listen();
