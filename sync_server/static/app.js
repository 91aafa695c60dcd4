// Scripts of the admin pages: live counters, and confirmation of actions that cannot be undone.
"use strict";

function fill(element, numbers) {
  for (const field of element.querySelectorAll(":scope [data-number]")) {
    if (field.closest("[data-gate]") !== (element.matches("[data-gate]") ? element : null)) continue;
    const value = numbers[field.dataset.number];
    if (value !== undefined) field.textContent = value;
  }
}

function clock(millis, timeZone) {
  return new Intl.DateTimeFormat("en-GB", { timeStyle: "medium", timeZone }).format(new Date(millis));
}

function showSilence(note, counters) {
  note.className = counters.silent ? "note warn" : "note good";
  if (!counters.devices) note.textContent = "No gate is enrolled for this event yet.";
  else if (counters.silent) {
    const last = counters.silent_since ? `, last seen at ${clock(counters.silent_since, note.dataset.timezone)}` : "";
    note.textContent = `Gates offline: ${counters.silent} of ${counters.devices}${last}. Their latest scans are not counted here.`;
  } else note.textContent = counters.devices === 1 ? "1 gate, online." : `${counters.devices} gates, all online.`;
}

function show(section, counters) {
  fill(section, counters);
  for (const gate of counters.gates) {
    const line = section.querySelector(`[data-gate="${gate.number}"]`);
    if (line) fill(line, gate);
  }
  section.querySelector("[data-warn]").classList.toggle("bad", counters.conflicts > 0);
  showSilence(section.querySelector("[data-silence]"), counters);
}

function follow(section) {
  const stream = new EventSource(section.dataset.live, { withCredentials: true });
  stream.addEventListener("counters", (event) => show(section, JSON.parse(event.data)));
  stream.addEventListener("status", () => location.reload());
  addEventListener("pagehide", () => stream.close());
}

for (const section of document.querySelectorAll("[data-live]")) follow(section);

addEventListener("click", (event) => {
  const button = event.target.closest("[data-ask]");
  if (button && !confirm(button.dataset.ask)) event.preventDefault();
});
