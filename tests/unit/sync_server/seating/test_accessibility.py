"""Wheelchair users, their companions, and everybody else."""

from __future__ import annotations

import pytest

from sync_server.seating.search.accessibility import Pairing, WheelchairPlaces
from sync_server.seating.search.offers import AccessibilityRules, Refusal

WHEELCHAIR, COMPANION, OTHER = 10, 11, 30
FAR_WHEELCHAIR, FAR_COMPANIONS = 20, (21, 22)


def places(**rules: int) -> WheelchairPlaces:
    pairings = (Pairing(WHEELCHAIR, 1, (COMPANION,)), Pairing(FAR_WHEELCHAIR, 1, FAR_COMPANIONS))
    return WheelchairPlaces(pairings, AccessibilityRules(**rules))


def empty(_zone: int) -> float:
    return 0.0


def full(_zone: int) -> float:
    return 85.0


def reason(result: object) -> str:
    assert isinstance(result, Refusal)
    return result.reason


def test_wheelchair_place_is_booked_alone() -> None:
    assert places().check([WHEELCHAIR], occupancy=empty) is None


def test_wheelchair_place_is_booked_with_its_companion() -> None:
    assert places().check([WHEELCHAIR, COMPANION], occupancy=empty) is None


def test_companion_follows_in_a_later_booking() -> None:
    assert places().check([COMPANION], owned=[WHEELCHAIR], occupancy=empty) is None


def test_companion_seat_is_not_sold_alone_to_others() -> None:
    assert reason(places().check([COMPANION, OTHER], occupancy=empty)) == "companion_seat_kept"


def test_companion_seat_of_another_wheelchair_place_is_reserved_too() -> None:
    assert reason(places().check([WHEELCHAIR, FAR_COMPANIONS[0]], occupancy=empty)) == "companion_seat_kept"


def test_companion_seats_are_released_once_the_zone_is_nearly_full() -> None:
    assert places().check([COMPANION, OTHER], occupancy=full) is None
    assert places().reserved_companions(full) == frozenset()
    assert places().reserved_companions(lambda _zone: 84.9) == {COMPANION, *FAR_COMPANIONS}


def test_organisation_sets_the_threshold() -> None:
    assert places(release_percent=90).reserved_companions(full) == {COMPANION, *FAR_COMPANIONS}


def test_zones_are_released_one_by_one() -> None:
    two = WheelchairPlaces(
        (Pairing(WHEELCHAIR, 1, (COMPANION,)), Pairing(FAR_WHEELCHAIR, 2, FAR_COMPANIONS)), AccessibilityRules()
    )
    assert two.reserved_companions(lambda zone: 100.0 if zone == 1 else 0.0) == set(FAR_COMPANIONS)


def test_wheelchair_places_stay_closed_to_the_public_when_companion_seats_are_released() -> None:
    assert places().closed_to_public(full) == {WHEELCHAIR, FAR_WHEELCHAIR}


def test_second_wheelchair_place_needs_the_box_office() -> None:
    both = [WHEELCHAIR, FAR_WHEELCHAIR]
    assert reason(places().check(both, occupancy=empty)) == "too_many_wheelchair_seats"
    assert reason(places().check([WHEELCHAIR], owned=[FAR_WHEELCHAIR], occupancy=empty)) == "too_many_wheelchair_seats"
    assert places(max_wheelchairs=2).check(both, occupancy=empty) is None
    assert places().check(both, occupancy=empty, staff=True) is None


def test_without_accessibility_rules_every_seat_is_sold_to_everybody() -> None:
    free = WheelchairPlaces(places().pairings, AccessibilityRules(enforce=False))
    assert free.check([COMPANION], occupancy=empty) is None
    assert free.closed_to_public(empty) == frozenset()


@pytest.mark.parametrize(("companions", "expected"), [(0, (10,)), (1, (10, 11)), (2, (20, 21, 22))])
def test_nearest_place_with_enough_companion_seats_is_given(companions: int, expected: tuple[int, ...]) -> None:
    assert places().best(1, companions, free=lambda _seat: True, distance=float) == expected


def test_group_is_told_why_there_is_no_place() -> None:
    def taken(_seat: int) -> bool:
        return False

    assert reason(places().best(1, 0, free=taken, distance=float)) == "no_wheelchair_place"
    assert reason(places().best(1, 3, free=lambda _seat: True, distance=float)) == "no_companion_seat"
    assert reason(places().best(2, 0, free=lambda _seat: True, distance=float)) == "too_many_wheelchair_seats"
