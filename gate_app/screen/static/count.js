// How many people are inside, corrected by a supervisor who has counted them.
"use strict";

(() => {
  const byId = (id) => document.getElementById(id);
  const signed = (n) => (n > 0 ? "+" : "") + n;

  addEventListener("gate-situation", (message) => {
    const { inside, zones } = message.detail;
    byId("count-help").textContent = byId("count-help").dataset.words.replace("{n}", () => inside ?? "–");
    byId("count-zone-part").hidden = zones.length === 0;
    if (byId("count-zone").length !== zones.length + 1) {
      byId("count-zone").replaceChildren(byId("count-zone").options[0], ...zones.map((each) => new Option(each.name, each.zone)));
    }
  });
  byId("count-form").addEventListener("submit", (event) => {
    event.preventDefault();
    const change = byId("count-change").valueAsNumber;
    const fields = { change, zone: Number(byId("count-zone").value) };
    const what = byId("count-script").dataset.do.replace("{n}", () => signed(change));
    withPin(what, "correct", fields, { reason: true, then: () => byId("count-form").reset() });
  });
})();
