"""Guests of a sale who do something at the same moment, and what must be true of its seats afterwards."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

from sqlalchemy import text

from tests.app_server import ApiClient, AppServer
from tests.contracts.holds.seated_event import SeatedEvent

T = TypeVar("T")


def together(works: Sequence[Callable[[], T]]) -> list[T]:
    """Run all of these at the same moment, each in a thread of its own."""
    start = threading.Barrier(len(works))

    def run(work: Callable[[], T]) -> T:
        start.wait(60)
        return work()

    with ThreadPoolExecutor(len(works)) as pool:
        return list(pool.map(run, works))


def guests(sale: SeatedEvent, nodes: list[AppServer], count: int) -> list[ApiClient]:
    """Guests, spread over the nodes."""
    made = []
    for index in range(count):
        client = nodes[index % len(nodes)].app.test_client()
        answer = client.post(f"/api/o/{sale.slug}/session")
        made.append(ApiClient(client, {"X-CSRF-Token": answer.json["csrf_token"]}))  # type: ignore[index]
    return made


def tried(who: ApiClient, path: str, body: Any) -> tuple[int, str]:
    answer = who.ask("POST", path, body)
    return answer.status_code, answer.json["error"]["code"] if answer.status_code >= 400 and answer.json else ""


def assert_every_seat_once(sale: SeatedEvent) -> None:
    """Check that no seat has two holds, and that seats and holds agree."""
    doubled = sale.rows(
        "SELECT seat FROM holds WHERE event_id = :event AND status = 'active' AND seat IS NOT NULL "
        "GROUP BY seat HAVING COUNT(*) > 1",
        event=sale.id,
    )
    assert doubled == []
    held = sale.rows("SELECT seat, hold_id FROM event_seats WHERE event_id = :event AND state = 1", event=sale.id)
    active = sale.rows(
        "SELECT seat, id FROM holds WHERE event_id = :event AND status = 'active' AND seat IS NOT NULL", event=sale.id
    )
    assert sorted(held) == sorted(active)


def guest_again(guest: ApiClient) -> ApiClient:
    """The same guest in another tab."""
    client = guest.client.application.test_client()
    cookie = guest.client.get_cookie("gatehouse_guest_marquee")
    assert cookie is not None
    client.set_cookie(cookie.key, cookie.value)
    return ApiClient(client, guest.headers)


def until_waiting(app_server: AppServer, count: int, unless: Future[Any] | None = None) -> None:
    """Wait until this many transactions wait for a lock, or `unless` is done."""
    waits = text(
        "SELECT COUNT(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
    )
    for _ in range(3_000):
        with app_server.database.engine.connect() as connection:
            if connection.execute(waits).scalar_one() >= count or (unless is not None and unless.done()):
                return
        threading.Event().wait(0.01)
    raise AssertionError("no transaction waited")
