"""kill -9 of the server while it sells: what was confirmed stands, what is repeated happens once, and time goes on."""

from __future__ import annotations

import http.client
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from tests.contracts.holds.agreement import disagreements
from tests.services.mortal_server import MortalServer

KILL_AFTER = 12
SALES = 40


class TillKilled(MortalServer):
    """Staff who sell seats at a server that is killed."""

    def __init__(self, url: str, folder: Path, **more: str) -> None:
        super().__init__(url, folder, **more)
        self.headers = {"Authorization": f"Bearer {self.demo['api_token']}", "Content-Type": "application/json"}
        self.confirmed: dict[str, str] = {}  # order ids by reference
        self.enough = threading.Event()

    def staff(self, method: str, path: str, body: Any = None, **headers: str) -> tuple[int, Any]:
        """Status and JSON of what staff ask."""
        status, answer, _ = self.ask(method, path, self.headers | headers, body)
        return status, answer

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
            status, order = self.staff("POST", f"/api/events/{self.event}/sales", body, **{"Idempotency-Key": seat})
        except (OSError, http.client.HTTPException):
            return  # nothing was confirmed
        if status == 201:
            assert self.confirmed.setdefault(seat, order["id"]) == order["id"], "a repeated sale is the same sale"
        assert status == 201, order
        if len(self.confirmed) >= KILL_AFTER:
            self.enough.set()


@pytest.fixture
def till(database_url: str, tmp_path: Path) -> Iterator[TillKilled]:
    """The demo event, with its server not started yet."""
    till = TillKilled(database_url, tmp_path)
    yield till
    till.close()


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
    status, _ = till.staff("POST", f"/api/orders/{order}/refunds", {"method": "card"})
    assert status == 200
    seat, place = till.rows(
        "SELECT s.id, s.seat_id FROM layout_seats s JOIN order_lines l ON l.seat = s.number "
        f"WHERE l.order_id = '{order}'"
    )[0]
    status, held = till.staff("POST", f"/api/events/{till.event}/seats/{seat}/reserve", {})
    assert status == 201, held
    body = {"holds": [{"hold_id": held["data"]["hold_id"]}]}
    status, waiting = till.staff("POST", f"/api/o/demo/events/{till.event}/orders", body)
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
    till.server.wait_until(lambda: till.staff("GET", f"/api/orders/{waiting['id']}")[1]["state"] == "expired")
    with database.reading() as session:
        assert disagreements(session, till.event) == []
