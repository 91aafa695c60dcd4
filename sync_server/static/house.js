// What the pages need beyond plain HTML: numbers that follow the event, and a question before what cannot be undone.
"use strict";

function put(place, numbers) {
  for (const field of place.querySelectorAll(":scope [data-number]")) {
    if (field.closest("[data-gate]") !== (place.matches("[data-gate]") ? place : null)) continue;
    const value = numbers[field.dataset.number];
    if (value !== undefined) field.textContent = value;
  }
}

function clock(millis, timeZone) {
  return new Intl.DateTimeFormat("en-GB", { timeStyle: "medium", timeZone }).format(new Date(millis));
}

function silence(note, board) {
  note.className = board.silent ? "note warn" : "note good";
  if (!board.devices) note.textContent = "No gate is enrolled for this event yet.";
  else if (board.silent) {
    const last = board.silent_since ? `, last at ${clock(board.silent_since, note.dataset.timezone)}` : "";
    note.textContent = `Gates not heard: ${board.silent} of ${board.devices}${last}. What they know is missing from these numbers.`;
  } else note.textContent = board.devices === 1 ? "The one gate is heard." : `All ${board.devices} gates are heard.`;
}

function show(section, board) {
  put(section, board);
  for (const gate of board.gates) {
    const line = section.querySelector(`[data-gate="${gate.number}"]`);
    if (line) put(line, gate);
  }
  section.querySelector("[data-warn]").classList.toggle("bad", board.conflicts > 0);
  silence(section.querySelector("[data-silence]"), board);
}

function follow(section) {
  const stream = new EventSource(section.dataset.live);
  stream.addEventListener("counters", (event) => show(section, JSON.parse(event.data)));
  stream.addEventListener("status", () => location.reload());
  addEventListener("pagehide", () => stream.close());
}

for (const section of document.querySelectorAll("[data-live]")) follow(section);

addEventListener("click", (event) => {
  const button = event.target.closest("[data-ask]");
  if (button && !confirm(button.dataset.ask)) event.preventDefault();
});
