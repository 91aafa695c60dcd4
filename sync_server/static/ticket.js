// Shows the tickets of an order: asks with the secret that stands behind the # of the link, which no server log sees.
// What was shown is kept on the device, for whoever has the same link, and shown again where there is no network.
"use strict";

const main = document.querySelector("main");
const secret = decodeURIComponent(location.hash.slice(1));

const fetched = (path) => {
  const headers = secret ? { "X-Order-Secret": secret } : {};
  return fetch(`${main.dataset.api}/${path}`, { headers, cache: "no-store", credentials: "same-origin" });
};

const say = (text, again) => {
  document.getElementById("message").textContent = text;
  document.getElementById("again").hidden = !again;
  document.getElementById("state").hidden = !text;
};

const listed = (list, pairs) => {
  for (const { label, value } of pairs) {
    const group = document.createElement("div");
    const term = group.appendChild(document.createElement("dt"));
    const what = group.appendChild(document.createElement("dd"));
    term.textContent = label;
    what.textContent = value;
    what.dir = "auto";
    list.append(group);
  }
};

const drawn = (svg, label) => {
  const code = document.importNode(new DOMParser().parseFromString(svg, "image/svg+xml").documentElement, true);
  if (!code.getAttribute("viewBox")) code.setAttribute("viewBox", `0 0 ${code.getAttribute("width")} ${code.getAttribute("height")}`);
  code.removeAttribute("width");
  code.removeAttribute("height");
  code.setAttribute("role", "img");
  code.setAttribute("aria-label", label);
  return code;
};

const article = (ticket, number, logo) => {
  const part = document.getElementById("ticket").content.cloneNode(true).querySelector(".ticket");
  part.id = `ticket-${number}`;
  part.tabIndex = -1;
  for (const place of part.querySelectorAll("[data-text]")) place.textContent = ticket[place.dataset.text];
  part.querySelector(".confirmation").hidden = !ticket.confirmation_code;
  for (const list of part.querySelectorAll("[data-list]")) listed(list, ticket[list.dataset.list]);
  const picture = part.querySelector(".logo");
  picture.hidden = !logo;
  if (logo) picture.src = logo; // the organiser's name stands beside it
  part.querySelector(".code").append(drawn(ticket.svg, `${main.dataset.code} ${ticket.number}`));
  return part;
};

const show = (order) => {
  document.documentElement.lang = order.language;
  document.title = order.tickets[0].event;
  document.documentElement.style.setProperty("--organiser", order.colour);
  document.documentElement.style.setProperty("--on-organiser", order.text_colour);
  document.documentElement.style.setProperty("--organiser-accent", order.accent_colour);
  const list = document.getElementById("tickets");
  list.replaceChildren(...order.tickets.map((ticket, index) => article(ticket, index + 1, order.logo)));
  const jump = document.getElementById("jump");
  jump.replaceChildren(...order.tickets.map((ticket, index) => {
    const link = document.createElement("a");
    link.href = `#ticket-${index + 1}`;
    const where = ticket.seat.map((part) => part.value).join(" ");
    link.textContent = ticket.admits > 1 ? ticket.title : `${index + 1} · ${where}`;
    link.addEventListener("click", (click) => {
      click.preventDefault(); // the secret stays where it is: the link can be opened again, and shared with care
      document.getElementById(`ticket-${index + 1}`).scrollIntoView({ block: "nearest", inline: "center" });
    });
    return link;
  }));
  jump.hidden = order.tickets.length < 2;
  if (order.tickets.length > 1) list.tabIndex = 0; // it scrolls from ticket to ticket
  markShown(list, jump);
  document.getElementById("actions").hidden = false;
  say("", false);
};

// Which of the tickets is in sight, as they are swiped.
const markShown = (list, jump) => {
  const watch = new IntersectionObserver((seen) => {
    for (const { target, intersectionRatio } of seen) {
      const link = jump.children[[...list.children].indexOf(target)];
      if (intersectionRatio > 0.5) link?.setAttribute("aria-current", "true");
      else link?.removeAttribute("aria-current");
    }
  }, { root: list, threshold: [0, 0.5, 0.51, 1] });
  for (const ticket of list.children) watch.observe(ticket);
};

// --- Without a network ---

const KEPT = "gatehouse-tickets";
const KEPT_MS = 400 * 86_400_000;

// The secret itself is kept nowhere: only whoever has the link finds the tickets again.
const keptAt = async () => {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(`${main.dataset.api} ${secret}`));
  return `/kept/${[...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, "0")).join("")}`;
};

const canKeep = "caches" in window && "serviceWorker" in navigator && secret !== "";

const keep = async (order) => {
  if (!canKeep) return;
  const cache = await caches.open(KEPT);
  for (const request of await cache.keys()) {
    const { at } = await (await cache.match(request)).json();
    if (Date.now() - at > KEPT_MS) await cache.delete(request);
  }
  await cache.put(await keptAt(), Response.json({ at: Date.now(), order }));
  await navigator.serviceWorker.register(`${location.pathname.replace(/[^/]*$/, "")}offline.js`, { scope: location.pathname });
};

const forget = async () => canKeep && (await caches.open(KEPT)).delete(await keptAt());

const showKept = async () => {
  const found = canKeep && (await (await caches.open(KEPT)).match(await keptAt()));
  if (!found) return false;
  const { at, order } = await found.json();
  show(order);
  const saved = document.getElementById("saved");
  saved.textContent = main.dataset.saved.replace("{when}", new Intl.DateTimeFormat(document.documentElement.lang, { dateStyle: "medium", timeStyle: "short" }).format(at));
  saved.hidden = false;
  return true;
};

// The screen stays on while tickets are shown, where the browser allows it.
const stayAwake = () => document.visibilityState === "visible" && navigator.wakeLock?.request("screen").catch(() => {});

const open = async () => {
  try {
    const response = await fetched("tickets");
    if (response.ok) {
      const order = await response.json();
      document.getElementById("saved").hidden = true;
      show(order);
      stayAwake();
      await keep(order).catch(() => {}); // a private window keeps nothing, and shows them all the same
    } else if (response.status >= 500) (await showKept()) || say(main.dataset.offline, true);
    else {
      say(response.status === 409 ? main.dataset.notYet : main.dataset.unknown, response.status === 409);
      await forget();
    }
  } catch {
    (await showKept().catch(() => false)) || say(main.dataset.offline, true);
  }
};

const save = async (path, name) => {
  try {
    const response = await fetched(path);
    if (!response.ok) throw new Error(String(response.status));
    const link = document.createElement("a");
    link.href = URL.createObjectURL(await response.blob());
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
  } catch {
    say(main.dataset.offline, false);
  }
};

document.getElementById("again").addEventListener("click", open);
document.addEventListener("visibilitychange", () => document.getElementById("tickets").children.length && stayAwake());
addEventListener("online", open);
document.getElementById("pdf").addEventListener("click", () => save("tickets.pdf", "tickets.pdf"));
document.getElementById("calendar").addEventListener("click", () => save("calendar.ics", "event.ics"));
open();
