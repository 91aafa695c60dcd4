"""How long the pages of the organiser's desk take with 100,000 orders, 1,000 events and 200 devices, on both databases.

Every page that is read is found in the table of routes, so that a new one is measured without being named here; those
about what this desk does not have are left out. Each is asked for in this process, over the application as it is
served: the time is from the request to the whole answer. The yardstick is the form of a new event, which reads least.
`admin pages` is the slowest of them all.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from typing import Final

from flask import Flask
from flask.testing import FlaskClient

from scripts.benchmarking.result import Figure, Result, at_most
from scripts.benchmarking.rows.full_desk import FEW, MANY, FullDesk, full_desk
from scripts.benchmarking.servers.measured_server import measured_server
from scripts.benchmarking.statistics import Spread
from shared.garbage import keep_for_good
from sync_server.app import web_app

GOAL: Final = at_most(200, "p95")
TIMES: Final = 20
QUICK_TIMES: Final = 5
LEAST: Final = "/admin/events/new"
QUESTIONS: Final = {
    "/admin/orders": ("", "?q=ada", "?q=nobody", "?state=refunded"),
    "/admin/search": ("?q=ada", "?q=nobody"),
    "/admin/events": ("", "?show=all", "?q=night"),
    "/admin/events/<event_id>/orders": ("", "?q=ada", "?q=nobody"),
    "/admin/events/<event_id>/status": ("?target=cancelled",),
}
"""What is asked of pages that search: something that many have, and something that nobody has."""
NOT_MEASURED: Final = re.compile(r"/admin/(?:sign-out|<path:)|token|code>|\.(?:json|csv|pdf)$")


def measure(*, quick: bool) -> Iterator[Result]:
    """Measure every page on both databases."""
    slowest: Figure | None = None
    for database in ("postgresql", "sqlite"):
        with measured_server(database) as server, server.runtime() as runtime:
            desk = full_desk(server, runtime, FEW if quick else MANY)
            app = web_app(runtime)
            keep_for_good()  # as each process of a server does
            for result in _pages(app, desk, database, QUICK_TIMES if quick else TIMES):
                slowest = slower(slowest, result.figure)
                yield result
    if slowest is not None:
        yield Result("pages", "admin pages", slowest, GOAL)


def slower(one: Figure | None, other: Figure) -> Figure:
    """The figure with the higher 95th percentile."""
    return max((each for each in (one, other) if each is not None), key=lambda each: each.p95 or 0)


def _pages(app: Flask, desk: FullDesk, database: str, times: int) -> Iterator[Result]:
    client = app.test_client()
    yardstick = _timed(client, LEAST, desk, times)
    for rule in sorted({str(rule) for rule in app.url_map.iter_rules() if _is_page(str(rule), rule.methods)}):
        path = _filled(rule, desk.ids)
        for question in QUESTIONS.get(rule, ("",)) if path else ():
            spread = _timed(client, f"{path}{question}", desk, times)
            if spread is not None:
                figure = Figure.of_spread(spread, "ms", yardstick.p50 if yardstick is not None else None)
                yield Result("pages", f"{database} {rule}{question}", figure, GOAL)


def _is_page(rule: str, methods: set[str] | None) -> bool:
    return rule.startswith("/admin/") and "GET" in (methods or ()) and not NOT_MEASURED.search(rule)


def _filled(rule: str, ids: dict[str, str]) -> str:
    """The address of a page about what the desk has; empty where it has nothing of the kind."""
    names = re.findall(r"<(?:[^:<>]+:)?(\w+)>", rule)
    return "" if set(names) - set(ids) else re.sub(r"<(?:[^:<>]+:)?(\w+)>", lambda gap: ids[gap[1]], rule)


def _timed(client: FlaskClient, path: str, desk: FullDesk, times: int) -> Spread | None:
    """How long a page takes, in ms; None for one of something that this desk does not have, or of a person alone."""
    first = client.get(path, headers=desk.headers)  # what a process keeps is kept already
    if first.status_code in {302, 403, 404, 409}:
        return None
    if first.status_code != 200:
        raise RuntimeError(f"{path}: {first.status_code} {first.get_data(as_text=True)[:300]}")
    taken = []
    for _ in range(times):
        begun = time.perf_counter()
        client.get(path, headers=desk.headers).get_data()
        taken.append((time.perf_counter() - begun) * 1_000)
    return Spread.of(taken)
