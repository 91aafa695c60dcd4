"""The shop's seat picker with a stadium of 60,000 seats, in Chromium with a processor four times slower.

`interactive` is the time from the navigation to the first frame after which seats can be chosen. `frames` are frames a
second while the map is panned over the whole house, over seats of a few pixels and over numbered ones, and while it is
zoomed with the wheel; the worst of the four counts, and of several visits the median. The yardstick are the frames of
the same page while it draws nothing. Only the browser's processor is slowed down, not the server's.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from typing import Any, Final

from playwright.sync_api import Page, sync_playwright

from scripts.benchmarking import stadium_event
from scripts.benchmarking.measured_server import MeasuredServer, measured_server
from scripts.benchmarking.result import Figure, Result, at_least, at_most
from scripts.benchmarking.statistics import Spread
from shared.clock import wall_clock
from sync_server.plumbing.requests.principals import SYSTEM, ActionContext
from sync_server.tickets import schemas as ticket_shapes
from sync_server.tickets import type_service

SLOWER: Final = 4
SIZE: Final = {"width": 1440, "height": 900}
PROGRAMS: Final = ("chromium", "chromium-browser", "google-chrome")
PATIENCE_MS: Final = 120_000
FRAMES: Final = 90
WATCH: Final = """(() => {
  const look = () => {
    const ready = document.querySelector("#picker")?.dataset.ready;
    requestAnimationFrame(ready ? () => (window.readyAt ??= performance.now()) : look);
  };
  requestAnimationFrame(look);
})()"""
MOVED: Final = """async (frames) => {
  const { map } = document.querySelector("#picker").page;
  const rate = async (step) => {
    for (let n = 0; n < 3; n++) await new Promise(requestAnimationFrame);
    const begun = performance.now();
    for (let n = 0; n < frames; n++) {
      step(n);
      await new Promise(requestAnimationFrame);
    }
    return (1000 * frames) / (performance.now() - begun);
  };
  const panned = async (pixels) => {
    map.look({ x: map.box.left + map.box.width / 2, y: map.box.top + map.box.height / 4 }, pixels);
    return rate((n) => (map.view.pan(n % 60 < 30 ? 16 : -16, n % 20 < 10 ? 5 : -5), map.redraw()));
  };
  const turned = (deltaY) => new WheelEvent("wheel", { deltaY, cancelable: true });
  const wheel = (n) => map.canvas.dispatchEvent(turned(n % 40 < 20 ? -60 : 60));
  const nothing = await rate(() => {});
  const [house, small, numbered] = [await panned(4.2), await panned(7), await panned(26)];
  map.whole();
  return { nothing, house, small, numbered, zoomed: await rate(wheel) };
}"""


def measure(*, quick: bool) -> Iterator[Result]:
    """Measure on SQLite; the database has no part in it but the first answer."""
    with measured_server("sqlite") as server:
        path = _stadium(server)
        server.serve()
        opened, rates = [], []
        with sync_playwright() as playwright:
            program = next(filter(None, map(shutil.which, PROGRAMS)))
            flags = ["--no-sandbox"] if os.geteuid() == 0 else []
            browser = playwright.chromium.launch(executable_path=program, args=flags)
            for _ in range(3 if quick else 7):  # a new visitor each time, who has nothing in the cache
                page = browser.new_context(viewport=SIZE).new_page()  # type: ignore[arg-type]  # a plain dict is one
                opened.append(_opened(page, f"{server.layout.address}{path}"))
                rates.append(page.evaluate(MOVED, FRAMES))
                page.context.close()
            browser.close()
    yield Result("picker", "60000 seats interactive", Figure.of_spread(Spread.of(opened), "ms"), at_most(2_000, "p50"))
    yardstick = Spread.of([float(each["nothing"]) for each in rates]).p50
    found = Spread.of([_worst(each) for each in rates]).p50
    figure = Figure(value=found, unit="frames/s", yardstick=yardstick, ratio=found / yardstick)
    yield Result("picker", "60000 seats frames", figure, at_least(30))


def _opened(page: Page, address: str) -> float:
    page.set_default_timeout(PATIENCE_MS)
    page.context.new_cdp_session(page).send("Emulation.setCPUThrottlingRate", {"rate": SLOWER})
    page.add_init_script(WATCH)
    page.goto(address)
    page.wait_for_function("() => window.readyAt")
    return float(page.evaluate("() => window.readyAt"))


def _worst(rates: dict[str, Any]) -> float:
    return float(min(rates[name] for name in ("house", "small", "numbered", "zoomed")))


def _stadium(server: MeasuredServer) -> str:
    """The page with the seats of a stadium that is two fifths sold, with a price for each stand."""
    stadium, organisation = stadium_event.create_stadium_event(server), server.demo["organisation"]
    with server.runtime() as runtime, runtime.parts.database.writing() as session:
        context = ActionContext(SYSTEM, wall_clock(), os.urandom)
        for zone in range(1, stadium_event.STANDS + 1):
            made = ticket_shapes.NewTicketType(
                name=f"Stand {zone}", price_cents=2_000 * zone, quantity=60_000, zone=zone
            )
            type_service.create_type(session, organisation["id"], stadium.event_id, made.model_dump(), context)
    return f"/o/{organisation['slug']}/events/{stadium.event_id}/seats"
