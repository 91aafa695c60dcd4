"""How fast the best available seats are found in a large venue, and how well small venues sell out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from random import Random
from typing import Final

from scripts.allocation_study.scenarios import best_seat_seller, random_scenario, sell
from scripts.allocation_study.stadium import scatter, sell_up_to, stadium
from scripts.benchmarking.result import Figure, Result, at_least, at_most
from scripts.benchmarking.statistics import Spread, milliseconds
from sync_server.seating.search.allocation import best_available
from sync_server.seating.search.allocation_grid import AllocationGrid
from sync_server.seating.search.offers import AllocationRules, Offer, SeatRequest

FILLS: Final = (0.0, 0.3, 0.6, 0.8, 0.9, 0.95, 0.98, 0.995)


def measure(*, quick: bool) -> Iterator[Result]:
    """A stadium at every fill, filled group by group and at random; then small venues that sell out."""
    yield Result("allocate", "60000 seats", _slowest_fill(100 if quick else 400), at_most(10, "p95"))
    sold_out = _sold_out(200 if quick else 400)
    yield Result("allocate", "sell-through percent", Figure(value=sold_out.sold, unit="%"), at_least(97))
    yield Result("allocate", "orphans percent", Figure(value=sold_out.orphans, unit="%"), at_most(1))
    yield Result("allocate", "further than nearest percent", Figure(value=sold_out.further, unit="%"), at_most(4.5))
    yield Result("allocate", "refused percent", Figure(value=sold_out.refused, unit="%"), at_most(6))


def _slowest_fill(requests: int) -> Figure:
    """The spread at the slowest fill: the goal is for any fill, not for the average."""
    random = Random(60_000)
    spreads = [Spread.of(_times(grid, random, requests)) for grid in _filled(random)]
    return Figure.of_spread(max(spreads, key=lambda spread: spread.p95), "ms")


def _filled(random: Random) -> Iterator[AllocationGrid]:
    grid = stadium()
    for share in FILLS:
        sell_up_to(grid, random, share)
        yield grid
    for share in FILLS:
        grid = stadium()
        scatter(grid, random, share)
        yield grid


def _times(grid: AllocationGrid, random: Random, requests: int) -> list[float]:
    """Time searches for groups of one to ten, between seats being taken and released as in a real sale."""
    times = []
    for _ in range(requests):
        seat_request = SeatRequest(random.randint(1, 10))
        rules = AllocationRules(orphan_avoidance_strict=random.random() < 0.5)
        times.append(milliseconds(partial(best_available, grid, seat_request, rules)))
        result = best_available(grid, seat_request, rules)
        if isinstance(result, Offer):
            grid.take(result.seats)
            grid.release(result.seats)
    return times


@dataclass(frozen=True, slots=True)
class SoldOut:
    """What becomes of venues that sell out, in percent."""

    sold: float  # of the exact optimum
    orphans: float  # of all seats
    further: float  # from the stage than the nearest neighbouring seats at that moment
    refused: float  # of the groups, though enough seats were free


def _sold_out(scenarios: int) -> SoldOut:
    random = Random(97)
    sold = optimum = orphans = seats = refused = groups = 0
    away = nearest = 0.0
    for _ in range(scenarios):
        scenario = random_scenario(random, random.uniform(1.1, 1.6))
        outcome = sell(scenario, best_seat_seller(AllocationRules()))
        optimum += scenario.most()
        sold, orphans, seats = sold + outcome.sold, orphans + outcome.orphans, seats + outcome.seats
        refused, groups = refused + outcome.refused, groups + len(scenario.groups)
        away, nearest = away + outcome.away, nearest + outcome.nearest
    return SoldOut(100 * sold / optimum, 100 * orphans / seats, 100 * away / nearest - 100, 100 * refused / groups)
