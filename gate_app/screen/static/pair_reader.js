// Pairs a telephone as a reader. The link stands behind the #: it is in no log, and goes on to the encrypted page unread.
"use strict";

(() => {
  const byId = (id) => document.getElementById(id);
  const token = location.hash.slice(1);
  const { secure, port } = document.querySelector("main").dataset;

  async function pair() {
    history.replaceState(null, "", location.pathname);
    byId("ways").hidden = true;
    byId("said").textContent = byId("said").dataset.trying;
    try {
      const sent = { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ token }) };
      const answer = await (await fetch("/pair", sent)).json();
      if (!answer.error) return location.replace("/reader");
      byId("said").textContent = answer.error.message;
    } catch {
      byId("said").textContent = byId("said").dataset.away;
    }
  }

  if (!token) return;
  if (secure === "yes") { pair(); return; }
  byId("said").hidden = true;
  byId("ways").hidden = false;
  byId("plain").addEventListener("click", pair);
  if (port) byId("secure").href = `https://${location.hostname}:${port}/reader#${token}`;
})();
