// The wall asks for itself again, and says so while nobody answers; when the server is back, it goes on.
const EVERY_MS = 5_000;
const PATIENCE_MS = 4_000;
const ENDED = new Set([403, 404, 410]);

async function renew() {
  const answer = await fetch(location.href, { cache: "no-store", redirect: "manual", signal: AbortSignal.timeout(PATIENCE_MS) });
  if (ENDED.has(answer.status)) return location.reload();
  if (!answer.ok) throw new Error(answer.status);
  const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
  const wall = fresh.querySelector("#wall");
  if (!wall) throw new Error("another page");
  document.querySelector("#wall").replaceWith(wall);
  document.querySelector("[data-stale]").replaceWith(fresh.querySelector("[data-stale]"));
  document.documentElement.classList.remove("no-news");
}

function say() {
  document.documentElement.classList.add("no-news");
  document.querySelector("[data-stale]").hidden = false;
}

async function goOn() {
  await renew().catch(say);
  setTimeout(goOn, EVERY_MS);
}

setTimeout(goOn, EVERY_MS);
addEventListener("online", () => renew().catch(say));
