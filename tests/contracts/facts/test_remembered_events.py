"""Lists of events that are remembered: right at once for whoever changes them, with Redis, without, when it dies."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest

from scripts.throwaway.redis import RedisServer
from tests.builders import a_venue, an_event
from tests.contracts.facts.memory import eventually, nowhere
from tests.office import Desk, Office, an_evening

LIST = "/api/events/summaries"


@pytest.fixture
def open_office(sqlite_url: str, tmp_path: Path) -> Iterator[Callable[[str | None], Office]]:
    """Server processes on one database, each with the Redis that is named."""
    made: list[Office] = []

    def open_one(redis_url: str | None) -> Office:
        settings = {} if redis_url is None else {"redis_url": redis_url}
        made.append(Office(sqlite_url, tmp_path, fresh=not made, **settings))
        return made[-1]

    yield open_one
    for one in made:
        one.close()


@pytest.fixture(params=["no redis", "redis", "redis away"])
def office(request: pytest.FixtureRequest, open_office: Callable[[str | None], Office]) -> Office:
    if request.param == "redis":
        return open_office(request.getfixturevalue("redis_url"))
    return open_office(nowhere() if request.param == "redis away" else None)


def listed(desk: Desk, path: str = LIST) -> list[tuple[str, str]]:
    return sorted((one["name"], one["status"]) for one in desk.get(path)["items"])


def looked(office: Office, tier: str, known: str) -> float:
    text = office.app.test_client().get("/metrics").get_data(as_text=True)
    found = re.search(rf'gatehouse_cache_lookups_total{{known="{known}",tier="{tier}"}} (\S+)', text)
    return float(found[1]) if found else 0.0


def test_whoever_changes_an_event_reads_the_change_at_once(office: Office) -> None:
    evening = an_evening(office.desk(office.organisation("marquee")))
    desk = evening.desk
    assert listed(desk) == []
    desk.post(f"{evening.path}/publish", {}, 200)
    assert listed(desk) == [("Night Music", "published")]
    desk.patch(evening.path, {"name": "Day Music"})
    assert listed(desk) == [("Day Music", "published")]
    desk.post(f"{evening.path}/cancel", {"reason": "storm"}, 200)
    assert listed(desk) == []


def test_what_has_not_changed_is_looked_up_once_and_the_measures_say_so(office: Office) -> None:
    evening = an_evening(office.desk(office.organisation("marquee")))
    evening.desk.post(f"{evening.path}/publish", {}, 200)
    before = looked(office, "near", "no"), looked(office, "near", "yes")
    for _ in range(5):
        assert listed(evening.desk) == [("Night Music", "published")]
    assert (looked(office, "near", "no"), looked(office, "near", "yes")) == (before[0] + 1, before[1] + 4)


def test_lists_of_houses_and_of_venues_are_kept_apart(office: Office) -> None:
    mine, rivals = (an_evening(office.desk(office.organisation(slug))) for slug in ("marquee", "rivals"))
    mine.desk.post(f"{mine.path}/publish", {}, 200)
    quay = mine.desk.post("/api/venues", a_venue(name="Quay"))
    other = mine.desk.post("/api/events", an_event(quay["id"], name="Quayside"))
    mine.desk.post(f"/api/events/{other['id']}/publish", {}, 200)
    for _ in range(2):  # looked up, then remembered
        assert listed(mine.desk) == [("Night Music", "published"), ("Quayside", "published")]
        assert listed(mine.desk, f"{LIST}?venue_id={quay['id']}") == [("Quayside", "published")]
        assert listed(rivals.desk) == []
        assert listed(rivals.desk, f"{LIST}?venue_id={quay['id']}") == []


def test_a_crowd_that_asks_at_once_costs_one_look(office: Office) -> None:
    desk = an_evening(office.desk(office.organisation("marquee"))).desk
    before, together = looked(office, "near", "no"), Barrier(12)

    def ask(_: int) -> int:
        client = office.app.test_client()
        together.wait(30)
        return client.get(LIST, headers=desk.headers).status_code

    with ThreadPoolExecutor(12) as pool:
        assert set(pool.map(ask, range(12))) == {200}
    assert looked(office, "near", "no") == before + 1


def test_a_change_that_is_taken_back_changes_nothing(office: Office) -> None:
    evening = an_evening(office.desk(office.organisation("marquee")))
    evening.desk.post(f"{evening.path}/publish", {}, 200)
    assert listed(evening.desk) == [("Night Music", "published")]
    assert evening.desk.refused("POST", f"{evening.path}/end", {})[0] == 409
    assert listed(evening.desk) == [("Night Music", "published")]


def test_redis_dies_in_the_middle_of_an_evening_and_comes_back(
    open_office: Callable[[str | None], Office], redis_server: RedisServer, redis_url: str
) -> None:
    """Two processes; whatever becomes of Redis, whoever changes an event reads the change, and the other soon does."""
    here, there = open_office(redis_url), open_office(redis_url)
    evening = an_evening(here.desk(here.organisation("marquee")))
    across = Desk(there.app.test_client(), evening.desk.headers)
    evening.desk.post(f"{evening.path}/publish", {}, 200)
    assert listed(evening.desk) == listed(across) == [("Night Music", "published")]
    redis_server.kill()
    evening.desk.patch(evening.path, {"name": "Without a memory"})
    assert listed(evening.desk) == [("Without a memory", "published")]
    redis_server.start()
    # What Redis still knew from before its death was condemned while it was away.
    there.parts.cache._drop(lambda _name: True)  # type: ignore[attr-defined]  # its half minute is over
    eventually(lambda: listed(across) == [("Without a memory", "published")], "the other process reads the change")
    evening.desk.patch(evening.path, {"name": "With one again"})
    assert listed(evening.desk) == [("With one again", "published")]
