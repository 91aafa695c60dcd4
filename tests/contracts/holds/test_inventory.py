"""Seats and places are sold, freed and moved through the inventory, each once."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy.orm import Session

from shared.errors import Conflict
from shared.ids import uuid7
from sync_server.events.days.chosen_days import ChosenDays
from sync_server.holds.selling import inventory
from sync_server.holds.taking import places, seats
from sync_server.holds.taking.places import ZoneDays
from tests.contracts.holds.seated_event import SeatedEvent


def sold(sale: SeatedEvent) -> set[str]:
    return {name for name, state in sale.states().items() if state == 2}


def test_seats_are_sold_all_or_none_and_the_taken_ones_are_named(sale: SeatedEvent) -> None:
    sale.sell("A-1", "A-2")
    with pytest.raises(Conflict) as refused:
        sale.sell("A-3", "A-2", first=10)
    assert refused.value.error_code == "seat_taken" and refused.value.details["seats"] == ["A-2"]
    assert sold(sale) == {"A-1", "A-2"}


def test_a_freed_seat_is_sold_again(sale: SeatedEvent) -> None:
    sale.sell("A-1", "A-2")
    with sale.app_server.database.writing() as session:
        freed = inventory.free(session, sale.organisation_id, sale.id, [1, 99])
    assert freed == [sale.number("A-1")] and sold(sale) == {"A-2"}
    sale.sell("A-1", first=7)
    assert sold(sale) == {"A-1", "A-2"}


def test_two_tickets_swap_seats_and_none_moves_to_a_taken_one(sale: SeatedEvent) -> None:
    sale.sell("A-1", "A-2", "A-3")
    one, two, three = (sale.number(name) for name in ("A-1", "A-2", "A-3"))

    def move(moves: dict[int, tuple[int, int]]) -> None:
        with sale.app_server.database.writing() as session:
            inventory.move(session, sale.organisation_id, sale.id, moves, sale.context())

    move({1: (one, two), 2: (two, one)})
    owners = dict(sale.rows("SELECT seat, ticket_id FROM event_seats WHERE event_id = :event", event=sale.id))
    assert (owners[one], owners[two]) == (2, 1)
    for wrong in ({1: (two, three)}, {1: (one, sale.number("B-1"))}):
        with pytest.raises(Conflict):
            move(wrong)
    assert dict(sale.rows("SELECT seat, ticket_id FROM event_seats WHERE event_id = :event", event=sale.id)) == owners


def test_places_are_sold_up_to_the_capacity_and_freed(sale: SeatedEvent) -> None:
    zone = 1 + list(sale.zones).index("Floor")

    def sell(count: int) -> None:
        with sale.app_server.database.writing() as session:
            inventory.sell_places(session, sale.organisation_id, sale.id, zone, count, sale.context())

    sell(300)
    with pytest.raises(Conflict, match="fewer than 1 places left"):
        sell(1)
    with sale.app_server.database.writing() as session:
        inventory.free_places(session, sale.organisation_id, sale.id, zone, 2)
        taken = places.by_day(session, sale.organisation_id, sale.id, sale.app_server.now)
        assert taken[0].taken() == {zone: 298}
    sell(2)
    with pytest.raises(Conflict), sale.app_server.database.writing() as session:
        inventory.free_places(session, sale.organisation_id, sale.id, zone, 301)


def test_the_layout_is_frozen_once_a_seat_is_sold(sale: SeatedEvent) -> None:
    layout: Any = sale.api.get(f"{sale.path}/layout")
    assert not layout["frozen"]
    sale.sell("A-1")
    assert sale.api.get(f"{sale.path}/layout")["frozen"]
    best = sale.api.post(f"{sale.path}/layout/best-seats", {"size": 8}, 200)
    assert "A-1" not in str(best) and "row B" in str(best)


def test_no_place_is_lost_between_hold_and_release(sale: SeatedEvent) -> None:
    two = ZoneDays(sale.organisation_id, sale.id, 2, ChosenDays(("2026-07-04", "2026-07-05")))
    second = replace(two, days=ChosenDays(two.days.dates, 0b10))
    with sale.app_server.database.writing() as session:
        assert places.hold(session, second, 1, capacity=5)
        assert places.hold(session, two, 4, capacity=5)
        assert not places.hold(session, two, 1, capacity=5), "the second day is full, so the first is not held either"
        held = sale_places(session, sale)
        assert held == {0: {2: 4}, 1: {2: 5}}
        assert places.release(session, two, 4) and not places.release(session, two, 1)
        assert sale_places(session, sale) == {0: {}, 1: {2: 1}}


def sale_places(session: Session, sale: SeatedEvent) -> dict[int, dict[int, int]]:
    """The held places by day and zone."""
    found = places.by_day(session, sale.organisation_id, sale.id, sale.app_server.now)
    return {day: dict(counts.held) for day, counts in found.items()}


def test_two_days_of_a_seat_are_two_rows_and_each_is_taken_once(sale: SeatedEvent) -> None:
    seat, now = sale.number("A-1"), sale.app_server.now

    def hold(days: tuple[int, ...], hold_id: str) -> set[tuple[int, int]]:
        with sale.app_server.database.writing() as session:
            wanted = {(seat, day): hold_id for day in days}
            return seats.hold(session, sale.organisation_id, sale.id, wanted, until=now + 1, now=now)

    first, second, late = [uuid7(each, bytes) for each in range(3)]
    assert hold((0,), first) | hold((1,), second) == {(seat, 0), (seat, 1)}
    assert hold((0, 1), late) == set()
    rows = sale.rows("SELECT day, hold_id FROM event_seats WHERE event_id = :event ORDER BY day", event=sale.id)
    assert rows == [(0, first), (1, second)]
