"""kill -9 of the server while it sells: what was confirmed stands, what is repeated happens once, and time goes on."""

from __future__ import annotations

import http.client
import json
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from scripts.processes.child import Child
from scripts.processes.ports import LOOPBACK, free_port
from sync_server.app import build_runtime, prepare_database
from sync_server.commands import demo
from sync_server.config import check
from sync_server.migrations import schema
from tests.contracts.holds.agreement import disagreements

ROOT = Path(__file__).parents[3]
KILL_AFTER = 12
SALES = 40


@dataclass
class TillKilled:
    """The demo event behind a server that can be killed, and staff who sell its seats."""

    url: str
    folder: Path
    port: int = field(default_factory=free_port)
    confirmed: dict[str, str] = field(default_factory=dict)  # order ids by reference
    enough: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self) -> None:
        key = self.folder / "master.key"
        key.write_text("11" * 32)
        self.runtime = build_runtime(check({"database_url": self.url, "master_key_file": key, "log_level": "error"}))
        schema.upgrade(self.runtime.parts.database.engine)
        prepare_database(self.runtime)
        made = demo.make_demo(self.runtime)
        self.event: str = made["event"]["id"]
        self.headers = {"Authorization": f"Bearer {made['api_token']}", "Content-Type": "application/json"}
        environment = {
            "GATEHOUSE_DATABASE_URL": self.url,
            "GATEHOUSE_MASTER_KEY_FILE": str(key),
            "GATEHOUSE_LOG_LEVEL": "error",
        }
        command = [sys.executable, "-m", "sync_server", "serve", "--port", str(self.port)]
        self.server = Child("the server", command, self.folder / "log", environment, ROOT)
        worker = [sys.executable, "-m", "sync_server", "worker"]
        self.worker = Child("the worker", worker, self.folder / "worker.log", environment, ROOT)

    def start(self) -> None:
        self.server.start()
        self.server.wait_until(self._ready)

    def _ready(self) -> bool:
        try:
            return self.ask("GET", "/readyz")[0] == 200
        except OSError:
            return False

    def ask(self, method: str, path: str, body: Any = None, **headers: str) -> tuple[int, Any]:
        connection = http.client.HTTPConnection(LOOPBACK, self.port, timeout=60)
        try:
            sent = None if body is None else json.dumps(body)
            connection.request(method, path, body=sent, headers=self.headers | headers)
            response = connection.getresponse()
            return response.status, json.loads(response.read() or b"null")
        finally:
            connection.close()

    def seats(self) -> list[str]:
        with self.runtime.parts.database.reading() as session:
            found = session.execute(
                text(
                    "SELECT seat_id FROM layout_seats WHERE category = 'standard' "
                    "AND number NOT IN (SELECT seat FROM event_seats) ORDER BY number"
                )
            ).scalars()
            return list(found)[:SALES]

    def sell(self, seat: str) -> None:
        """Sell one seat by card; the reference and the key are the seat's."""
        body = {"seats": [{"seat_id": seat}], "method": "card", "reference": f"terminal {seat}"}
        try:
            status, order = self.ask("POST", f"/api/events/{self.event}/sales", body, **{"Idempotency-Key": seat})
        except (OSError, http.client.HTTPException):
            return  # nothing was confirmed
        if status == 201:
            assert self.confirmed.setdefault(seat, order["id"]) == order["id"], "a repeated sale is the same sale"
        assert status == 201, order
        if len(self.confirmed) >= KILL_AFTER:
            self.enough.set()

    def rows(self, query: str) -> list[Any]:
        with self.runtime.parts.database.reading() as session:
            return [tuple(row) for row in session.execute(text(query))]


@pytest.fixture
def till(database_url: str, tmp_path: Path) -> Iterator[TillKilled]:
    """The demo event, with its server not started yet."""
    till = TillKilled(database_url, tmp_path)
    yield till
    till.server.kill()
    till.worker.kill()
    till.runtime.close()


def test_sales_survive_a_kill_and_unpaid_orders_expire_by_themselves(till: TillKilled) -> None:
    till.start()
    seats = till.seats()
    shares = [seats[n::4] for n in range(4)]
    works = [threading.Thread(target=lambda share=share: [till.sell(seat) for seat in share]) for share in shares]
    for work in works:
        work.start()
    assert till.enough.wait(60)
    till.server.kill()
    for work in works:
        work.join()
    before = dict(till.confirmed)
    assert (
        before.items()
        <= dict(till.rows("SELECT l.seat_name, o.id FROM orders o JOIN order_lines l ON l.order_id = o.id")).items()
    )
    till.start()
    for seat in seats:
        till.sell(seat)
    assert len(till.confirmed) == SALES and before.items() <= till.confirmed.items()
    payments = till.rows("SELECT external_reference, COUNT(*) FROM money_movements WHERE kind = 'payment' GROUP BY 1")
    assert sorted(payments) == sorted((f"terminal {seat}", 1) for seat in seats)
    states = till.rows(
        "SELECT o.state, l.state, COUNT(*) FROM orders o JOIN order_lines l ON l.order_id = o.id GROUP BY 1, 2"
    )
    assert states == [("paid", "issued", SALES)]
    with till.runtime.parts.database.reading() as session:
        assert disagreements(session, till.event) == []
    _expires_by_the_clock(till)


def _expires_by_the_clock(till: TillKilled) -> None:
    """An order that nobody pays is ended by the running worker."""
    database = till.runtime.parts.database
    if not database.embedded:
        till.worker.start()
    order = till.rows("SELECT id FROM orders LIMIT 1")[0][0]
    status, _ = till.ask("POST", f"/api/orders/{order}/refunds", {"method": "card"})
    assert status == 200
    seat, place = till.rows(
        "SELECT s.id, s.seat_id FROM layout_seats s JOIN order_lines l ON l.seat = s.number "
        f"WHERE l.order_id = '{order}'"
    )[0]
    status, held = till.ask("POST", f"/api/events/{till.event}/seats/{seat}/reserve", {})
    assert status == 201, held
    body = {"holds": [{"hold_id": held["data"]["hold_id"]}]}
    status, waiting = till.ask("POST", f"/api/o/demo/events/{till.event}/orders", body)
    assert (status, waiting["lines"][0]["seat_id"]) == (201, place)
    soon = int(time.time() * 1000) + 1_500
    with database.writing() as session:
        session.execute(
            text("UPDATE orders SET expires_at = :soon WHERE id = :id"), {"soon": soon, "id": waiting["id"]}
        )
        session.execute(
            text("UPDATE holds SET held_until = :soon WHERE order_id = :id"), {"soon": soon, "id": waiting["id"]}
        )
        session.execute(text("UPDATE event_seats SET held_until = :soon WHERE state = 1"), {"soon": soon})
    till.server.wait_until(lambda: till.ask("GET", f"/api/orders/{waiting['id']}")[1]["state"] == "expired")
    with database.reading() as session:
        assert disagreements(session, till.event) == []
