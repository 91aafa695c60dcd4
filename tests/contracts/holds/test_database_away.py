"""The database goes away for a while: whoever asks is told so at once, and goes on when it is back."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from scripts.throwaway.postgres import PostgresServer
from tests.contracts.holds.house import a_house
from tests.office import Office


@pytest.fixture
def own_postgres() -> PostgresServer:
    """A server that no other test uses at the same time."""
    server = PostgresServer()
    server.create()
    server.start()
    return server


def until(ready: Callable[[], bool]) -> None:
    """What another thread does a moment later."""
    for _ in range(3_000):
        if ready():
            return
        threading.Event().wait(0.01)
    raise AssertionError("it never came to that")


def test_a_seat_is_held_again_once_the_database_is_back(own_postgres: PostgresServer, tmp_path: Path) -> None:
    try:
        office = Office(own_postgres.new_database(), tmp_path)
        house = a_house(office)
        guest = house.guest()
        house.reserve(guest, "A-1")
        own_postgres.kill()
        with capture_logs() as lines:
            answer = guest.ask("POST", house.reserve_path("A-2"), {})
            assert answer.status_code == 503 and answer.json is not None
            assert answer.json["error"]["code"] == "unavailable" and answer.headers["Retry-After"]
            until(lambda: bool(lines))  # that it failed could not be written down
            threading.Event().wait(0.5)
            own_postgres.start()
            house.reserve(guest, "A-2")
            failed = "SELECT COUNT(*) FROM audit_lines WHERE action = 'seat_reserve_failed'"
            until(lambda: house.rows(failed) == [(1,)])
        assert [line["event"] for line in lines] == ["failures_not_written"]  # told once, however often it was tried
        assert house.states() == {"A-1": 1, "A-2": 1}
        office.close()
    finally:
        own_postgres.remove()
