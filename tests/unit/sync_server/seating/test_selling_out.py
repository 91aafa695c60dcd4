"""Two hundred and more evenings are sold out, and held against what could have been sold at the very best."""

from __future__ import annotations

from random import Random

import pytest

from scripts.selling_out.evenings import Evening, by_the_house, evening, nearest_only, sell
from sync_server.seating.offers import Manners


@pytest.fixture(scope="module")
def evenings() -> list[tuple[Evening, int]]:
    random = Random(2026)
    made = [evening(random, random.uniform(1.1, 1.6)) for _ in range(240)]
    return [(each, each.most()) for each in made]


def test_house_fills_nearly_what_could_be_filled_and_hardly_leaves_single_seats(
    evenings: list[tuple[Evening, int]],
) -> None:
    outcomes = [sell(each, by_the_house(Manners())) for each, _ in evenings]
    assert sum(outcome.sold for outcome in outcomes) >= 0.97 * sum(most for _, most in evenings)
    assert sum(outcome.orphans for outcome in outcomes) < 0.01 * sum(outcome.seats for outcome in outcomes)


def test_nobody_sells_more_than_the_exact_optimum(evenings: list[tuple[Evening, int]]) -> None:
    for each, most in evenings:
        for seller in (by_the_house(Manners()), by_the_house(Manners(orphan_avoidance_strict=False)), nearest_only):
            assert sell(each, seller).sold <= most


def test_nearest_seats_without_manners_would_leave_far_more_single_ones(evenings: list[tuple[Evening, int]]) -> None:
    careless = sum(sell(each, nearest_only).orphans for each, _ in evenings)
    careful = sum(sell(each, by_the_house(Manners())).orphans for each, _ in evenings)
    assert careful * 5 < careless
