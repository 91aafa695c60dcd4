"""Steps of the interpreter that one hold and one scan take: what other work on the machine does not change.

Each is counted some dozens of times in one thread of this process, and the median is given. A step costs anything
between nothing and a statement of the database, so that steps compare versions of one program and nothing else.
"""

from __future__ import annotations

import random
import tempfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

from gate_app.gate_context import GateContext
from scripts.bench_cases.gate.scan import scan
from scripts.benchmarking.clients.conversations import asked
from scripts.benchmarking.clients.load_generator import post
from scripts.benchmarking.gates.loaded_event import LoadedEvent, install_gate
from scripts.benchmarking.meters.interpreter_steps import StepCounter
from scripts.benchmarking.result import Figure, Result, at_most
from scripts.benchmarking.rows import rows_venue
from scripts.benchmarking.servers.measured_server import analyse, measured_server
from scripts.benchmarking.statistics import percentile
from sync_server.app import web_app

WARM, COUNTED = 60, 30
HOLDS_OF_A_GUEST = 8
TICKETS = 2_000
GOALS = {"postgresql": 12_000, "sqlite": 10_900}


def measure(*, quick: bool) -> Iterator[Result]:
    """Count; quick or not makes no difference."""
    del quick
    for database, most in GOALS.items():
        yield Result("steps", f"a hold on {database}", _figure(_holds(database)), at_most(most))
    yield Result("steps", "a scan, to the lamp", _figure(_scans()), at_most(4_200))


def _figure(counts: list[int]) -> Figure:
    return Figure(value=percentile([float(each) for each in counts], 0.5), unit="steps")


class _Counted:
    """WSGI middleware that counts the steps of each request."""

    def __init__(self, app: WSGIApplication, counter: StepCounter) -> None:
        self._app, self._counter = app, counter

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        environ["wsgi.input_terminated"] = True  # as the web server says, which makes Flask look for the end of a body
        return self._counter.run(lambda: list(self._app(environ, start_response)))


def _holds(database: str) -> list[int]:
    """Holds one after the other, by guests who hold several seats each."""
    counter = StepCounter()
    with measured_server(database) as server:
        venue = rows_venue.create_rows_venue(server, 4_000)
        guests = rows_venue.register_guests(server, venue, (WARM + COUNTED) // HOLDS_OF_A_GUEST + 1)
        analyse(server)
        with server.runtime() as runtime:
            app = web_app(runtime)
            app.wsgi_app = _Counted(app.wsgi_app, counter)  # type: ignore[method-assign]
            client = app.test_client()
            for number, (seat, _) in enumerate(venue.seats[: WARM + COUNTED]):
                path = f"/api/events/{venue.event_id}/seats/{seat}/reserve"
                guest = guests[number // HOLDS_OF_A_GUEST]
                status, body = asked(client, post(path, b'{"source":"web"}', **guest.headers))
                if status != 201:
                    raise RuntimeError(f"the hold was refused: {status} {body!r}")
    return counter.counts[WARM:]


def _scans() -> list[int]:
    """First scans of tickets, each until its verdict is on the disk and the lamp is asked to show it."""
    event, counter = LoadedEvent.of(TICKETS), StepCounter()
    with tempfile.TemporaryDirectory(prefix="gatehouse-bench-") as folder:
        context = install_gate(event, Path(folder) / "home")
        try:
            for ticket_id in random.Random(1).sample(event.ids, WARM + COUNTED):
                counter.run(_one_scan(context, event.code(ticket_id), counter))
        finally:
            context.close()
    return counter.counts[WARM:]


def _one_scan(context: GateContext, code: str, counter: StepCounter) -> Callable[[], object]:
    return lambda: scan(context, code, at_lamp=counter.stop)
