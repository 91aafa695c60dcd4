// What the desk's pages share: live counters, keys, dialogs, and lists that can be walked without a mouse.
"use strict";

function fill(element, numbers) {
  for (const field of element.querySelectorAll(":scope [data-number]")) {
    if (field.closest("[data-gate]") !== (element.matches("[data-gate]") ? element : null)) continue;
    const value = numbers[field.dataset.number];
    if (value !== undefined) field.textContent = value;
  }
}

function show(section, counters) {
  fill(section, counters);
  for (const gate of counters.gates) {
    const line = section.querySelector(`[data-gate="${gate.number}"]`);
    if (line) fill(line, gate);
  }
  for (const line of section.querySelectorAll("[data-zone]")) {
    const zone = counters.zones.find((each) => String(each.number) === line.dataset.zone);
    line.querySelector("[data-inside]").textContent = zone ? zone.inside : 0;
  }
  const bounds = section.querySelector("[data-bounds]");
  if (bounds) bounds.hidden = counters.inside_least === counters.inside_most;
  section.querySelector("[data-warn]")?.classList.toggle("bad", counters.conflicts > 0);
}

// Counters arrive by themselves; what is written in sentences is asked for again, in the reader's language.
function follow(section) {
  const stream = new EventSource(section.dataset.live, { withCredentials: true });
  let silence = section.dataset.silent;
  stream.addEventListener("counters", (event) => {
    const counters = JSON.parse(event.data);
    show(section, counters);
    section.dispatchEvent(new Event("news"));
    const now = `${counters.silent}/${counters.devices}/${counters.silent_since}`;
    if (now !== silence) {
      silence = now;
      section.dispatchEvent(new Event("silence"));
    }
  });
  stream.addEventListener("status", () => location.reload());
  addEventListener("pagehide", () => stream.close());
}

for (const section of document.querySelectorAll("[data-live]")) follow(section);

for (const here of document.querySelectorAll(".tabs [aria-current], .life [aria-current]")) here.scrollIntoView({ inline: "center", block: "nearest" });

const isTyping = (target) => target.closest("input, select, textarea, [contenteditable], canvas, [role=application]");

// What is fetched into a page does not rename it.
addEventListener("htmx:before:swap", (event) => { event.detail.ctx.title = null; });

const START_OF_KEYS_MS = 1500;
let begun = { key: "", at: 0 };

function walk(step) {
  const lines = [...document.querySelectorAll("main table.list tbody a, main .tile :is(h2, h3) a, main .decision a, main .map-list a, main .entry, main .checks a")].filter((link) => link.offsetParent);
  if (lines.length) lines[Math.min(lines.length - 1, Math.max(0, lines.indexOf(document.activeElement) + step))].focus();
}

addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
  const isSecond = begun.key && event.timeStamp - begun.at < START_OF_KEYS_MS;
  const link = isSecond && document.querySelector(`[data-keys="${begun.key} ${CSS.escape(event.key)}"]`);
  begun = { key: "", at: 0 };
  if (link) link.click();
  else if (event.key === "g") begun = { key: "g", at: event.timeStamp };
  else if (event.key === "?") document.getElementById("keys")?.showModal();
  else if (event.key === "/") document.querySelector('[data-key="/"]')?.focus();
  else if (event.key === "j") walk(1);
  else if (event.key === "k") walk(-1);
  else return;
  event.preventDefault();
});

addEventListener("click", (event) => {
  const opener = event.target.closest("[data-open]");
  if (opener) document.getElementById(opener.dataset.open)?.showModal();
  const menu = document.querySelector("details.me[open]");
  if (menu && (opener || !menu.contains(event.target))) menu.open = false;
  if (event.target.closest("[data-print]")) print();
});

// Numbers with a button on each side.
addEventListener("click", (event) => {
  const button = event.target.closest("[data-step]");
  const field = button?.closest(".stepper").querySelector("input");
  if (!field) return;
  field.value = Math.min(Number(field.max || 200), Math.max(Number(field.min || 0), Number(field.value || 0) + Number(button.dataset.step)));
  field.dispatchEvent(new Event("input", { bubbles: true }));
});

// A form is sent once, however often its button is pressed.
addEventListener("submit", (event) => {
  const form = event.target;
  if (form.method !== "post" || form.matches("[hx-post]")) return;
  if (form.dataset.sent) event.preventDefault();
  form.dataset.sent = "yes";
});
addEventListener("pageshow", () => document.querySelectorAll("form[data-sent]").forEach((form) => delete form.dataset.sent));

// Fields that are needed only with one choice of a list.
for (const select of document.querySelectorAll("[data-shows]")) {
  const extra = document.getElementById(select.dataset.shows);
  const update = () => { extra.hidden = select.value !== "new"; };
  select.addEventListener("change", update);
  update();
}
const zone = document.querySelector("[data-timezone]");
if (zone && zone.defaultValue === zone.value) zone.value = Intl.DateTimeFormat().resolvedOptions().timeZone || zone.value;

// The sum of what is typed at the box office.
const till = document.querySelector("[data-till]");
if (till) {
  const sum = till.querySelector("[data-sum]");
  const total = () => {
    const cents = [...till.querySelectorAll("[data-cents]")].reduce((all, field) => all + Number(field.dataset.cents) * (Number(field.value) || 0), 0);
    for (const button of till.querySelectorAll("[data-take]")) button.setAttribute("aria-pressed", String(button.closest("[data-counts]").querySelector("input").value === button.dataset.take));
    sum.textContent = (cents / 100).toLocaleString("en-GB", { style: "currency", currency: sum.dataset.currency });
  };
  // One tap for how many; a second on the same number takes it back.
  till.addEventListener("click", (event) => {
    const button = event.target.closest("[data-take]"), field = button?.closest("[data-counts]").querySelector("input");
    if (!button) return;
    field.value = field.value === button.dataset.take ? 0 : button.dataset.take;
    total();
  });
  till.addEventListener("input", total);
  total();
}

// A picture is looked at before it is sent; as data, because the policy allows no other address of it.
for (const field of document.querySelectorAll("[data-preview]")) {
  field.addEventListener("change", () => {
    const shown = document.getElementById(field.dataset.preview), reader = new FileReader();
    shown.hidden = !field.files.length;
    reader.addEventListener("load", () => { shown.src = reader.result; });
    if (field.files.length) reader.readAsDataURL(field.files[0]);
  });
}
