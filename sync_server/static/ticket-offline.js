// Opens the page of an order's tickets where there is no network: the page, and what it is made of, as they were last seen.
// The tickets themselves are kept by the page, for whoever has the link; this worker knows no secret and no ticket.
"use strict";

const PAGE = "gatehouse-ticket-page";
const path = new URL(self.registration.scope).pathname;
const PARTS = ["/static/tokens.css", "/static/ticket.css", "/static/ticket.js", "/static/gatehouse.svg", "/static/vendor/inter/inter-latin-wght-normal.woff2"];

self.addEventListener("install", (event) => {
  event.waitUntil(caches.open(PAGE).then((cache) => cache.addAll([path, ...PARTS])).then(() => self.skipWaiting()));
});

self.addEventListener("activate", (event) => event.waitUntil(self.clients.claim()));

const fresh = async (request) => {
  const cache = await caches.open(PAGE);
  try {
    const response = await fetch(request);
    if (response.ok) await cache.put(request, response.clone());
    return response;
  } catch (problem) {
    const kept = await cache.match(request, { ignoreSearch: true, ignoreVary: true });
    if (kept) return kept;
    throw problem;
  }
};

// Nothing but this page and its parts: the pages of the shop are asked for as ever.
self.addEventListener("fetch", (event) => {
  const { pathname, search } = new URL(event.request.url);
  const ours = pathname === path || (PARTS.includes(pathname) && !search);
  if (event.request.method === "GET" && ours) event.respondWith(fresh(event.request));
});
