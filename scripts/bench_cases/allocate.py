"""How fast the best seats left are found in a large house, and how well small houses are sold to the last seat."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Final

from scripts.measuring.result import Figure, Result, at_least, at_most
from scripts.measuring.statistics import Spread, milliseconds
from scripts.selling_out.evenings import by_the_house, evening, sell
from scripts.selling_out.stadium import scatter, sell_up_to, stadium
from sync_server.seating.allocation import best_available
from sync_server.seating.hall import Hall
from sync_server.seating.offers import Manners, Offer, Wish

FILLS: Final = (0.0, 0.3, 0.6, 0.8, 0.9, 0.95, 0.98, 0.995)


def measure(*, quick: bool) -> Iterator[Result]:
    """A stadium at every fill, filled party by party and filled at random; then evenings that sell out."""
    yield Result("allocate", "60000 seats", _fastest(100 if quick else 400), at_most(10, "p95"))
    sold, orphans = _sold_out(200 if quick else 400)
    yield Result("allocate", "sell-through percent", Figure(value=sold, unit="%"), at_least(97))
    yield Result("allocate", "orphans percent", Figure(value=orphans, unit="%"), at_most(1))


def _fastest(asked: int) -> Figure:
    """The spread at the fill where it is worst: 'at any fill' is no average."""
    random = Random(60_000)
    spreads = [Spread.of(_times(hall, random, asked)) for hall in _filled(random)]
    return Figure.of_spread(max(spreads, key=lambda spread: spread.p95), "ms")


def _filled(random: Random) -> Iterator[Hall]:
    hall = stadium()
    for share in FILLS:
        sell_up_to(hall, random, share)
        yield hall
    for share in FILLS:
        hall = stadium()
        scatter(hall, random, share)
        yield hall


def _times(hall: Hall, random: Random, asked: int) -> list[float]:
    """Parties of one to ten; between two of them somebody takes or returns seats, as on a real evening."""
    times = []
    for _ in range(asked):
        wish, manners = Wish(random.randint(1, 10)), Manners(orphan_avoidance_strict=random.random() < 0.5)
        times.append(milliseconds(lambda wish=wish, manners=manners: best_available(hall, wish, manners)))  # type: ignore[misc]
        answer = best_available(hall, wish, manners)
        if isinstance(answer, Offer):
            hall.take(answer.seats)
            hall.release(answer.seats)
    return times


def _sold_out(evenings: int) -> tuple[float, float]:
    """Seats sold, of the exact optimum; seats left single, of all: in percent, over evenings that sell out."""
    random = Random(97)
    sold = most = orphans = seats = 0
    for _ in range(evenings):
        tonight = evening(random, random.uniform(1.1, 1.6))
        outcome = sell(tonight, by_the_house(Manners()))
        most += tonight.most()
        sold, orphans, seats = sold + outcome.sold, orphans + outcome.orphans, seats + outcome.seats
    return 100 * sold / most, 100 * orphans / seats
