"""The seat-map editor with a stadium of 60,000 seats, in Chromium with a processor four times slower.

`interactive` is the time from the navigation to the first frame that shows all seats, with the map read and every tool
ready. `frames` are frames a second while the view is panned, from afar and from near, and zoomed; the worst of the
three counts. The yardstick are the frames of the same page while it draws nothing. Only the browser's processor is
slowed down, not the server's. `processor` is the time on a processor of the page's own thread, the slow-down included,
and for the opening that of the server too: unlike the others it hardly depends on what else the machine does.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from typing import Final

from playwright.sync_api import Page, ViewportSize, sync_playwright

from scripts.benchmarking.meters.cpu_time import cpu_seconds, cpu_seconds_since
from scripts.benchmarking.meters.slowed_page import PATIENCE_MS, SlowedPage
from scripts.benchmarking.result import Figure, Goal, Result, at_least, at_most
from scripts.benchmarking.rows import stadium_event
from scripts.benchmarking.servers.measured_server import MeasuredServer, measured_server
from scripts.benchmarking.statistics import Spread
from shared.clock import wall_clock
from sync_server.plumbing.requests.principals import SYSTEM, ActionContext
from sync_server.seating import service as seating
from sync_server.venues import service as venues

SLOWER: Final = 4
PROGRAMS: Final = ("chromium", "chromium-browser", "google-chrome")
FRAMES: Final = 90
MOVEMENTS: Final = 4  # nothing, far, near, zoomed
WATCH: Final = """(() => {
  const look = () => {
    const root = document.querySelector("#seat-map");
    if (root && "ready" in root.dataset && root.page.painter.layer.renders) window.readyAt ??= performance.now();
    else requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
})()"""
"""Notes when the page first shows its seats."""
PANNED: Final = """async (frames) => {
  const { board, painter } = document.querySelector("#seat-map").page;
  const rate = async (step) => {
    await new Promise((done) => setTimeout(done, 300));
    const begun = performance.now();
    for (let n = 0; n < frames; n++) {
      step(n);
      await new Promise(requestAnimationFrame);
    }
    return (1000 * frames) / (performance.now() - begun);
  };
  const drawn = (change) => (n) => (change(n), painter.redraw());
  const nothing = await rate(() => {});
  const far = await rate(drawn((n) => board.view.pan(n % 30 < 15 ? 14 : -14, n % 2 ? 5 : -5)));
  board.view.zoom(12);
  const near = await rate(drawn((n) => board.view.pan(n % 60 < 30 ? 16 : -16, 3)));
  const zoomed = await rate(drawn((n) => board.view.zoom(n % 20 < 10 ? 1.1 : 1 / 1.1)));
  return { nothing, far, near, zoomed };
}"""


def measure(*, quick: bool) -> Iterator[Result]:
    """Measure on SQLite; the database has no part in it but the first answer."""
    with measured_server("sqlite") as server, sync_playwright() as playwright:
        path = _stadium(server)
        server.serve()
        program = next(filter(None, map(shutil.which, PROGRAMS)))
        flags = ["--no-sandbox"] if os.geteuid() == 0 else []
        browser = playwright.chromium.launch(executable_path=program, args=flags)
        editor = Editor(browser.new_page(viewport=ViewportSize(width=1440, height=900)), server, path)
        opened = [editor.opened() for _ in range(3 if quick else 7)]
        panned = [editor.panned() for _ in range(2 if quick else 4)]
        browser.close()
    wall, computed = Spread.of([each[0] for each in opened]), Spread.of([each[1] for each in opened])
    yield _result("60000 seats interactive", Figure.of_spread(wall, "ms"), at_most(2_000, "p50"))
    yield _result("60000 seats interactive, processor", Figure.of_spread(computed, "ms"), at_most(2_000, "p50"))
    slowest = min(panned, key=_worst)
    rate, nothing = _worst(slowest), float(slowest["nothing"])
    figure = Figure(value=rate, unit="frames/s", yardstick=nothing, ratio=rate / nothing)
    yield _result("60000 seats frames", figure, at_least(30))
    frames = min(float(each["processor"]) for each in panned)
    yield _result("60000 seats frames, processor", Figure(value=frames, unit="frames/s"), at_least(30))


def _result(case: str, figure: Figure, goal: Goal) -> Result:
    return Result("editor", case, figure, goal)


class Editor:
    """The editor of the stadium in a slow browser."""

    def __init__(self, page: Page, server: MeasuredServer, path: str) -> None:
        """Sign in first, at full speed."""
        page.set_default_timeout(PATIENCE_MS)
        _sign_in(page, server)
        self._page, self._server, self._path = page, server, path
        self._slowed = SlowedPage(page, SLOWER, WATCH)

    def opened(self) -> tuple[float, float]:
        """Milliseconds until it can be used: by the clock, and what was computed."""
        self._page.goto("about:blank")
        page_before, server_before = self._slowed.computed(), cpu_seconds(self._server.programs)
        self._page.goto(f"{self._server.layout.address}{self._path}")
        self._page.wait_for_function("() => window.readyAt")
        served = sum(cpu_seconds_since(server_before, self._server.programs).values())
        computed = self._slowed.computed() - page_before
        return float(self._page.evaluate("() => window.readyAt")), 1000 * (computed + served)

    def panned(self) -> dict[str, float]:
        """Frames a second of each movement, and how many a second could be computed."""
        before = self._slowed.computed()
        rates: dict[str, float] = self._page.evaluate(PANNED, FRAMES)
        return rates | {"processor": MOVEMENTS * FRAMES / (self._slowed.computed() - before)}


def _worst(rates: dict[str, float]) -> float:
    return min(rates["far"], rates["near"], rates["zoomed"])


def _stadium(server: MeasuredServer) -> str:
    """The page of a draft with sixty thousand seats."""
    organisation = server.demo["organisation"]["id"]
    with server.runtime() as runtime, runtime.parts.database.writing() as session:
        context = ActionContext(SYSTEM, wall_clock(), os.urandom)
        venue = venues.create_venue(session, organisation, stadium_event.venue_fields(), context)
        prepared = seating.prepare(stadium_event.plan())
        layout = seating.create_layout(session, organisation, venue.id, prepared, context)
        return f"/admin/venues/{venue.id}/seat-maps/{layout.id}"


def _sign_in(page: Page, server: MeasuredServer) -> None:
    page.goto(f"{server.layout.address}/admin/login")
    page.get_by_label("E-mail address").fill(server.demo["login"]["email"])
    page.get_by_label("Password").fill(server.demo["login"]["password"])
    page.get_by_role("button", name="Sign in", exact=True).click()
    page.wait_for_load_state()
