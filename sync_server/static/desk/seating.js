// Beside the map of seats: who sits on the chosen one, and the best seats for somebody who asks by telephone.
const section = document.querySelector("#seats");
const about = document.querySelector("[data-about]");
const caller = document.querySelector("[data-caller]");

// A guest who is being moved: the next free seat that is chosen is offered to them.
const moving = document.querySelector("[data-moving]");
let guest;

function startMoving(link) {
  guest = link && { name: link.dataset.move, page: link.href };
  moving.hidden = !guest;
  moving.querySelector("[data-moving-words]").textContent = guest ? moving.dataset.choose.replace("{name}", guest.name) : "";
  if (guest) document.querySelector("[data-canvas]").focus();
  section.toggleAttribute("data-is-moving", Boolean(guest));
  offerSeat();
}

// In the bar of actions, which phones keep in sight below the map.
function offerSeat() {
  section.querySelector("[data-move-here]")?.remove();
  const free = about.querySelector("[data-free]");
  if (!guest || !free) return;
  const link = document.createElement("a");
  link.className = "button strong";
  link.dataset.moveHere = "";
  link.href = `${guest.page}?seat=${free.dataset.free}`;
  link.textContent = moving.dataset.here.replace("{name}", guest.name);
  section.querySelector("[data-bar]").append(link);
}

async function show(number) {
  about.replaceChildren();
  if (number === undefined) return;
  const wanted = (about.dataset.of = String(number));
  const answer = await fetch(`${about.dataset.about}/${number}`, { headers: { Accept: "text/html" } });
  if (!answer.ok || about.dataset.of !== wanted) return;
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  about.replaceChildren(...page.querySelectorAll("#who"));
  offerSeat();
}

async function ask(path, body) {
  const headers = { Accept: "application/json", "Content-Type": "application/json", "X-CSRF-Token": section.dataset.csrf };
  const answer = await fetch(path, { method: "POST", headers, body: JSON.stringify(body) });
  const payload = await answer.json();
  if (!answer.ok) throw new Error(payload.error.message);
  return payload;
}

function say(text, look = "") {
  const note = caller.querySelector("[data-offer]");
  note.textContent = text;
  note.className = `note ${look}`;
  note.hidden = !text;
}

function offer(names, words) {
  caller.dataset.names = JSON.stringify(names);
  caller.querySelector("[data-hold]").hidden = !names.length;
  say(words, names.length ? "" : "warn");
  section.dispatchEvent(new CustomEvent("find", { detail: names }));
}

async function find(form) {
  const fields = new FormData(form);
  const body = { size: Number(fields.get("size")), wheelchairs: Number(fields.get("wheelchairs")), apart: fields.has("apart") };
  const found = await ask(`${caller.dataset.caller}/layout/best-seats`, body);
  offer(found.clusters.flatMap((cluster) => cluster.seat_ids), found.words);
}

async function hold() {
  const { data } = await ask(`${caller.dataset.caller}/holds`, { seat_ids: JSON.parse(caller.dataset.names) });
  const until = new Date(data.holds[0].held_until).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
  say(caller.dataset.held.replace("{time}", until), "good");
  caller.querySelector("[data-hold]").hidden = true;
}

const tell = (problem) => offer([], problem.message);

if (section && about) {
  section.addEventListener("seat", (event) => show(event.detail));
  about.addEventListener("click", (event) => {
    const link = event.target.closest("[data-move]");
    if (!link) return;
    event.preventDefault();
    startMoving(link);
  });
  moving.querySelector("[data-moving-stop]").addEventListener("click", () => startMoving());
}
if (section && caller) {
  caller.addEventListener("submit", (event) => {
    event.preventDefault();
    find(event.target).catch(tell);
  });
  caller.querySelector("[data-hold]").addEventListener("click", () => hold().catch(tell));
}
