// Shows the tickets of an order: asks with the secret that stands behind the # of the link, which no server log sees.
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
    link.textContent = ticket.admits > 1 ? ticket.title : ticket.seat.map((part) => part.value).join(" ") || String(index + 1);
    link.addEventListener("click", (click) => {
      click.preventDefault(); // the secret stays where it is: the link can be opened again, and shared with care
      document.getElementById(`ticket-${index + 1}`).scrollIntoView({ behavior: "smooth" });
    });
    return link;
  }));
  jump.hidden = order.tickets.length < 2;
  document.getElementById("actions").hidden = false;
  say("", false);
};

const open = async () => {
  try {
    const response = await fetched("tickets");
    if (response.ok) show(await response.json());
    else if (response.status === 409) say(main.dataset.notYet, true);
    else if (response.status >= 500) say(main.dataset.offline, true);
    else say(main.dataset.unknown, false);
  } catch {
    say(main.dataset.offline, true);
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
document.getElementById("pdf").addEventListener("click", () => save("tickets.pdf", "tickets.pdf"));
document.getElementById("calendar").addEventListener("click", () => save("calendar.ics", "event.ics"));
open();
