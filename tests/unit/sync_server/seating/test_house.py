"""A house is corrected while people book, cancel and come in wheelchairs."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from sync_server.seating.accessibility import Pairing, Places
from sync_server.seating.house import House
from sync_server.seating.offers import Offer, Refused, Wish
from sync_server.seating.overlay import EventZone
from sync_server.seating.plan import AccessMode, ZoneType
from sync_server.seating.rules import Policy
from sync_server.seating.taken import Taken
from tests.unit.sync_server.seating.halls import a_hall

BLOCKED = frozenset({8})
SEATS = st.sets(st.integers(1, 24))


def a_house(**policy: object) -> House:
    """Three rows of eight; the first two seats are a wheelchair place with its companion seat, and seat 8 is broken."""
    hall = a_hall("........", "........", "........")
    hall.close(BLOCKED)
    zone = EventZone(1, "z", "Stalls", ZoneType.RESERVED_SEATING, 23, AccessMode.PUBLIC, None, (), (0.0, 0.0), {})
    wanted = replace(Policy(), **policy)  # type: ignore[arg-type]
    house = House("l", {1: zone}, hall, Places((Pairing(1, 1, (2,)),), wanted.care()), wanted, Taken("e"), BLOCKED)
    house.correct(Taken("e"))
    return house


def sold(*seats: int) -> Taken:
    return Taken("e", set(seats))


def state(house: House) -> list[tuple[int, int]]:
    return [(row.open, row.usable) for row in house.hall.rows]


@given(st.lists(SEATS, min_size=1, max_size=6))
def test_house_corrected_step_by_step_is_the_house_built_anew(evening: list[set[int]]) -> None:
    house, anew = a_house(), a_house()
    for seats in evening:
        house.correct(sold(*seats))
    anew.correct(sold(*evening[-1]))
    assert state(house) == state(anew)
    assert house.occupancy(1) == anew.occupancy(1) == 100.0 * len(evening[-1] - BLOCKED) / 23


@given(SEATS, st.sets(st.integers(1, 24), min_size=1, max_size=4))
def test_asking_changes_nothing(seats: set[int], picked: set[int]) -> None:
    house = a_house()
    house.correct(sold(*seats))
    before = state(house)
    house.judged(picked, Wish(len(picked)))
    house.best(Wish(3, apart=True))
    house.best_with_wheelchairs(1, 1)
    assert state(house) == before


@given(SEATS, st.integers(1, 6))
def test_public_is_never_offered_what_is_kept_or_broken_or_sold(seats: set[int], size: int) -> None:
    house = a_house()
    house.correct(sold(*seats))
    answer = house.best(Wish(size, apart=True))
    if isinstance(answer, Offer):
        kept = {1} if house.occupancy(1) >= 85 else {1, 2}
        assert not {*answer.seats} & (seats | BLOCKED | kept)


def test_seat_beside_the_wheelchair_place_is_no_single_seat_of_its_making() -> None:
    house = a_house()
    answer = house.judged([1], Wish(1))
    assert isinstance(answer, Offer)
    assert house.companions_kept([1]) == (2,)


def test_wheelchair_place_that_is_sold_is_sold() -> None:
    house = a_house()
    house.correct(sold(1))
    for answer in (house.judged([1], Wish(1)), house.best_with_wheelchairs(1, 0)):
        assert isinstance(answer, Refused)


def test_companion_seat_is_released_when_the_zone_fills_and_kept_again_when_guests_cancel() -> None:
    house = a_house()
    house.correct(sold(*range(3, 24)))
    assert house.hall.is_open(2)
    house.correct(sold(*range(3, 12)))
    assert not house.hall.is_open(2)


def test_house_without_these_rules_offers_every_seat() -> None:
    house = a_house(enforce_accessibility_rules=False)
    house.correct(sold(*range(3, 25)))
    answer = house.best(Wish(2))
    assert isinstance(answer, Offer)
    assert answer.seats == (1, 2)
