// A scanner that types: its keys go to the window in front, and from here, code by code, to the gate.
"use strict";

(() => {
  // Scanners leave up to 20 ms between keys, and nobody types so many without a pause. One that ends its codes with Enter
  // may pause within them.
  const PAUSE_MS = 300;
  const FORGOTTEN_MS = 10000;
  const IN_A_CODE_MS = 1500;
  const SCANNED_FROM = 32;
  let keys = "";
  let typedAt = -Infinity;
  let ends = false;
  let waiting = null;

  function send() {
    const body = JSON.stringify({ code: keys });
    keys = "";
    fetch("/typed", { method: "POST", headers: { "Content-Type": "application/json" }, body }).catch(() => undefined);
  }

  // Before any button has them: the Enter at the end of a code must not press what happens to have the focus.
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, select, textarea, dialog")) return;
    const silent = event.timeStamp - typedAt;
    if (silent > FORGOTTEN_MS) keys = "";
    const end = keys && silent < IN_A_CODE_MS && (event.key === "Enter" || event.key === "Tab");
    // The space bar presses buttons for those who use no mouse.
    if (!end && (event.key.length !== 1 || (event.key === " " && !keys))) return;
    event.preventDefault();
    event.stopPropagation();
    clearTimeout(waiting);
    typedAt = event.timeStamp;
    if (end) {
      ends = ends || keys.length >= SCANNED_FROM;
      send();
      return;
    }
    keys += event.key;
    if (!ends && keys.length >= SCANNED_FROM) waiting = setTimeout(send, PAUSE_MS);
  }, true);
})();
