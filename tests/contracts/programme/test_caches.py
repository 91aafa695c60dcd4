"""What visitors read is remembered for moments, and never older than the last change: Redis off, on, and killed."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event

from scripts.processes.child import ProgramFailedError
from scripts.throwaway.redis import RedisServer
from sync_server.app import build, prepare, web_of
from sync_server.config import check
from tests.contracts.programme.town import FEED, Town
from tests.office import Desk, Office


class Reader:
    """Another server process on the same database, whose questions are counted."""

    def __init__(self, office: Office, redis_url: str | None) -> None:
        lines = {"redis_url": redis_url} if redis_url else {}
        settings = {"database_url": office.url, "master_key_file": office.folder / "master.key", "log_level": "error"}
        self.ground = build(check(settings | lines), clock=lambda: office.now, entropy=os.urandom)
        prepare(self.ground)
        self.desk = Desk(web_of(self.ground).test_client(), {})
        self.asked = 0
        event.listen(self.ground.parts.database.engine, "before_cursor_execute", self._count)

    def _count(self, *_: Any) -> None:
        self.asked += 1

    def names(self, **asked: Any) -> list[str]:
        return [item["name"] for item in self.desk.client.get(FEED, query_string=asked).json["items"]]

    def cost(self, act: Callable[[], object]) -> int:
        """How many statements an answer took."""
        before = self.asked
        act()
        return self.asked - before

    def lookups(self) -> str:
        return self.ground.parts.metrics.text().decode()

    def close(self) -> None:
        self.ground.close()


@pytest.fixture(params=["off", "on", "dead from the start"])
def redis(request: pytest.FixtureRequest) -> str | None:
    """Where Redis would be."""
    if request.param == "on":
        return str(request.getfixturevalue("redis_url"))
    return None if request.param == "off" else "redis://localhost:1/0"


@pytest.fixture
def town(sqlite_url: str, tmp_path: Path) -> Iterator[Town]:
    office = Office(sqlite_url, tmp_path)
    yield Town(office)
    office.close()


@pytest.fixture
def reader(town: Town, redis: str | None) -> Iterator[Reader]:
    made = Reader(town.office, redis)
    yield made
    made.close()


def test_the_second_who_asks_costs_the_database_nothing(town: Town, reader: Reader) -> None:
    made = town.publish("Night Music")
    asks = {
        "feed": lambda: reader.names(),
        "page": lambda: reader.desk.get(f"{FEED}/{made['id']}"),
        "cities": lambda: reader.desk.get("/api/meta/cities?prefix=b"),
    }
    for what, ask in asks.items():
        assert (reader.cost(ask) > 0, reader.cost(ask)) == (True, 0), what
    assert 'gatehouse_cache_lookups_total{known="yes",tier="near"} 3.0' in reader.lookups()


def test_other_questions_are_other_answers(town: Town, reader: Reader) -> None:
    town.publish("Night Music", city="Bern")
    town.publish("Day Music", city="Basel", days=2)
    assert reader.names() == ["Night Music", "Day Music"]
    assert (reader.names(city="bern"), reader.names(city="BASEL"), reader.names(limit=1)) == (
        ["Night Music"],
        ["Day Music"],
        ["Night Music"],
    )


@pytest.mark.parametrize("step", ["publish", "rename", "cancel", "postpone"])
def test_whoever_changes_an_event_reads_it_changed_at_once(town: Town, reader: Reader, step: str) -> None:
    """The same process writes and reads: no moment in between shows what was."""
    desk = _signed_in(town, reader)
    made = town.draft("Night Music") if step == "publish" else town.publish("Night Music")
    before = reader.names()
    path = f"{FEED}/{made['id']}"
    shown = reader.desk.client.get(path).status_code
    assert (before, shown) == (([], 404) if step == "publish" else (["Night Music"], 200))
    reader.desk.get("/api/meta/cities")
    _act(desk, made["id"], step)
    names, status = {
        "publish": ("Night Music", 200),
        "rename": ("Day Music", 200),
        "postpone": ("Night Music", 200),
        "cancel": (None, 404),
    }[step]
    assert reader.names() == ([names] if names else [])
    page = reader.desk.client.get(path)
    assert (page.status_code, page.json.get("name")) == (status, names)
    assert bool(reader.desk.get("/api/meta/cities")["items"]) is (names is not None)


def _signed_in(town: Town, reader: Reader) -> Desk:
    return Desk(reader.desk.client.application.test_client(), town.desk.headers)


def _act(desk: Desk, event_id: str, step: str) -> None:
    path = f"/api/events/{event_id}"
    if step == "rename":
        desk.patch(path, {"name": "Day Music"})
    else:
        desk.post(f"{path}/{step}", {}, 200)


def test_two_processes_with_redis_share_what_they_read_and_forget_it_together(town: Town, redis_url: str) -> None:
    one, other = Reader(town.office, redis_url), Reader(town.office, redis_url)
    try:
        made = town.publish("Night Music")
        assert one.names() == ["Night Music"]
        assert (other.cost(other.names), other.names()) == (0, ["Night Music"])
        assert 'gatehouse_cache_lookups_total{known="yes",tier="far"} 1.0' in other.lookups()
        _act(_signed_in(town, one), made["id"], "cancel")
        newcomer = Reader(town.office, redis_url)
        assert (one.names(), newcomer.names()) == ([], [])
        newcomer.close()
    finally:
        one.close()
        other.close()


def test_redis_dies_in_the_middle_and_comes_back(town: Town, redis_server: RedisServer, redis_url: str) -> None:
    reader = Reader(town.office, redis_url)
    try:
        made = town.publish("Night Music")
        desk = _signed_in(town, reader)
        assert reader.names() == ["Night Music"]
        redis_server.kill()
        assert reader.names(limit=2) == ["Night Music"]
        _act(desk, made["id"], "rename")
        assert (reader.names(), reader.names(limit=2)) == (["Day Music"], ["Day Music"])
        redis_server.start()
        newcomer = Reader(town.office, redis_url)
        assert newcomer.names() == ["Day Music"]
        newcomer.close()
        _act(desk, made["id"], "cancel")
        assert (reader.names(), reader.names(limit=2)) == ([], [])
    finally:
        with suppress(ProgramFailedError):  # it runs
            redis_server.start()
        reader.close()
