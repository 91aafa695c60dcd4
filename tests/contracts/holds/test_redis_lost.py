"""Redis is killed, hangs, fills up or loses its data while seats are held: only the log notices, once."""

from __future__ import annotations

import os
import signal
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import redis
from sqlalchemy import text
from structlog.testing import capture_logs

from scripts.private_services.redis import RedisServer
from sync_server.holds.attempts.runtime import hold_runtime
from sync_server.holds.caches import redis_rebuild
from sync_server.plumbing import redis_connection
from tests.app_server import AppServer
from tests.builders import MINUTE
from tests.contracts.holds.at_once import assert_every_seat_once, guests, together, tried
from tests.contracts.holds.seated_event import SeatedEvent, a_seated_event
from tests.services.patience import REAL_REDIS_TIMEOUT_S


@pytest.fixture
def server() -> Iterator[RedisServer]:
    """A Redis that no other test uses at the same time."""
    server = RedisServer()
    server.start()
    yield server
    server.remove()


@pytest.fixture
def nodes(
    postgres_url: str, server: RedisServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[list[AppServer]]:
    """Two servers on one PostgreSQL and that Redis, as patient with it as in production."""
    monkeypatch.setattr(redis_connection, "TIMEOUT_S", REAL_REDIS_TIMEOUT_S)
    nodes = [
        AppServer(postgres_url, tmp_path, fresh=fresh, redis_url=server.url, log_level="info")
        for fresh in (True, False)
    ]
    yield nodes
    for app_server in nodes:
        app_server.close()


@pytest.fixture
def sale(nodes: list[AppServer]) -> SeatedEvent:
    """An event whose policy lets a guest leave single seats."""
    sale = a_seated_event(nodes[0])
    sale.api.patch("/api/organisation/seating-policy", {"orphan_avoidance_strict": False})
    return sale


def pause(server: RedisServer) -> Callable[[], None]:
    os.kill(server.pid, signal.SIGSTOP)
    return lambda: os.kill(server.pid, signal.SIGCONT)


def kill(server: RedisServer) -> Callable[[], None]:
    server.kill()
    return server.start


def fill(server: RedisServer) -> Callable[[], None]:
    def allow(bytes: str) -> None:  # noqa: A002 - what Redis counts
        with redis.Redis.from_url(server.url) as client:
            client.config_set("maxmemory", bytes)

    allow("1")
    return lambda: allow("0")


def until_back(app_server: AppServer) -> None:
    """Wait until the server has reconnected to Redis."""
    connection = app_server.parts.backends.connection
    assert connection is not None
    for _ in range(3_000):
        if connection.ask(lambda redis: bool(redis.ping()), False) and not connection.away:
            return
        threading.Event().wait(0.01)
    raise AssertionError("no reconnection to Redis")


def held_in_redis(sale: SeatedEvent, server: RedisServer) -> list[str]:
    """The hold ids that other programs find in Redis."""
    with redis.Redis.from_url(server.url, decode_responses=True) as client:
        members: Any = client.zrange(f"gatehouse:org:{{{sale.organisation_id}}}:event:{sale.id}:seat_holds", 0, -1)
    return sorted(member.split(":")[1] for member in members)


def active_holds(sale: SeatedEvent) -> list[str]:
    return sorted(row[0] for row in sale.rows("SELECT id FROM holds WHERE status = 'active' AND seat IS NOT NULL"))


def run_rebuild(app_server: AppServer) -> None:
    """Run the worker's rebuild of Redis."""
    redis_holds = hold_runtime(app_server.parts).hold_cache.redis
    assert redis_holds is not None
    with app_server.database.writing() as session:
        redis_rebuild.rebuild(session, redis_holds, app_server.context())


@pytest.mark.parametrize("trouble", [kill, pause, fill])
def test_seats_are_held_and_released_without_redis(
    nodes: list[AppServer],
    sale: SeatedEvent,
    server: RedisServer,
    trouble: Callable[[RedisServer], Callable[[], None]],
) -> None:
    crowd = guests(sale, nodes, 4)
    first, taken = sale.reserve(crowd[0], "A-1"), sale.reserve(crowd[0], "B-8")
    with capture_logs() as lines:
        repair = trouble(server)
        try:
            # The other server releases the seat, and cannot write it to Redis.
            assert crowd[1].ask("DELETE", f"/api/holds/{first['hold_id']}").status_code == 404
            boss = sale.app_server.api(sale.organisation_id)
            boss.client = nodes[1].app.test_client()
            assert boss.ask("DELETE", f"/api/holds/{first['hold_id']}").status_code == 204
            works = [partial(tried, who, sale.reserve_path(name), {}) for who in crowd[1:] for name in ("B-1", "B-2")]
            answers = Counter(together(works))
            assert answers[201, ""] == 2 and set(answers) <= {(201, ""), (409, "seat_held_by_another_user"), (200, "")}
            threading.Event().wait(1.1)  # by then Redis is tried again
            sale.reserve(crowd[2], "B-4")
            away = sum(app_server.parts.backends.connection.away for app_server in nodes)  # type: ignore[union-attr]
            logged = Counter(line["event"] for line in lines if line["event"].startswith("redis"))
            assert away and logged == {"redis_away": away}
        finally:
            repair()
        for app_server in nodes:
            until_back(app_server)
    logged = Counter(line["event"] for line in lines if line["event"].startswith("redis"))
    assert logged == {"redis_away": away, "redis_back": away}
    assert sale.refused(crowd[3], "B-8") == (409, "seat_held_by_another_user")
    sale.reserve(crowd[2], "A-1")  # free since it was released, whatever Redis has
    run_rebuild(nodes[1])
    assert held_in_redis(sale, server) == active_holds(sale) and taken["hold_id"] in active_holds(sale)
    assert_every_seat_once(sale)


def test_a_redis_that_comes_back_empty_is_filled_again(
    nodes: list[AppServer], sale: SeatedEvent, server: RedisServer
) -> None:
    who, other = guests(sale, nodes, 2)
    sale.reserve(who, "A-1")
    overdue = sale.reserve(who, "A-2")
    run_rebuild(nodes[0])
    with sale.app_server.database.writing() as session:
        end = text("UPDATE holds SET held_until = :now WHERE id = :id")
        session.execute(end, {"now": sale.app_server.now, "id": overdue["hold_id"]})
    server.kill()
    server.start()
    assert sale.refused(other, "A-1") == (409, "seat_held_by_another_user")
    for app_server in nodes:
        until_back(app_server)
    run_rebuild(nodes[0])
    assert held_in_redis(sale, server) == [hold for hold in active_holds(sale) if hold != overdue["hold_id"]]
    sale.app_server.advance(5 * MINUTE)
    sale.reserve(who, "A-1")
