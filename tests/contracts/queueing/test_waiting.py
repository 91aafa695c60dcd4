"""Guests who wait by the clock at two real processes: each is admitted in turn, whoever else has gone away."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sync_server.commands.demo import FREE_TYPE
from tests.services.mortal_server import MortalServer

SLOTS, GUESTS, AWAY = 3, 15, frozenset({2, 6})
"""Fewer go away than there are slots: each keeps one for two minutes, which is longer than this test."""
STUCK_S = 120
TAB = "5e" * 16


class Waiting(MortalServer):
    """A sale with a queue, and guests who ask as fast as they are answered."""

    def __init__(self, url: str, folder: Path) -> None:
        super().__init__(url, folder)
        self.staff = {"Authorization": f"Bearer {self.demo['api_token']}", "Content-Type": "application/json"}
        self.shop = "/api/o/demo"
        self.queue = f"{self.shop}/events/{self.event}/queue"

    def done(self, headers: dict[str, str], method: str, path: str, body: Any = None) -> Any:
        """The answer to something that must succeed."""
        status, answer, _ = self.ask(method, path, headers, body)
        assert status < 300, (method, path, status, answer)
        return answer

    def guest(self) -> dict[str, str]:
        """The headers of a new guest, who has joined the queue."""
        _, session, headers = self.ask("POST", f"{self.shop}/session", {"Content-Type": "application/json"}, {})
        cookies = [each.split(";")[0] for each in headers.get_all("Set-Cookie", [])]
        made = {"Cookie": "; ".join(cookies), "X-CSRF-Token": session["csrf_token"], "Content-Type": "application/json"}
        self.done(made, "POST", self.queue, {})
        return made

    def buys(self, guest: dict[str, str], zone: str) -> str:
        """Wait for the turn and take a free ticket; what became of it."""
        stuck_at = time.monotonic() + STUCK_S
        while (place := self.done(guest, "GET", self.queue))["state"] != "admitted":
            if time.monotonic() > stuck_at:
                return f"never admitted: {place}"
        self.done(guest, "POST", f"{self.queue}/pass", {"tab": TAB})
        shown = guest | {"X-Queue-Tab": TAB}
        holds = self.done(shown, "POST", f"/api/events/{self.event}/holds", {"count": 1, "zone_id": zone})
        wish = [{"hold_id": each["hold_id"], "ticket_types": [FREE]} for each in holds["data"]["holds"]]
        self.done(shown, "POST", f"{self.shop}/events/{self.event}/orders", {"holds": wish, "pay": {"method": "free"}})
        return "bought"


FREE: dict[str, int] = {}


@pytest.fixture
def sale(postgres_url: str, tmp_path: Path) -> Iterator[Waiting]:
    made = Waiting(postgres_url, tmp_path)
    made.start()
    made.worker.start()
    yield made
    made.close()


def test_everybody_who_asks_is_admitted_in_the_order_of_the_numbers(sale: Waiting) -> None:
    path = f"/api/events/{sale.event}"
    types = {each["name"]: each for each in sale.done(sale.staff, "GET", f"{path}/ticket-types")["items"]}
    FREE.update(ticket_type=types[FREE_TYPE]["number"], count=1)
    layout = sale.done(sale.staff, "GET", f"{path}/layout")
    zone = next(each["id"] for each in layout["zones"] if each["event_zone"] == types[FREE_TYPE]["zone"])
    sale.done(sale.staff, "PUT", f"{path}/checkout", {"sessions": SLOTS})
    sale.done(sale.staff, "PUT", f"{path}/queue", {"room_minutes": 0})
    guests = [sale.guest() for _ in range(GUESTS)]
    endings: dict[int, str] = {}

    def come(number: int) -> None:
        endings[number] = sale.buys(guests[number], zone)

    asking = [threading.Thread(target=come, args=(number,)) for number in range(GUESTS) if number not in AWAY]
    for each in asking:
        each.start()
    for each in asking:
        each.join()
    assert endings == {number: "bought" for number in range(GUESTS) if number not in AWAY}
    admitted = sale.rows("SELECT seq, admitted_at FROM queue_entries ORDER BY admitted_at, seq")
    assert [seq for seq, _ in admitted] == list(range(1, GUESTS + 1))
