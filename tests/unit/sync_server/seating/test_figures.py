"""The figures of an event are right, and raise alerts outside their bounds."""

from __future__ import annotations

import pytest

from sync_server.seating.figures import BOUNDS, Figure, hold_figures, seating_figures
from tests.unit.sync_server.seating.test_event_seating import a_seating, sell


def by_name(figures: list[Figure]) -> dict[str, Figure]:
    return {figure.name: figure for figure in figures}


def test_single_free_seats_are_a_share_of_the_seats_on_sale() -> None:
    seating = a_seating(enforce_accessibility_rules=False)
    sell(seating, 10, 12, 14)  # leaves 9, 11 and 13 single, of 23 seats
    found = by_name(seating_figures(seating))["orphan_seats"]
    assert found.percent == pytest.approx(100 * 3 / 23) and found.state == "alert"


def test_wheelchair_places_are_a_share_of_the_seats_taken() -> None:
    seating = a_seating()
    sell(seating, 1, *range(9, 24))
    assert by_name(seating_figures(seating))["accessibility_use"].percent == pytest.approx(100 / 16)
    sell(seating, *range(9, 24))
    assert by_name(seating_figures(seating))["accessibility_use"].state == "alert", "none at all raises an alert, too"


def test_figures_are_unknown_without_vip_zones_or_sales() -> None:
    found = by_name(seating_figures(a_seating()))
    assert found["vip_use"].state == found["accessibility_use"].state == "unknown"


def test_active_holds_do_not_count_yet() -> None:
    found = by_name(hold_figures({"converted": 5, "expired": 4, "cancelled": 1, "active": 90, "suspended": 3}))
    assert (found["hold_to_sale"].percent, found["hold_expiry"].percent) == (50.0, 40.0)
    assert found["hold_to_sale"].state == "good"
    assert by_name(hold_figures({}))["hold_to_sale"].state == "unknown"


@pytest.mark.parametrize(("percent", "state"), [(24.9, "alert"), (25, "off_target"), (40, "good"), (85.1, "alert")])
def test_figure_has_a_state(percent: float, state: str) -> None:
    assert Figure("hold_to_sale", percent, BOUNDS["hold_to_sale"]).state == state
