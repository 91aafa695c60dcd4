"""Pages of the shop that a crowd opens: the list of events and the page of an event, each rendered anew.

`per second` asks the server itself with eight clients that ask again at once and show no ETag, on PostgreSQL with two
processes; nothing between them and the server keeps a page. The yardstick is a bare Flask endpoint that sends the
same bytes ready-made, measured before and after. `first visit` opens the page of an event by HTTPS through the shipped
nginx file, in Chromium with a processor four times slower and nothing in its cache: what is carried over the network
without pictures, and when the largest part of the page is painted. Only the browser's processor is slowed down.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from itertools import repeat
from typing import Any, Final

import requests
from playwright.sync_api import Browser, CDPSession, Page, ViewportSize, sync_playwright

from scripts.benchmarking.clients.load_generator import LoadResult, generate_load
from scripts.benchmarking.result import Figure, Result, at_least, at_most
from scripts.benchmarking.servers.measured_server import MeasuredServer, measured_server
from scripts.benchmarking.statistics import Spread
from scripts.benchmarking.yardsticks.bare_bytes import BareBytes
from scripts.private_services.nginx import NAME, Behind, NginxServer
from scripts.processes.ports import LOOPBACK
from shared.clock import wall_clock
from shared.lifecycle import EventStatus
from sync_server.events import schemas as event_shapes
from sync_server.events import service as events
from sync_server.events.lifecycle import status
from sync_server.plumbing.api.schemas import iso
from sync_server.plumbing.requests.principals import SYSTEM, ActionContext
from sync_server.tickets import schemas as ticket_shapes
from sync_server.tickets.types import type_service

CLIENTS: Final = 8
WARM_UP: Final = 200
PAGES: Final = 4_000
QUICK_PAGES: Final = 1_200
EVENTS: Final = 24
"""As many as one page of the list shows."""
RATE: Final = at_least(430)
SLOWER: Final = 4
PROGRAMS: Final = ("chromium", "chromium-browser", "google-chrome")
DAY_MS: Final = 86_400_000
PARAGRAPH: Final = "Four choirs and a brass band play from three stages around the harbour basin. " * 4
PAINTED: Final = """() => new Promise((done) => {
  new PerformanceObserver((list) => done(list.getEntries().at(-1).startTime))
    .observe({ type: "largest-contentful-paint", buffered: true });
})"""


def measure(*, quick: bool) -> Iterator[Result]:
    """Measure the server alone, then a first visit through nginx."""
    os.environ["GATEHOUSE_TRUSTED_PROXIES"] = "1"
    try:
        with measured_server("postgresql") as server:
            slug, event = _filled(server)
            server.serve()
            pages = QUICK_PAGES if quick else PAGES
            yield _rate(server, "feed page per second", f"/o/{slug}", pages)
            yield _rate(server, "event page per second", f"/o/{slug}/events/{event}", pages)
            yield from _first_visits(server, f"/o/{slug}/events/{event}", 5 if quick else 15)
    finally:
        del os.environ["GATEHOUSE_TRUSTED_PROXIES"]


def _rate(server: MeasuredServer, case: str, path: str, pages: int) -> Result:
    shown = requests.get(server.layout.address + path, headers={"X-Forwarded-For": "198.51.100.7"}, timeout=30)
    bare = BareBytes(server.layout.folder, shown.content)
    bare.start()
    try:
        _asked(server.layout.address, path, WARM_UP)
        _asked(bare.address, "/", WARM_UP)
        yardstick = _asked(bare.address, "/", pages)
        found = _asked(server.layout.address, path, pages)
        yardstick.add(_asked(bare.address, "/", pages))
    finally:
        bare.stop()
    if set(found.statuses) != {200}:
        raise RuntimeError(f"{path} answered {dict(found.statuses)}")
    spread = Spread.of(found.millis)
    percentiles = {"p50": spread.p50, "p95": spread.p95, "p99": spread.p99}
    ratio = found.rate / yardstick.rate
    figure = Figure(value=found.rate, unit="/s", yardstick=yardstick.rate, ratio=ratio, **percentiles)
    return Result("pages", case, figure, RATE)


def _asked(address: str, path: str, pages: int) -> LoadResult:
    request = (
        f"GET {path} HTTP/1.1\r\nHost: bench\r\nX-Forwarded-For: 198.51.100.7\r\nAccept: text/html\r\n"
        "Accept-Language: en\r\n\r\n"
    ).encode()
    return generate_load(address, CLIENTS, lambda _: repeat(request, pages // CLIENTS))


def _first_visits(server: MeasuredServer, path: str, visits: int) -> Iterator[Result]:
    nginx = NginxServer(Behind(server.layout.port, server.layout.port + 1))
    server.cleanup.callback(nginx.remove)
    nginx.start()
    with sync_playwright() as playwright:
        program = next(filter(None, map(shutil.which, PROGRAMS)))
        flags = [f"--host-resolver-rules=MAP {NAME} {LOOPBACK}"]
        flags += ["--no-sandbox"] if os.geteuid() == 0 else []
        browser = playwright.chromium.launch(executable_path=program, args=flags)
        seen = [_first_visit(browser, f"https://{NAME}:{nginx.port}{path}") for _ in range(visits)]
        browser.close()
    kilobytes = max(each for each, _ in seen) / 1000
    yield Result("pages", "first visit kilobytes", Figure(value=kilobytes, unit="kB"), at_most(100))
    painted = Spread.of([each for _, each in seen])
    goal = at_most(1_000, "p50")
    yield Result("pages", "first visit largest paint", Figure.of_spread(painted, "ms"), goal)


def _first_visit(browser: Browser, address: str) -> tuple[float, float]:
    """Bytes from the network without pictures, and milliseconds until the largest part was painted."""
    size = ViewportSize(width=390, height=844)
    page = browser.new_context(viewport=size, ignore_https_errors=True).new_page()
    tools = page.context.new_cdp_session(page)
    carried = _Carried(tools)
    tools.send("Emulation.setCPUThrottlingRate", {"rate": SLOWER})
    _open(page, address)
    painted = float(page.evaluate(PAINTED))
    page.context.close()
    return carried.bytes, painted


def _open(page: Page, address: str) -> None:
    answer = page.goto(address, wait_until="networkidle")
    if answer is None or not answer.ok:
        raise RuntimeError(f"{address} cannot be opened")


class _Carried:
    """Counts what a page fetches, headers included, except pictures."""

    def __init__(self, tools: CDPSession) -> None:
        self.bytes = 0.0
        self._pictures: set[str] = set()
        tools.on("Network.responseReceived", self._begun)
        tools.on("Network.loadingFinished", self._ended)
        tools.send("Network.enable")

    def _begun(self, told: dict[str, Any]) -> None:
        if told["type"] == "Image":
            self._pictures.add(told["requestId"])

    def _ended(self, told: dict[str, Any]) -> None:
        if told["requestId"] not in self._pictures:
            self.bytes += told["encodedDataLength"]


def _filled(server: MeasuredServer) -> tuple[str, str]:
    """A list of events on sale, three types each; the slugs of the organiser and of one event."""
    organisation = server.demo["organisation"]
    with server.runtime() as runtime, runtime.parts.database.writing() as session:
        context = ActionContext(SYSTEM, wall_clock(), os.urandom)
        made = [_event(server, session, number, context) for number in range(EVENTS)]
    return organisation["slug"], made[0]


def _event(server: MeasuredServer, session: Any, number: int, context: ActionContext) -> str:
    organisation, venue = server.demo["organisation"]["id"], server.demo["venue"]["id"]
    start = wall_clock() + (30 + number) * DAY_MS
    body = event_shapes.NewEvent.model_validate(
        {
            "venue_id": venue,
            "name": f"Harbour concert {number}",
            "description": "\n\n".join([PARAGRAPH] * 3),
            "start_at": iso(start),
            "end_at": iso(start + 10_800_000),
            "capacity": 5_000,
        }
    )
    event = events.create_event(session, organisation, body.model_dump(), context)
    for name, cents in (("Standing", 3_500), ("Reduced", 2_000), ("Balcony", 5_500)):
        made = ticket_shapes.NewTicketType.model_validate(
            {"name": name, "price_cents": cents, "tax_rate": 700, "quantity": 1_000}
        )
        type_service.create_type(session, organisation, event.id, made.model_dump(), context)
    status.change_status(session, organisation, event.id, EventStatus.PUBLISHED, context)
    return str(event.slug)
