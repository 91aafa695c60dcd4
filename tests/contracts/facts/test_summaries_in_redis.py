"""Summaries of events in Redis, under the names that other programs read: a hash for each event, lists of ids."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from redis import Redis

from tests.app_server import AppServer, Concert, a_concert
from tests.builders import DAY, EVENING, a_venue

LIST = "/api/events/summaries"
PREFIX = "marquee-house"

OpenOffice = Callable[[], AppServer]


@pytest.fixture
def open_office(sqlite_url: str, redis_url: str, tmp_path: Path) -> Iterator[OpenOffice]:
    """Server processes with one database and one Redis."""
    made: list[AppServer] = []

    def open_one() -> AppServer:
        made.append(AppServer(sqlite_url, tmp_path, fresh=not made, redis_url=redis_url, redis_prefix=PREFIX))
        return made[-1]

    yield open_one
    for one in made:
        one.close()


@pytest.fixture
def app_server(open_office: OpenOffice) -> AppServer:
    return open_office()


@pytest.fixture
def redis(redis_url: str) -> Iterator[Any]:
    with Redis.from_url(redis_url, decode_responses=True) as client:
        yield client


@pytest.fixture
def organisation_id(app_server: AppServer) -> str:
    return app_server.organisation("marquee")


@pytest.fixture
def concert(app_server: AppServer, organisation_id: str) -> Concert:
    made = a_concert(app_server.api(organisation_id))
    made.api.post(f"{made.path}/publish", {}, 200)
    app_server.run_worker()
    return made


@pytest.fixture
def names(concert: Concert, organisation_id: str) -> tuple[str, str, str]:
    """The keys of the event and of its venue's list, and what all of the organisation's begin with."""
    here = f"{PREFIX}:org:{{{organisation_id}}}:events"
    return f"{here}:summary:{concert.event['id']}", f"{here}:list:venue:{concert.venue['id']}", here


def at_venue(concert: Concert) -> str:
    return f"{LIST}?venue_id={concert.venue['id']}"


def test_reading_a_list_leaves_its_ids_and_a_hash_for_each_event(
    concert: Concert, redis: Any, names: tuple[str, str, str], organisation_id: str
) -> None:
    event, venue, here = names
    (item,) = concert.api.get(at_venue(concert))["items"]
    concert.api.get(LIST)
    assert redis.lrange(venue, 0, -1) == [item["id"]]
    assert redis.lrange(f"{here}:list:org:{organisation_id}", 0, -1) == [item["id"]]
    stored = redis.hgetall(event)
    named = ("name", "slug", "status", "start_at", "end_at", "sale_end_at", "venue_id")
    assert {name: stored[name] for name in named} == {name: item[name] for name in named}
    assert stored["org_id"] == organisation_id
    assert not {"rescheduled_at", "replaced_by_event_id", "mark"} & set(stored), "only what is set"
    assert all(600 <= redis.ttl(key) <= 1800 for key in (event, venue))
    assert [key for key in redis.keys("*") if organisation_id not in key and ":events" in key] == []


def test_another_process_reads_what_is_there(
    concert: Concert, open_office: OpenOffice, redis: Any, names: tuple[str, str, str], organisation_id: str
) -> None:
    event, _, _ = names
    concert.api.get(at_venue(concert))
    redis.hset(event, "name", "As it stands in Redis")
    there = open_office().api(organisation_id)
    assert [each["name"] for each in there.get(at_venue(concert))["items"]] == ["As it stands in Redis"]


def test_a_fact_removes_what_it_makes_stale_and_the_mark_is_there(
    concert: Concert, app_server: AppServer, redis: Any, names: tuple[str, str, str]
) -> None:
    event, venue, _ = names
    concert.api.get(at_venue(concert))
    concert.api.post(f"{concert.path}/postpone", {"reason": "storm"}, 200)
    app_server.run_worker()
    assert (redis.exists(event), redis.exists(venue)) == (0, 0)
    (item,) = concert.api.get(at_venue(concert))["items"]
    assert (item["status"], item["mark"], redis.hget(event, "mark")) == ("postponed", "postponed", "postponed")
    concert.api.post(f"{concert.path}/reschedule", {"rescheduled_at": EVENING + 9 * DAY}, 200)
    (item,) = concert.api.get(at_venue(concert))["items"]
    assert (item["mark"], redis.hget(event, "rescheduled_at")) == ("rescheduled", item["rescheduled_at"])


def test_what_is_stale_is_not_used_before_any_worker_has_come(
    concert: Concert, open_office: OpenOffice, redis: Any, organisation_id: str
) -> None:
    concert.api.get(at_venue(concert))
    concert.api.patch(concert.path, {"name": "Day Music"})
    there = open_office().api(organisation_id)
    assert [each["name"] for each in there.get(at_venue(concert))["items"]] == ["Day Music"]


def test_an_event_that_moves_leaves_both_lists(
    concert: Concert, app_server: AppServer, redis: Any, names: tuple[str, str, str]
) -> None:
    _, old, here = names
    concert.api.get(at_venue(concert))
    elsewhere = concert.api.post("/api/venues", a_venue(name="Other Hall"))
    concert.api.get(f"{LIST}?venue_id={elsewhere['id']}")
    moved = concert.api.ask("POST", f"{concert.path}/venue", {"venue_id": elsewhere["id"]})
    assert moved.status_code == 200, moved.get_data(as_text=True)
    app_server.run_worker()
    assert (redis.exists(old), redis.exists(f"{here}:list:venue:{elsewhere['id']}")) == (0, 0)
