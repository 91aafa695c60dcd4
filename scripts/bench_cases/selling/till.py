"""What each tap at the box office costs with a stadium of 60,000 seats and 100,000 orders behind it, on both databases.

Twenty people buy two seats each, side by side, as the form sells them: opening the page, selling, the page that is
ready again with what was sold, the ticket as it is printed, and the search for an order. The figures are milliseconds
of processor, of this process and of the database, which other work on the machine hardly changes; and statements. The
yardstick is the form of a new event, which reads least.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final

from flask.testing import FlaskClient
from sqlalchemy import event as sql_events
from werkzeug.test import TestResponse

from scripts.benchmarking.meters.cpu_time import cpu_seconds, cpu_seconds_since
from scripts.benchmarking.result import Figure, Result, at_most
from scripts.benchmarking.rows.full_desk import FEW, MANY, FullDesk, full_desk
from scripts.benchmarking.rows.stadium_event import create_stadium_event
from scripts.benchmarking.servers.measured_server import MeasuredServer, analyse, measured_server
from sync_server.app import web_app
from sync_server.plumbing.database import Database

QUEUE: Final = 20
GOAL_MS: Final = 100
MOST: Final = 15
_SOLD: Final = re.compile(r"sold=([0-9a-f-]{36})")


@dataclass
class Tap:
    """What one tap came to, over all who queued."""

    times: int = 0
    processor_s: float = 0.0
    statements: list[int] = field(default_factory=list)


def measure(*, quick: bool) -> Iterator[Result]:
    """Sell to a queue of twenty on both databases."""
    for database in ("postgresql", "sqlite"):
        with measured_server(database) as server, server.runtime() as runtime:
            desk = full_desk(server, runtime, FEW if quick else MANY)
            stadium = create_stadium_event(server).event_id
            client = web_app(runtime).test_client()
            kind = {"name": "Seat", "price_cents": 4_990, "quantity": 60_000}
            client.post(f"/api/events/{stadium}/ticket-types", json=kind, headers=desk.headers)
            analyse(server)
            taps = Till(server, runtime.parts.database, client, desk, stadium).sell_to_all()
        yardstick = taps.pop("a new event").processor_s * 1_000 / QUEUE
        for name, tap in taps.items():
            spent = tap.processor_s * 1_000 / tap.times
            figure = Figure(value=spent, unit="ms processor", yardstick=yardstick, ratio=spent / yardstick)
            yield Result("till", f"{database} {name}", figure, at_most(GOAL_MS))
            if name in {"open", "ready again", "search"}:
                most = Figure(value=max(tap.statements), unit="statements")
                yield Result("till", f"{database} {name}, statements", most, at_most(MOST))


@dataclass
class Till:
    """A box office at the stadium."""

    server: MeasuredServer
    database: Database
    client: FlaskClient
    desk: FullDesk
    event_id: str
    taps: dict[str, Tap] = field(default_factory=dict)

    def sell_to_all(self) -> dict[str, Tap]:
        """Serve the queue, after one guest who warms the process up and is not counted."""
        self._serve()
        self.taps.clear()
        for _ in range(QUEUE):
            self._serve()
        return self.taps

    def _serve(self) -> None:
        headers, here = self.desk.headers, f"/admin/events/{self.event_id}/sell"
        self._tap("a new event", lambda: self.client.get("/admin/events/new", headers=headers))
        self._tap("open", lambda: self.client.get(here, headers=headers))
        form = {"type-1": "2", "method": "cash"}
        sold = _SOLD.search(
            self._tap("sell", lambda: self.client.post(here, data=form, headers=headers)).location or ""
        )
        if sold is None:
            raise RuntimeError("nothing was sold")
        self._tap("ready again", lambda: self.client.get(f"{here}?sold={sold[1]}", headers=headers))
        self._tap("print", lambda: self.client.get(f"/api/orders/{sold[1]}/tickets.pdf", headers=headers))
        self._tap("search", lambda: self.client.get("/admin/orders?q=winter", headers=headers))

    def _tap(self, name: str, ask: Callable[[], TestResponse]) -> TestResponse:
        programs = self.server.programs
        with _counted(self.database) as statements:
            before, mine = cpu_seconds(programs), time.process_time()
            answer = ask()
            answer.get_data()
            spent = time.process_time() - mine + sum(cpu_seconds_since(before, programs).values())
        if answer.status_code >= 400:
            raise RuntimeError(f"{name}: {answer.status_code} {answer.get_data(as_text=True)[:300]}")
        tap = self.taps.setdefault(name, Tap())
        tap.times, tap.processor_s = tap.times + 1, tap.processor_s + spent
        tap.statements.append(len(statements))
        return answer


@contextmanager
def _counted(database: Database) -> Iterator[list[str]]:
    sent: list[str] = []

    def note(_connection: object, _cursor: object, statement: str, *_: object) -> None:
        if not statement.startswith(("BEGIN", "PRAGMA", "SAVEPOINT", "RELEASE")):
            sent.append(statement)

    sql_events.listen(database.engine, "before_cursor_execute", note)
    yield sent
    sql_events.remove(database.engine, "before_cursor_execute", note)
