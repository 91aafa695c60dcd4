"""Sells out some two hundred random events and compares the result with the exact optimum."""

from __future__ import annotations

from random import Random

import pytest

from scripts.allocation_study.scenarios import Scenario, best_seat_seller, nearest_seller, random_scenario, sell
from sync_server.seating.search.offers import AllocationRules


@pytest.fixture(scope="module")
def evenings() -> list[tuple[Scenario, int]]:
    random = Random(2026)
    scenarios = [random_scenario(random, random.uniform(1.1, 1.6)) for _ in range(240)]
    return [(each, each.most()) for each in scenarios]


def test_search_sells_nearly_the_optimum_and_leaves_few_single_seats(
    evenings: list[tuple[Scenario, int]],
) -> None:
    outcomes = [sell(each, best_seat_seller(AllocationRules())) for each, _ in evenings]
    assert sum(outcome.sold for outcome in outcomes) >= 0.97 * sum(most for _, most in evenings)
    assert sum(outcome.orphans for outcome in outcomes) < 0.01 * sum(outcome.seats for outcome in outcomes)


def test_guests_sit_nearly_as_near_as_they_could_and_few_are_refused_while_enough_seats_are_free(
    evenings: list[tuple[Scenario, int]],
) -> None:
    outcomes = [sell(each, best_seat_seller(AllocationRules())) for each, _ in evenings]
    assert sum(outcome.away for outcome in outcomes) < 1.045 * sum(outcome.nearest for outcome in outcomes)
    assert sum(outcome.refused for outcome in outcomes) < 0.06 * sum(len(each.groups) for each, _ in evenings)


def test_nobody_sells_more_than_the_exact_optimum(evenings: list[tuple[Scenario, int]]) -> None:
    for each, most in evenings:
        for seller in (
            best_seat_seller(AllocationRules()),
            best_seat_seller(AllocationRules(orphan_avoidance_strict=False)),
            nearest_seller,
        ):
            assert sell(each, seller).sold <= most


def test_nearest_seats_without_rules_leave_far_more_single_seats(evenings: list[tuple[Scenario, int]]) -> None:
    careless = sum(sell(each, nearest_seller).orphans for each, _ in evenings)
    careful = sum(sell(each, best_seat_seller(AllocationRules())).orphans for each, _ in evenings)
    assert careful * 5 < careless
