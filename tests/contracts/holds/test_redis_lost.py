"""Redis dies, stops, fills up or forgets everything while seats are held: nobody notices but the log, once."""

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

from scripts.throwaway.redis import RedisServer
from sync_server.holds import remembering
from sync_server.holds.box_office import box_office
from tests.builders import MINUTE
from tests.contracts.holds.house import House, a_house
from tests.contracts.holds.test_at_once import assert_every_seat_once, guests, together, tried
from tests.office import Office


@pytest.fixture
def server() -> Iterator[RedisServer]:
    """A Redis that no other test uses at the same time."""
    made = RedisServer()
    made.start()
    yield made
    made.remove()


@pytest.fixture
def nodes(postgres_url: str, server: RedisServer, tmp_path: Path) -> Iterator[list[Office]]:
    """Two servers on one PostgreSQL and that Redis."""
    made = [
        Office(postgres_url, tmp_path, fresh=fresh, redis_url=server.url, log_level="info") for fresh in (True, False)
    ]
    yield made
    for office in made:
        office.close()


@pytest.fixture
def house(nodes: list[Office]) -> House:
    """A house whose seats are given away in any order."""
    made = a_house(nodes[0])
    made.desk.patch("/api/organisation/seating-policy", {"orphan_avoidance_strict": False})
    return made


def pause(server: RedisServer) -> Callable[[], None]:
    os.kill(server.pid, signal.SIGSTOP)
    return lambda: os.kill(server.pid, signal.SIGCONT)


def kill(server: RedisServer) -> Callable[[], None]:
    server.kill()
    return server.start


def fill(server: RedisServer) -> Callable[[], None]:
    def allow(bytes: str) -> None:  # noqa: A002 - what Redis counts
        with redis.Redis.from_url(server.url) as line:
            line.config_set("maxmemory", bytes)

    allow("1")
    return lambda: allow("0")


def until_back(office: Office) -> None:
    """Until the server has found that Redis answers again."""
    line = office.parts.nearby.line
    assert line is not None
    for _ in range(3_000):
        if line.ask(lambda redis: bool(redis.ping()), False) and not line.away:
            return
        threading.Event().wait(0.01)
    raise AssertionError("Redis was not found again")


def registry(house: House, server: RedisServer) -> list[str]:
    """The holds that other programs find."""
    with redis.Redis.from_url(server.url, decode_responses=True) as line:
        members: Any = line.zrange(f"gatehouse:org:{{{house.organisation_id}}}:event:{house.id}:seat_holds", 0, -1)
    return sorted(member.split(":")[1] for member in members)


def living(house: House) -> list[str]:
    return sorted(row[0] for row in house.rows("SELECT id FROM holds WHERE status = 'active' AND seat IS NOT NULL"))


def remember(office: Office) -> None:
    """What the worker does twice a minute."""
    far = box_office(office.parts).tiers.far
    assert far is not None
    with office.database.writing() as session:
        remembering.remember(session, far, office.deed())


@pytest.mark.parametrize("trouble", [kill, pause, fill])
def test_seats_are_held_and_given_up_without_redis(
    nodes: list[Office], house: House, server: RedisServer, trouble: Callable[[RedisServer], Callable[[], None]]
) -> None:
    crowd = guests(house, nodes, 4)
    first, taken = house.reserve(crowd[0], "A-1"), house.reserve(crowd[0], "B-8")
    with capture_logs() as lines:
        mend = trouble(server)
        try:
            # The other server gives the seat up, and cannot tell Redis.
            assert crowd[1].ask("DELETE", f"/api/holds/{first['hold_id']}").status_code == 404
            boss = house.office.desk(house.organisation_id)
            boss.client = nodes[1].app.test_client()
            assert boss.ask("DELETE", f"/api/holds/{first['hold_id']}").status_code == 204
            works = [partial(tried, who, house.reserve_path(name), {}) for who in crowd[1:] for name in ("B-1", "B-2")]
            answers = Counter(together(works))
            assert answers[201, ""] == 2 and set(answers) <= {(201, ""), (409, "seat_held_by_another_user"), (200, "")}
            threading.Event().wait(1.1)  # by then Redis is tried once more
            house.reserve(crowd[2], "B-4")
            away = sum(office.parts.nearby.line.away for office in nodes)  # type: ignore[union-attr]
            told = Counter(line["event"] for line in lines if line["event"].startswith("redis"))
            assert away and told == {"redis_away": away}
        finally:
            mend()
        for office in nodes:
            until_back(office)
    told = Counter(line["event"] for line in lines if line["event"].startswith("redis"))
    assert told == {"redis_away": away, "redis_back": away}
    assert house.refused(crowd[3], "B-8") == (409, "seat_held_by_another_user")
    house.reserve(crowd[2], "A-1")  # free since it was given up, whatever Redis remembers
    remember(nodes[1])
    assert registry(house, server) == living(house) and taken["hold_id"] in living(house)
    assert_every_seat_once(house)


def test_a_redis_that_comes_back_empty_is_told_everything_again(
    nodes: list[Office], house: House, server: RedisServer
) -> None:
    who, other = guests(house, nodes, 2)
    house.reserve(who, "A-1")
    over = house.reserve(who, "A-2")
    remember(nodes[0])
    with house.office.database.writing() as session:
        end = text("UPDATE holds SET held_until = :now WHERE id = :id")
        session.execute(end, {"now": house.office.now, "id": over["hold_id"]})
    server.kill()
    server.start()
    assert house.refused(other, "A-1") == (409, "seat_held_by_another_user")
    for office in nodes:
        until_back(office)
    remember(nodes[0])
    assert registry(house, server) == [hold for hold in living(house) if hold != over["hold_id"]]
    house.office.advance(5 * MINUTE)
    house.reserve(who, "A-1")
