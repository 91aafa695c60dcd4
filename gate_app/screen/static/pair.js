// Redeems the link that this page was opened with. It stands behind the #, so that it is in no log.
"use strict";

const said = document.getElementById("said");

async function pair(token) {
  history.replaceState(null, "", location.pathname);
  said.textContent = said.dataset.trying;
  try {
    const sent = { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ token }) };
    const answer = await (await fetch("/pair", sent)).json();
    if (!answer.error) return location.replace(answer.role === "supervisor" ? "/desk" : "/steward");
    said.textContent = answer.error.message;
  } catch {
    said.textContent = said.dataset.away;
  }
}

if (location.hash.length > 1) pair(location.hash.slice(1));
