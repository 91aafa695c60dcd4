"""Draws docs/pictures/allocation-*.svg: seats sold and single seats left, by demand."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Final

from scripts.allocation_study.chart import Line, line_chart
from scripts.allocation_study.scenarios import (
    Outcome,
    Scenario,
    Seller,
    best_seat_seller,
    nearest_seller,
    random_scenario,
    sell,
)
from scripts.arguments import Arguments
from sync_server.seating.search.offers import AllocationRules

CHARTS: Final = Path(__file__).resolve().parents[2] / "docs" / "pictures"
DEMANDS: Final = (0.9, 1.0, 1.1, 1.2, 1.3, 1.5, 1.75, 2.0)
SCENARIOS: Final = 60
SELLERS: Final[dict[str, Seller]] = {
    "Gatehouse, strict (the default)": best_seat_seller(AllocationRules()),
    "Gatehouse, not strict": best_seat_seller(AllocationRules(orphan_avoidance_strict=False)),
    "nearest seats, whatever is left": nearest_seller,
}


def main() -> None:
    """Run the simulations and write the charts."""
    scenarios = {demand: [random_scenario(random, demand) for _ in range(SCENARIOS)] for demand, random in _seeded()}
    sold = {"exact optimum": _best(scenarios)} | _lines(scenarios, lambda outcome: outcome.sold)
    singles = _lines(scenarios, lambda outcome: outcome.orphans)
    x_label = "people asking per seat"
    _write("sell-through", line_chart("Seats sold when more people ask than fit", x_label, "% of all seats", sold))
    _write("orphans", line_chart("Single seats left behind", x_label, "% of all seats", singles))


def _seeded() -> list[tuple[float, Random]]:
    return [(demand, Random(round(demand * 100))) for demand in DEMANDS]


def _best(scenarios: dict[float, list[Scenario]]) -> Line:
    return [
        (demand, 100 * sum(each.most() for each in group) / sum(sell(each, _no_seats).seats for each in group))
        for demand, group in scenarios.items()
    ]


def _no_seats(_grid: object, _size: int) -> None:
    return None


def _lines(scenarios: dict[float, list[Scenario]], count: Callable[[Outcome], int]) -> dict[str, Line]:
    return {name: _line(scenarios, seller, count) for name, seller in SELLERS.items()}


def _line(scenarios: dict[float, list[Scenario]], seller: Seller, count: Callable[[Outcome], int]) -> Line:
    points = []
    for demand, group in scenarios.items():
        outcomes = [sell(scenario, seller) for scenario in group]
        points.append((demand, 100 * sum(map(count, outcomes)) / sum(outcome.seats for outcome in outcomes)))
    return points


def _write(name: str, drawing: str) -> None:
    (CHARTS / f"allocation-{name}.svg").write_text(drawing)


if __name__ == "__main__":
    Arguments(prog="python -m scripts.allocation_study", description=__doc__).parse_args()
    main()
