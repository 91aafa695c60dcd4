"""The figures of a house are counted right, and say when somebody must look."""

from __future__ import annotations

import pytest

from sync_server.seating.figures import BOUNDS, Figure, of_holds, of_house
from tests.unit.sync_server.seating.test_house import a_house, sold


def by_name(figures: list[Figure]) -> dict[str, Figure]:
    return {figure.name: figure for figure in figures}


def test_single_free_seats_are_counted_against_the_seats_that_may_be_sold() -> None:
    house = a_house(enforce_accessibility_rules=False)
    house.correct(sold(10, 12, 14))  # leaves 9, 11 and 13 single, of 23 seats
    found = by_name(of_house(house))["orphan_seats"]
    assert found.percent == pytest.approx(100 * 3 / 23) and found.state == "alert"


def test_wheelchair_places_are_counted_against_seats_taken() -> None:
    house = a_house()
    house.correct(sold(1, *range(9, 24)))
    assert by_name(of_house(house))["accessibility_use"].percent == pytest.approx(100 / 16)
    house.correct(sold(*range(9, 24)))
    assert by_name(of_house(house))["accessibility_use"].state == "alert", "none at all is worth a look, too"


def test_house_without_vip_zones_or_sales_has_nothing_to_say() -> None:
    found = by_name(of_house(a_house()))
    assert found["vip_use"].state == found["accessibility_use"].state == "unknown"


def test_holds_that_go_on_do_not_count_yet() -> None:
    found = by_name(of_holds({"converted": 5, "expired": 4, "cancelled": 1, "active": 90, "suspended": 3}))
    assert (found["hold_to_sale"].percent, found["hold_expiry"].percent) == (50.0, 40.0)
    assert found["hold_to_sale"].state == "good"
    assert by_name(of_holds({}))["hold_to_sale"].state == "unknown"


@pytest.mark.parametrize(("percent", "state"), [(24.9, "alert"), (25, "off_target"), (40, "good"), (85.1, "alert")])
def test_figure_says_when_somebody_must_look(percent: float, state: str) -> None:
    assert Figure("hold_to_sale", percent, BOUNDS["hold_to_sale"]).state == state
