"""The seat-map editor with a stadium of 60,000 seats, in Chromium with a processor four times slower.

`interactive` is the time from the navigation to the first frame that shows all seats, with the map read and every tool
ready. `frames` are frames a second while the view is panned, from afar and from near, and zoomed; the worst of the
three counts. The yardstick are the frames of the same page while it draws nothing. Only the browser's processor is
slowed down, not the server's.
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
from sync_server.plumbing.principals import SYSTEM, ActionContext
from sync_server.seating import service as seating
from sync_server.venues import service as venues

SLOWER: Final = 4
SIZE: Final = {"width": 1440, "height": 900}
PROGRAMS: Final = ("chromium", "chromium-browser", "google-chrome")
PATIENCE_MS: Final = 120_000
FRAMES: Final = 90
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
    await new Promise(requestAnimationFrame);
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
    with measured_server("sqlite") as server:
        path = _stadium(server)
        server.serve()
        opened, rates = [], []
        with sync_playwright() as playwright:
            program = next(filter(None, map(shutil.which, PROGRAMS)))
            flags = ["--no-sandbox"] if os.geteuid() == 0 else []
            browser = playwright.chromium.launch(executable_path=program, args=flags)
            page = browser.new_page(viewport=SIZE)  # type: ignore[arg-type]  # a plain dict is one
            page.set_default_timeout(PATIENCE_MS)
            _sign_in(page, server)
            page.context.new_cdp_session(page).send("Emulation.setCPUThrottlingRate", {"rate": SLOWER})
            page.add_init_script(WATCH)
            for _ in range(3 if quick else 7):
                page.goto(f"{server.layout.address}{path}")
                page.wait_for_function("() => window.readyAt")
                opened.append(float(page.evaluate("() => window.readyAt")))
                rates.append(page.evaluate(PANNED, FRAMES))
            browser.close()
        yield Result(
            "editor", "60000 seats interactive", Figure.of_spread(Spread.of(opened), "ms"), at_most(2_000, "p50")
        )
        worst = min(rates, key=_worst)
        yardstick = float(worst["nothing"])
        figure = Figure(value=_worst(worst), unit="frames/s", yardstick=yardstick, ratio=_worst(worst) / yardstick)
        yield Result("editor", "60000 seats frames", figure, at_least(30))


def _worst(rates: dict[str, Any]) -> float:
    return float(min(rates["far"], rates["near"], rates["zoomed"]))


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
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_load_state()
