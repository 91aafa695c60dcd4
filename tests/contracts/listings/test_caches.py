"""Public responses are cached, but never older than the last change: without Redis, with it, and while it is down."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event

from scripts.private_services.redis import RedisServer
from scripts.processes.child import ProgramFailedError
from sync_server.app import web_app
from sync_server.config import check
from sync_server.runtime import build_runtime, prepare_database
from tests.app_server import ApiClient, AppServer
from tests.contracts.listings.town import FEED, Town


class Reader:
    """Another server process on the same database, whose statements are counted."""

    def __init__(self, app_server: AppServer, redis_url: str | None) -> None:
        redis = {"redis_url": redis_url} if redis_url else {}
        settings = {
            "database_url": app_server.url,
            "master_key_file": app_server.folder / "master.key",
            "log_level": "error",
        }
        self.runtime = build_runtime(check(settings | redis), clock=lambda: app_server.now, entropy=os.urandom)
        prepare_database(self.runtime)
        self.api = ApiClient(web_app(self.runtime).test_client(), {})
        self.statements = 0
        event.listen(self.runtime.parts.database.engine, "checkout", self._trace)

    def _trace(self, connection: Any, *_: Any) -> None:
        # SQLite itself is asked: prepared queries pass SQLAlchemy's events by.
        connection.set_trace_callback(self._count)

    def _count(self, *_: Any) -> None:
        self.statements += 1

    def names(self, **query: Any) -> list[str]:
        return [item["name"] for item in self.api.client.get(FEED, query_string=query).json["items"]]

    def cost(self, act: Callable[[], object]) -> int:
        """How many statements an action took."""
        before = self.statements
        act()
        return self.statements - before

    def lookups(self) -> str:
        return self.runtime.parts.metrics.text().decode()

    def close(self) -> None:
        self.runtime.close()


@pytest.fixture(params=["off", "on", "dead from the start"])
def redis(request: pytest.FixtureRequest) -> str | None:
    """The URL of Redis, if there is one."""
    if request.param == "on":
        return str(request.getfixturevalue("redis_url"))
    return None if request.param == "off" else "redis://localhost:1/0"


@pytest.fixture
def town(sqlite_url: str, tmp_path: Path) -> Iterator[Town]:
    app_server = AppServer(sqlite_url, tmp_path)
    yield Town(app_server)
    app_server.close()


@pytest.fixture
def reader(town: Town, redis: str | None) -> Iterator[Reader]:
    reader = Reader(town.app_server, redis)
    yield reader
    reader.close()


def test_cached_response_needs_no_query(town: Town, reader: Reader) -> None:
    event = town.publish("Night Music")
    requests = {
        "feed": lambda: reader.names(),
        "page": lambda: reader.api.get(f"{FEED}/{event['id']}"),
        "cities": lambda: reader.api.get("/api/meta/cities?prefix=b"),
    }
    for name, request in requests.items():
        assert (reader.cost(request) > 0, reader.cost(request)) == (True, 0), name
    assert 'gatehouse_cache_lookups_total{known="yes",tier="near"} 3.0' in reader.lookups()


def test_other_criteria_have_other_responses(town: Town, reader: Reader) -> None:
    town.publish("Night Music", city="Bern")
    town.publish("Day Music", city="Basel", days=2)
    assert reader.names() == ["Night Music", "Day Music"]
    assert (reader.names(city="bern"), reader.names(city="BASEL"), reader.names(limit=1)) == (
        ["Night Music"],
        ["Day Music"],
        ["Night Music"],
    )


@pytest.mark.parametrize("step", ["publish", "rename", "cancel", "postpone"])
def test_process_that_changes_an_event_serves_the_change_at_once(town: Town, reader: Reader, step: str) -> None:
    """The process that writes never serves the old state afterwards."""
    api = _signed_in(town, reader)
    event = town.draft("Night Music") if step == "publish" else town.publish("Night Music")
    before = reader.names()
    path = f"{FEED}/{event['id']}"
    shown = reader.api.client.get(path).status_code
    assert (before, shown) == (([], 404) if step == "publish" else (["Night Music"], 200))
    reader.api.get("/api/meta/cities")
    _act(api, event["id"], step)
    names, status = {
        "publish": ("Night Music", 200),
        "rename": ("Day Music", 200),
        "postpone": ("Night Music", 200),
        "cancel": (None, 404),
    }[step]
    assert reader.names() == ([names] if names else [])
    page = reader.api.client.get(path)
    assert (page.status_code, page.json.get("name")) == (status, names)
    assert bool(reader.api.get("/api/meta/cities")["items"]) is (names is not None)


def _signed_in(town: Town, reader: Reader) -> ApiClient:
    return ApiClient(reader.api.client.application.test_client(), town.api.headers)


def _act(api: ApiClient, event_id: str, step: str) -> None:
    path = f"/api/events/{event_id}"
    if step == "rename":
        api.patch(path, {"name": "Day Music"})
    else:
        api.post(f"{path}/{step}", {}, 200)


def test_processes_with_redis_share_and_invalidate_responses(town: Town, redis_url: str) -> None:
    one, other = Reader(town.app_server, redis_url), Reader(town.app_server, redis_url)
    try:
        event = town.publish("Night Music")
        assert one.names() == ["Night Music"]
        assert (other.cost(other.names), other.names()) == (0, ["Night Music"])
        assert 'gatehouse_cache_lookups_total{known="yes",tier="far"} 1.0' in other.lookups()
        _act(_signed_in(town, one), event["id"], "cancel")
        newcomer = Reader(town.app_server, redis_url)
        assert (one.names(), newcomer.names()) == ([], [])
        newcomer.close()
    finally:
        one.close()
        other.close()


def test_responses_are_right_while_redis_is_down_and_after(
    town: Town, redis_server: RedisServer, redis_url: str
) -> None:
    reader = Reader(town.app_server, redis_url)
    try:
        event = town.publish("Night Music")
        api = _signed_in(town, reader)
        assert reader.names() == ["Night Music"]
        redis_server.kill()
        assert reader.names(limit=2) == ["Night Music"]
        _act(api, event["id"], "rename")
        assert (reader.names(), reader.names(limit=2)) == (["Day Music"], ["Day Music"])
        redis_server.start()
        newcomer = Reader(town.app_server, redis_url)
        assert newcomer.names() == ["Day Music"]
        newcomer.close()
        _act(api, event["id"], "cancel")
        assert (reader.names(), reader.names(limit=2)) == ([], [])
    finally:
        with suppress(ProgramFailedError):  # it is running
            redis_server.start()
        reader.close()
