"""Draws docs/pictures/allocation-*.svg: seats sold and single seats left, by how many people ask."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Final

from scripts.selling_out.evenings import Evening, Outcome, Seller, by_the_house, evening, nearest_only, sell
from scripts.selling_out.picture import Line, picture
from sync_server.seating.offers import Manners

PICTURES: Final = Path(__file__).resolve().parents[2] / "docs" / "pictures"
DEMANDS: Final = (0.9, 1.0, 1.1, 1.2, 1.3, 1.5, 1.75, 2.0)
EVENINGS: Final = 60
SELLERS: Final[dict[str, Seller]] = {
    "Gatehouse, strict (the default)": by_the_house(Manners()),
    "Gatehouse, not strict": by_the_house(Manners(orphan_avoidance_strict=False)),
    "nearest seats, whatever is left": nearest_only,
}


def main() -> None:
    """Sell out, and draw."""
    evenings = {demand: [evening(random, demand) for _ in range(EVENINGS)] for demand, random in _seeded()}
    sold = {"exact optimum": _best(evenings)} | _lines(evenings, lambda outcome: outcome.sold)
    singles = _lines(evenings, lambda outcome: outcome.orphans)
    across = "people who ask, for each seat"
    _write("sell-through", picture("Seats sold when more people ask than fit", across, "% of all seats", sold))
    _write("orphans", picture("Single seats left behind", across, "% of all seats", singles))


def _seeded() -> list[tuple[float, Random]]:
    return [(demand, Random(round(demand * 100))) for demand in DEMANDS]


def _best(evenings: dict[float, list[Evening]]) -> Line:
    return [
        (demand, 100 * sum(each.most() for each in some) / sum(sell(each, _nobody).seats for each in some))
        for demand, some in evenings.items()
    ]


def _nobody(_hall: object, _size: int) -> None:
    return None


def _lines(evenings: dict[float, list[Evening]], counted: Callable[[Outcome], int]) -> dict[str, Line]:
    return {name: _line(evenings, seller, counted) for name, seller in SELLERS.items()}


def _line(evenings: dict[float, list[Evening]], seller: Seller, counted: Callable[[Outcome], int]) -> Line:
    points = []
    for demand, some in evenings.items():
        outcomes = [sell(each, seller) for each in some]
        points.append((demand, 100 * sum(map(counted, outcomes)) / sum(outcome.seats for outcome in outcomes)))
    return points


def _write(name: str, drawing: str) -> None:
    (PICTURES / f"allocation-{name}.svg").write_text(drawing)


if __name__ == "__main__":
    main()
