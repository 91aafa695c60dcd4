// A scanner that types: its keys go to the window in front, and from here to the gate, which makes codes of them.
"use strict";

(() => {
  // Scanners leave up to 20 ms between keys; people are slower, and end with Enter.
  const SEND_AFTER_MS = 40;
  const IN_A_CODE_MS = 500;
  let keys = "";
  let typedAt = -Infinity;
  let sending = null;

  function send() {
    clearTimeout(sending);
    sending = null;
    const body = JSON.stringify({ keys });
    keys = "";
    fetch("/typed", { method: "POST", headers: { "Content-Type": "application/json" }, body }).catch(() => undefined);
  }

  // Before any button has them: the Enter at the end of a code must not press what happens to have the focus.
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, select, textarea, dialog")) return;
    const within = performance.now() - typedAt < IN_A_CODE_MS;
    const ends = within && (event.key === "Enter" || event.key === "Tab");
    if (event.key.length !== 1 && !ends) return;
    // The space bar presses buttons for those who use no mouse.
    if (event.key === " " && !within) return;
    event.preventDefault();
    event.stopPropagation();
    typedAt = performance.now();
    keys += ends ? "\n" : event.key;
    clearTimeout(sending);
    if (ends) send(); else sending = setTimeout(send, SEND_AFTER_MS);
  }, true);
})();
