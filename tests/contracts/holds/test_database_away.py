"""The database goes away for a while: requests fail at once, and work again when it is back."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from scripts.private_services.postgres import PostgresServer
from tests.app_server import AppServer
from tests.contracts.holds.seated_event import a_seated_event


@pytest.fixture
def own_postgres() -> PostgresServer:
    """A server that no other test uses at the same time."""
    server = PostgresServer()
    server.create()
    server.start()
    return server


def until(ready: Callable[[], bool]) -> None:
    """Wait for another thread."""
    for _ in range(3_000):
        if ready():
            return
        threading.Event().wait(0.01)
    raise AssertionError("the condition was never met")


def test_a_seat_is_held_again_once_the_database_is_back(own_postgres: PostgresServer, tmp_path: Path) -> None:
    try:
        app_server = AppServer(own_postgres.new_database(), tmp_path)
        sale = a_seated_event(app_server)
        guest = sale.guest()
        sale.reserve(guest, "A-1")
        own_postgres.kill()
        with capture_logs() as lines:
            answer = guest.ask("POST", sale.reserve_path("A-2"), {})
            assert answer.status_code == 503 and answer.json is not None
            assert answer.json["error"]["code"] == "unavailable" and answer.headers["Retry-After"]
            until(lambda: bool(lines))  # the failure could not be audited
            threading.Event().wait(0.5)
            own_postgres.start()
            sale.reserve(guest, "A-2")
            failed = "SELECT COUNT(*) FROM audit_lines WHERE action = 'seat_reserve_failed'"
            until(lambda: sale.rows(failed) == [(1,)])
        assert [line["event"] for line in lines] == ["failures_not_written"]  # logged once, however often it was tried
        assert sale.states() == {"A-1": 1, "A-2": 1}
        app_server.close()
    finally:
        own_postgres.remove()
