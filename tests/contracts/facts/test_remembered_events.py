"""Cached lists of events: current at once for whoever changes them, with Redis, without it, and when it dies."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest

from scripts.private_services.redis import RedisServer
from tests.app_server import ApiClient, AppServer, a_concert
from tests.builders import a_venue, an_event
from tests.contracts.facts.memory import eventually, nowhere

LIST = "/api/events/summaries"


@pytest.fixture
def open_office(sqlite_url: str, tmp_path: Path) -> Iterator[Callable[[str | None], AppServer]]:
    """Server processes on one database, each with the Redis that is named."""
    made: list[AppServer] = []

    def open_one(redis_url: str | None) -> AppServer:
        settings = {} if redis_url is None else {"redis_url": redis_url}
        made.append(AppServer(sqlite_url, tmp_path, fresh=not made, **settings))
        return made[-1]

    yield open_one
    for one in made:
        one.close()


@pytest.fixture(params=["no redis", "redis", "redis away"])
def app_server(request: pytest.FixtureRequest, open_office: Callable[[str | None], AppServer]) -> AppServer:
    if request.param == "redis":
        return open_office(request.getfixturevalue("redis_url"))
    return open_office(nowhere() if request.param == "redis away" else None)


def listed(api: ApiClient, path: str = LIST) -> list[tuple[str, str]]:
    return sorted((one["name"], one["status"]) for one in api.get(path)["items"])


def looked(app_server: AppServer, tier: str, known: str) -> float:
    text = app_server.parts.metrics.text().decode()
    found = re.search(rf'gatehouse_cache_lookups_total{{known="{known}",tier="{tier}"}} (\S+)', text)
    return float(found[1]) if found else 0.0


def test_whoever_changes_an_event_reads_the_change_at_once(app_server: AppServer) -> None:
    concert = a_concert(app_server.api(app_server.organisation("marquee")))
    api = concert.api
    assert listed(api) == []
    api.post(f"{concert.path}/publish", {}, 200)
    assert listed(api) == [("Night Music", "published")]
    api.patch(concert.path, {"name": "Day Music"})
    assert listed(api) == [("Day Music", "published")]
    api.post(f"{concert.path}/cancel", {"reason": "storm"}, 200)
    assert listed(api) == []


def test_unchanged_lists_are_loaded_once_and_the_metrics_say_so(app_server: AppServer) -> None:
    concert = a_concert(app_server.api(app_server.organisation("marquee")))
    concert.api.post(f"{concert.path}/publish", {}, 200)
    before = looked(app_server, "near", "no"), looked(app_server, "near", "yes")
    for _ in range(5):
        assert listed(concert.api) == [("Night Music", "published")]
    assert (looked(app_server, "near", "no"), looked(app_server, "near", "yes")) == (before[0] + 1, before[1] + 4)


def test_lists_of_organisations_and_of_venues_are_separate(app_server: AppServer) -> None:
    mine, rivals = (a_concert(app_server.api(app_server.organisation(slug))) for slug in ("marquee", "rivals"))
    mine.api.post(f"{mine.path}/publish", {}, 200)
    quay = mine.api.post("/api/venues", a_venue(name="Quay"))
    other = mine.api.post("/api/events", an_event(quay["id"], name="Quayside"))
    mine.api.post(f"/api/events/{other['id']}/publish", {}, 200)
    for _ in range(2):  # looked up, then remembered
        assert listed(mine.api) == [("Night Music", "published"), ("Quayside", "published")]
        assert listed(mine.api, f"{LIST}?venue_id={quay['id']}") == [("Quayside", "published")]
        assert listed(rivals.api) == []
        assert listed(rivals.api, f"{LIST}?venue_id={quay['id']}") == []


def test_many_concurrent_requests_cost_one_load(app_server: AppServer) -> None:
    api = a_concert(app_server.api(app_server.organisation("marquee"))).api
    before, together = looked(app_server, "near", "no"), Barrier(12)

    def ask(_: int) -> int:
        client = app_server.app.test_client()
        together.wait(30)
        return client.get(LIST, headers=api.headers).status_code

    with ThreadPoolExecutor(12) as pool:
        assert set(pool.map(ask, range(12))) == {200}
    assert looked(app_server, "near", "no") == before + 1


def test_a_rolled_back_change_changes_nothing(app_server: AppServer) -> None:
    concert = a_concert(app_server.api(app_server.organisation("marquee")))
    concert.api.post(f"{concert.path}/publish", {}, 200)
    assert listed(concert.api) == [("Night Music", "published")]
    assert concert.api.refused("POST", f"{concert.path}/end", {})[0] == 409
    assert listed(concert.api) == [("Night Music", "published")]


def test_redis_dies_in_the_middle_of_an_evening_and_comes_back(
    open_office: Callable[[str | None], AppServer], redis_server: RedisServer, redis_url: str
) -> None:
    """Two processes: whatever happens to Redis, whoever changes an event reads the change, and the other soon does."""
    here, there = open_office(redis_url), open_office(redis_url)
    concert = a_concert(here.api(here.organisation("marquee")))
    across = ApiClient(there.app.test_client(), concert.api.headers)
    concert.api.post(f"{concert.path}/publish", {}, 200)
    assert listed(concert.api) == listed(across) == [("Night Music", "published")]
    redis_server.kill()
    concert.api.patch(concert.path, {"name": "Without a memory"})
    assert listed(concert.api) == [("Without a memory", "published")]
    redis_server.start()
    # What Redis still knew from before its death was condemned while it was away.
    there.parts.cache._loads.forget_where(lambda _key: True)  # type: ignore[attr-defined]  # its half minute is over
    eventually(lambda: listed(across) == [("Without a memory", "published")], "the other process reads the change")
    concert.api.patch(concert.path, {"name": "With one again"})
    assert listed(concert.api) == [("With one again", "published")]
