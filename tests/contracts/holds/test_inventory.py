"""Every seat once: what is sold, freed and moved for the rooms above."""

from __future__ import annotations

from typing import Any

import pytest

from shared.errors import Conflict
from sync_server.holds import inventory, places, queries
from tests.contracts.holds.house import House


def sold(house: House) -> set[str]:
    return {name for name, state in house.states().items() if state == 2}


def test_seats_are_sold_all_or_none_and_the_taken_ones_are_named(house: House) -> None:
    house.sell("A-1", "A-2")
    with pytest.raises(Conflict) as refused:
        house.sell("A-3", "A-2", first=10)
    assert refused.value.error_code == "seat_taken" and refused.value.details["seats"] == ["A-2"]
    assert sold(house) == {"A-1", "A-2"}


def test_a_freed_seat_is_sold_again(house: House) -> None:
    house.sell("A-1", "A-2")
    with house.office.database.writing() as session:
        freed = inventory.free(session, house.id, [1, 99], house.office.now)
    assert freed == [house.number("A-1")] and sold(house) == {"A-2"}
    house.sell("A-1", first=7)
    assert sold(house) == {"A-1", "A-2"}


def test_two_tickets_change_seats_and_a_third_moves_nowhere_that_is_taken(house: House) -> None:
    house.sell("A-1", "A-2", "A-3")
    one, two, three = (house.number(name) for name in ("A-1", "A-2", "A-3"))

    def move(moves: dict[int, tuple[int, int]]) -> None:
        with house.office.database.writing() as session:
            inventory.move(session, house.organisation_id, house.id, moves, house.deed())

    move({1: (one, two), 2: (two, one)})
    owners = dict(house.rows("SELECT seat, ticket_id FROM event_seats WHERE event_id = :event", event=house.id))
    assert (owners[one], owners[two]) == (2, 1)
    for wrong in ({1: (two, three)}, {1: (one, house.number("B-1"))}):
        with pytest.raises(Conflict):
            move(wrong)
    assert dict(house.rows("SELECT seat, ticket_id FROM event_seats WHERE event_id = :event", event=house.id)) == owners


def test_places_are_sold_up_to_the_capacity_and_given_back(house: House) -> None:
    zone = 1 + list(house.zones).index("Floor")

    def sell(count: int) -> None:
        with house.office.database.writing() as session:
            inventory.sell_places(session, house.organisation_id, house.id, zone, count, house.deed())

    sell(300)
    with pytest.raises(Conflict, match="not 1 places left"):
        sell(1)
    with house.office.database.writing() as session:
        inventory.free_places(session, house.id, zone, 2, house.office.now)
        assert queries.places_gone(session, house.id, house.office.now) == {zone: 298}
    sell(2)
    with pytest.raises(Conflict), house.office.database.writing() as session:
        inventory.free_places(session, house.id, zone, 301, house.office.now)


def test_the_layout_is_frozen_once_a_seat_is_sold(house: House) -> None:
    answer: Any = house.desk.get(f"{house.path}/layout")
    assert not answer["frozen"]
    house.sell("A-1")
    assert house.desk.get(f"{house.path}/layout")["frozen"]
    best = house.desk.post(f"{house.path}/layout/best-seats", {"size": 8}, 200)
    assert "A-1" not in str(best) and "row B" in str(best)


def test_no_place_goes_missing_between_holding_and_letting_go(house: House) -> None:
    with house.office.database.writing() as session:
        assert places.hold(session, house.organisation_id, house.id, 2, 5, capacity=5)
        assert not places.hold(session, house.organisation_id, house.id, 2, 1, capacity=5)
        assert places.let_go(session, house.id, 2, 5) and not places.let_go(session, house.id, 2, 1)
