"""The shop's seat picker with a stadium of 60,000 seats, in Chromium with a processor four times slower.

`interactive` is the time from the navigation to the first frame after which seats can be chosen. `frames` are frames a
second while the map is panned over the whole map, over seats of a few pixels and over numbered ones, and while it is
zoomed with the wheel; the worst of the four counts, and of several visits the median. The yardstick are the frames of
the same page while it draws nothing. Only the browser's processor is slowed down, not the server's. `processor` is the
time on a processor of the page's own thread, the slow-down included: unlike the others it hardly depends on what else
the machine does.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from typing import Final

from playwright.sync_api import ViewportSize, sync_playwright

from scripts.benchmarking.meters.slowed_page import SlowedPage
from scripts.benchmarking.result import Figure, Result, at_least, at_most
from scripts.benchmarking.rows import stadium_event
from scripts.benchmarking.servers.measured_server import MeasuredServer, measured_server
from scripts.benchmarking.statistics import Spread
from shared.clock import wall_clock
from sync_server.plumbing.requests.principals import SYSTEM, ActionContext
from sync_server.tickets import schemas as ticket_shapes
from sync_server.tickets.types import type_service

SLOWER: Final = 4
SIZE: Final = ViewportSize(width=1440, height=900)
PROGRAMS: Final = ("chromium", "chromium-browser", "google-chrome")
FRAMES: Final = 90
MOVEMENTS: Final = 5  # nothing, far, small, numbered, zoomed
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
  const [far, small, numbered] = [await panned(4.2), await panned(7), await panned(26)];
  map.whole();
  return { nothing, far, small, numbered, zoomed: await rate(wheel) };
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
                page = browser.new_context(viewport=SIZE).new_page()
                visitor = SlowedPage(page, SLOWER, WATCH)
                opened.append(_opened(visitor, f"{server.layout.address}{path}"))
                rates.append(_moved(visitor))
                page.context.close()
            browser.close()
    yield from _results([Spread.of(each) for each in zip(*opened, strict=True)], rates)


def _results(opened: list[Spread], rates: list[dict[str, float]]) -> Iterator[Result]:
    for case, spread in zip(("60000 seats interactive", "60000 seats interactive, processor"), opened, strict=True):
        yield Result("picker", case, Figure.of_spread(spread, "ms"), at_most(2_000, "p50"))
    yardstick = Spread.of([each["nothing"] for each in rates]).p50
    found = Spread.of([_worst(each) for each in rates]).p50
    figure = Figure(value=found, unit="frames/s", yardstick=yardstick, ratio=found / yardstick)
    yield Result("picker", "60000 seats frames", figure, at_least(30))
    computed = Figure(value=Spread.of([each["processor"] for each in rates]).p50, unit="frames/s")
    yield Result("picker", "60000 seats frames, processor", computed, at_least(30))


def _opened(visitor: SlowedPage, address: str) -> tuple[float, float]:
    """Milliseconds until seats can be chosen: by the clock, and what was computed."""
    visitor.page.goto(address)
    visitor.page.wait_for_function("() => window.readyAt")
    return float(visitor.page.evaluate("() => window.readyAt")), 1000 * visitor.computed()


def _moved(visitor: SlowedPage) -> dict[str, float]:
    """Frames a second of each movement, and how many a second could be computed."""
    before = visitor.computed()
    rates: dict[str, float] = visitor.page.evaluate(MOVED, FRAMES)
    return rates | {"processor": MOVEMENTS * FRAMES / (visitor.computed() - before)}


def _worst(rates: dict[str, float]) -> float:
    return min(rates[name] for name in ("far", "small", "numbered", "zoomed"))


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
