"""How full an event is: right in every way of remembering it, and corrected where something was missed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from scripts.throwaway.redis import RedisServer
from tests.builders import MINUTE, a_wish
from tests.contracts.facts.memory import nowhere
from tests.contracts.house_plan.house import FREE, TAKEN, House, a_house, forget_pictures
from tests.contracts.seating.stage import a_stage
from tests.office import Desk, Office


@pytest.fixture(params=["in the process", "with redis", "redis away"])
def remembering(request: pytest.FixtureRequest, database_url: str, tmp_path: Path) -> Iterator[House]:
    """A house on a server that remembers in each way in turn."""
    settings: dict[str, Any] = {"in the process": {}, "redis away": {"redis_url": nowhere()}}.get(request.param, {})
    if request.param == "with redis":
        settings = {"redis_url": request.getfixturevalue("redis_url")}
    office = Office(database_url, tmp_path, **settings)
    yield a_house(office, office.desk(office.organisation("marquee")))
    office.close()


def occupancy(house: House, desk: Desk | None = None) -> dict[str, Any]:
    """As somebody is told."""
    told: dict[str, Any] = (desk or house.stage.desk).get(f"/api/events/{house.id}/occupancy")
    return told


def test_organisers_see_what_is_held_and_sold_and_everybody_what_is_left(remembering: House) -> None:
    house, office = remembering, remembering.office
    house.hold(1)
    house.sell("A-2")
    office.work()
    told = occupancy(house)
    assert (told["total"], told["available"], told["held"], told["sold"]) == (316, 314, 1, 1)
    assert (told["percent_available"], told["percent_held"], told["percent_sold"]) == (99.4, 0.3, 0.3)
    stalls = told["zones"][0]
    assert (stalls["name"], stalls["total"], stalls["available"], stalls["percent_held"]) == ("Stalls", 16, 14, 6.2)
    public = occupancy(house, house.visitor)
    assert (public["available"], public["taken"]) == (314, 2)
    assert "held" not in public["zones"][0]


def test_counters_follow_every_change(remembering: House) -> None:
    house, office = remembering, remembering.office
    assert occupancy(house)["available"] == 316
    house.hold(1, minutes=1)
    office.work()
    assert occupancy(house)["held"] == 1
    office.advance(MINUTE)
    house.sell("A-1")
    office.work()
    assert [occupancy(house)[what] for what in ("held", "sold")] == [0, 1]


def test_map_is_right_while_redis_dies_and_comes_back(
    redis_server: RedisServer, redis_url: str, database_url: str, tmp_path: Path
) -> None:
    office = Office(database_url, tmp_path, redis_url=redis_url)
    house = a_house(office, office.desk(office.organisation("marquee")))
    page = house.page()
    house.hold(1)
    redis_server.kill()
    office.work()
    assert page.follow() == [[1, TAKEN]]
    assert occupancy(house)["held"] == 1
    house.hold(2)
    house.sell("A-4")
    redis_server.start()  # with nothing of what it knew
    office.work()
    assert page.follow() == [[2, TAKEN], [4, TAKEN]]
    assert [occupancy(house)[what] for what in ("available", "held", "sold")] == [313, 2, 1]
    forget_pictures(office)
    rebuilt = house.page()
    assert (rebuilt.plan, rebuilt.seats) == (page.plan, page.seats)
    for _ in range(3):  # what is remembered by now is compared with the tables
        office.advance(MINUTE)
        office.work()
    assert corrections(office) == 0
    office.close()


def test_event_without_a_layout_is_counted_as_a_whole(office: Office, desk: Desk, house: House) -> None:
    desk.ask("DELETE", house.stage.path)
    desk.patch(f"/api/events/{house.id}", {"capacity": 150})
    desk.post(f"/api/events/{house.id}/tickets", a_wish(count=3))
    office.work()
    told = occupancy(house)
    assert (told["total"], told["available"], told["sold"]) == (150, 147, 3)


def corrections(office: Office) -> float:
    """As an operator reads them."""
    lines = office.parts.metrics.text().decode().splitlines()
    return float(next(line for line in lines if line.startswith("gatehouse_seatmap_corrections_total")).split()[1])


def test_what_was_missed_is_found_told_and_counted(house: House, office: Office) -> None:
    page = house.page()
    house.sell("A-3")
    office.work()
    assert page.follow() == [[3, TAKEN]]
    office.advance(MINUTE)
    office.work()
    house.behind_everybodys_back(3)
    assert page.follow() == []
    office.advance(MINUTE)
    office.work()
    assert page.follow() == []  # it may only be on its way
    office.advance(MINUTE)
    office.work()
    assert page.follow() == [[3, FREE]]
    assert corrections(office) >= 1
    assert occupancy(house)["sold"] == 0


def test_change_on_its_way_is_no_mistake(house: House, office: Office) -> None:
    for seat in range(1, 5):
        house.hold(seat, minutes=60)
        office.advance(MINUTE)
        office.work()
    assert corrections(office) == 0


def test_fact_that_cannot_be_written_down_is_written_later(house: House, office: Office) -> None:
    page = house.page()
    rename(office, "seat_map_changes", "seat_map_away")
    house.hold(3)
    office.work()
    rename(office, "seat_map_away", "seat_map_changes")
    assert page.follow() == []
    office.advance(2_000)
    office.work()
    assert page.follow() == [[3, TAKEN]]


def test_news_of_a_deleted_draft_holds_up_nobody_elses(house: House, office: Office, desk: Desk) -> None:
    page = house.page()
    stage = a_stage(office, desk)
    stage.choose()
    desk.ask("DELETE", stage.path)
    assert desk.ask("DELETE", f"/api/events/{stage.event['id']}").status_code == 200
    house.hold(3)
    office.work()  # only now is anything told of the draft's layout
    assert page.follow() == [[3, TAKEN]]


def rename(office: Office, table: str, to: str) -> None:
    """Take a table out of everybody's reach, or bring it back."""
    with office.database.writing() as session:
        session.execute(text(f"ALTER TABLE {table} RENAME TO {to}"))
