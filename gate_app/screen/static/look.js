// Day and night: chosen on the screen and remembered there. It runs before the page is drawn, so that none flashes.
"use strict";
{
  const KEPT = "gatehouse-look";
  const root = document.documentElement;
  const first = document.currentScript.dataset.first;
  const light = matchMedia("(prefers-color-scheme: light)");
  // A browser may keep nothing, as in a private window: then the choice lasts as long as the page.
  const kept = () => { try { return localStorage.getItem(KEPT); } catch { return null; } };
  const keep = (look) => { try { localStorage.setItem(KEPT, look); } catch { /* as above */ } };
  const chosen = () => kept() || first || (light.matches ? "day" : "night");
  const show = () => { root.dataset.look = chosen(); };
  const mark = () => {
    const button = document.getElementById("look");
    if (button) button.setAttribute("aria-pressed", String(root.dataset.look === "day"));
  };
  show();
  light.addEventListener("change", () => { show(); mark(); });
  // Another page of the same gate on the same screen follows at once.
  addEventListener("storage", () => { show(); mark(); });
  addEventListener("DOMContentLoaded", () => {
    mark();
    document.getElementById("look")?.addEventListener("click", () => {
      root.dataset.look = root.dataset.look === "day" ? "night" : "day";
      keep(root.dataset.look);
      mark();
    });
  });
}
