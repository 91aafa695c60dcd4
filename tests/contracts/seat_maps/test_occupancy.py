"""Occupancy counters are right with every kind of cache, and corrected if a change was missed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from scripts.private_services.redis import RedisServer
from tests.app_server import ApiClient, AppServer
from tests.builders import MINUTE, a_ticket_request
from tests.contracts.facts.memory import nowhere
from tests.contracts.seat_maps.mapped_event import TAKEN, MappedEvent, a_mapped_event, clear_map_cache
from tests.contracts.seating.stage import a_stage


@pytest.fixture(params=["in the process", "with redis", "redis away"])
def cached(request: pytest.FixtureRequest, database_url: str, tmp_path: Path) -> Iterator[MappedEvent]:
    """An event on a server with each kind of cache in turn."""
    settings: dict[str, Any] = {"in the process": {}, "redis away": {"redis_url": nowhere()}}.get(request.param, {})
    if request.param == "with redis":
        settings = {"redis_url": request.getfixturevalue("redis_url")}
    app_server = AppServer(database_url, tmp_path, **settings)
    yield a_mapped_event(app_server, app_server.api(app_server.organisation("marquee")))
    app_server.close()


def occupancy(mapped: MappedEvent, api: ApiClient | None = None) -> dict[str, Any]:
    """The occupancy as this client gets it."""
    counts: dict[str, Any] = (api or mapped.stage.api).get(f"/api/events/{mapped.id}/occupancy")
    return counts


def test_organisers_see_held_and_sold_and_everybody_else_taken(cached: MappedEvent) -> None:
    mapped, app_server = cached, cached.app_server
    mapped.hold(1)
    mapped.sell("A-2")
    app_server.run_worker()
    counts = occupancy(mapped)
    assert (counts["total"], counts["available"], counts["held"], counts["sold"]) == (316, 314, 1, 1)
    assert (counts["percent_available"], counts["percent_held"], counts["percent_sold"]) == (99.4, 0.3, 0.3)
    stalls = counts["zones"][0]
    assert (stalls["name"], stalls["total"], stalls["available"], stalls["percent_held"]) == ("Stalls", 16, 14, 6.2)
    public = occupancy(mapped, mapped.visitor)
    assert (public["available"], public["taken"]) == (314, 2)
    assert "held" not in public["zones"][0]


def test_counters_follow_every_change(cached: MappedEvent) -> None:
    mapped, app_server = cached, cached.app_server
    assert occupancy(mapped)["available"] == 316
    mapped.hold(1, minutes=1)
    app_server.run_worker()
    assert occupancy(mapped)["held"] == 1
    app_server.advance(MINUTE)
    mapped.sell("A-1")
    app_server.run_worker()
    assert [occupancy(mapped)[what] for what in ("held", "sold")] == [0, 1]


def test_map_is_right_while_redis_dies_and_comes_back(
    redis_server: RedisServer, redis_url: str, database_url: str, tmp_path: Path
) -> None:
    app_server = AppServer(database_url, tmp_path, redis_url=redis_url)
    mapped = a_mapped_event(app_server, app_server.api(app_server.organisation("marquee")))
    page = mapped.page()
    mapped.hold(1)
    redis_server.kill()
    app_server.run_worker()
    assert page.follow() == [[1, TAKEN]]
    assert occupancy(mapped)["held"] == 1
    mapped.hold(2)
    mapped.sell("A-4")
    redis_server.start()  # empty
    app_server.run_worker()
    assert page.follow() == [[2, TAKEN], [4, TAKEN]]
    assert [occupancy(mapped)[what] for what in ("available", "held", "sold")] == [313, 2, 1]
    clear_map_cache(app_server)
    rebuilt = mapped.page()
    assert (rebuilt.plan, rebuilt.seats) == (page.plan, page.seats)
    app_server.close()


def test_event_without_a_layout_is_counted_as_a_whole(
    app_server: AppServer, api: ApiClient, mapped: MappedEvent
) -> None:
    api.ask("DELETE", mapped.stage.path)
    api.patch(f"/api/events/{mapped.id}", {"capacity": 150})
    api.post(f"/api/events/{mapped.id}/tickets", a_ticket_request(count=3))
    app_server.run_worker()
    counts = occupancy(mapped)
    assert (counts["total"], counts["available"], counts["sold"]) == (150, 147, 3)


def test_change_that_could_not_be_recorded_is_recorded_later(mapped: MappedEvent, app_server: AppServer) -> None:
    page = mapped.page()
    rename(app_server, "seat_map_changes", "seat_map_away")
    mapped.hold(3)
    app_server.run_worker()
    rename(app_server, "seat_map_away", "seat_map_changes")
    assert page.follow() == []
    app_server.advance(2_000)
    app_server.run_worker()
    assert page.follow() == [[3, TAKEN]]


def test_facts_of_a_deleted_draft_do_not_block_others(
    mapped: MappedEvent, app_server: AppServer, api: ApiClient
) -> None:
    page = mapped.page()
    stage = a_stage(app_server, api)
    stage.choose()
    api.ask("DELETE", stage.path)
    assert api.ask("DELETE", f"/api/events/{stage.event['id']}").status_code == 200
    mapped.hold(3)
    app_server.run_worker()  # only now are the facts about the draft's layout delivered
    assert page.follow() == [[3, TAKEN]]


def rename(app_server: AppServer, table: str, to: str) -> None:
    """Make a table unavailable, or bring it back."""
    with app_server.database.writing() as session:
        session.execute(text(f"ALTER TABLE {table} RENAME TO {to}"))
