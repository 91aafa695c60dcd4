"""Finds the best seats left for a group: together, leaving no single seat, and as near the stage as possible."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from sync_server.seating.search import bits
from sync_server.seating.search.allocation_grid import AllocationGrid, RowState, fragment_cost
from sync_server.seating.search.clusters import split_into_clusters
from sync_server.seating.search.eligibility import eligible, in_turn
from sync_server.seating.search.offers import AllocationRules, Cluster, Grade, Offer, Refusal, SeatRequest, offer

RESTRICTED_COST: Final = 1_000.0
"""How much further away a group sits, in seat widths, rather than on a seat with a restricted view."""


def best_available(grid: AllocationGrid, request: SeatRequest, rules: AllocationRules) -> Offer | Refusal:
    """The best seats that the rules allow for this request, or why there are none."""
    for each in in_turn(grid, request):
        for found in _candidates(grid, each, rules):
            if found is not None:
                return found
    return _refusal(grid, request, rules)


def best_together(grid: AllocationGrid, request: SeatRequest, rows: int) -> Offer | None:
    """The best neighbours that leave no single seat and are spared for nobody, in these rows: bits by rank."""
    first = next(in_turn(grid, request))
    return _nearest(grid, _tidy(grid, first) & rows, first, Grade.TOGETHER)


def _candidates(grid: AllocationGrid, request: SeatRequest, rules: AllocationRules) -> Iterator[Offer | None]:
    yield together(grid, request)
    yield in_a_nearly_sold_row(grid, request)
    if request.unsplit:
        yield together_anyhow(grid, request)
        return
    if request.staff or not rules.group_adjacency_strict:
        yield split_into_clusters(grid, request, rules, tidy=True)
    if request.staff or not rules.orphan_avoidance_strict:
        yield together_anyhow(grid, request)
        if request.staff or not rules.group_adjacency_strict:
            yield split_into_clusters(grid, request, rules, tidy=False)
    if request.apart or request.staff:
        yield apart(grid, request)


def together(grid: AllocationGrid, request: SeatRequest) -> Offer | None:
    """Neighbours in one row that leave no single seat."""
    return _nearest(grid, _tidy(grid, request), request, Grade.TOGETHER)


def _tidy(grid: AllocationGrid, request: SeatRequest) -> int:
    return grid.fitting_rows(request.size).tidy_by_rank


def in_a_nearly_sold_row(grid: AllocationGrid, request: SeatRequest) -> Offer | None:
    """Neighbours in a row that is nearly sold with them, where a single seat may be left."""
    return _nearest(grid, grid.fitting_rows(request.size).nearly_sold_by_rank, request, Grade.NEARLY_SOLD_ROW)


def together_anyhow(grid: AllocationGrid, request: SeatRequest) -> Offer | None:
    """Neighbours in one row, leaving a single seat beside them."""
    return _nearest(grid, grid.fitting_rows(request.size).any_by_rank, request, Grade.LEAVES_SINGLES)


def _nearest(grid: AllocationGrid, rows: int, request: SeatRequest, grade: Grade) -> Offer | None:
    best: Cluster | None = None
    least, bonus = float("inf"), grid.max_bonus
    for rank in bits.places(rows & grid.rows_by_rank(request.zones, request.price_category)):
        row_state = grid.by_rank[rank]
        if row_state.min_distance - bonus >= least:
            break
        found = _nearest_start(row_state, request, tidy=grade is Grade.TOGETHER)
        if found is not None and found[0] < least:
            best, least = Cluster(row_state, found[1], request.size), found[0]
    return None if best is None else offer([best], grade)


def _nearest_start(row_state: RowState, request: SeatRequest, *, tidy: bool) -> tuple[float, int] | None:
    """Cost and start of the best place for a group in a row that has room for it; None if the group wants others."""
    size, mask = request.size, eligible(row_state, request)
    if mask == row_state.open:
        return _nearest_of_all(row_state, size)
    starts = bits.starts(mask, size)
    starts = row_state.tidy_starts(size) & starts or (0 if tidy else starts)
    return _cheapest(row_state, starts, size) if starts else None


def _nearest_of_all(row_state: RowState, size: int) -> tuple[float, int]:
    burden = row_state.fill.burden
    kept = row_state.best_by_size.get(size)
    if kept is None or kept[0] != burden:
        starts = row_state.tidy_starts(size) or bits.starts(row_state.open, size)
        kept = row_state.best_by_size[size] = (burden, *_cheapest(row_state, starts, size))
    return kept[1], kept[2]


def _cheapest(row_state: RowState, starts: int, size: int) -> tuple[float, int]:
    burden = row_state.fill.burden
    return min((_cost(row_state, start, size, burden), start) for start in bits.places(starts))


def _cost(row_state: RowState, start: int, size: int, burden: float) -> float:
    cost, restricted = row_state.away(start, size), row_state.row.restricted
    if restricted:
        cost += RESTRICTED_COST * row_state.pitch * (restricted & bits.stretch(start, size)).bit_count()
    if not burden:
        return cost
    left, right = bits.beside(row_state.open, start, size)
    added = fragment_cost(left) + fragment_cost(right) - fragment_cost(left + size + right)
    return cost + row_state.pitch * burden * added


def apart(grid: AllocationGrid, request: SeatRequest) -> Offer | None:
    """The nearest free seats one by one, for a group that need not sit together."""
    taken: list[Cluster] = []
    for _ in range(request.size):
        single = replace(request, size=1)
        found = together(grid, single) or together_anyhow(grid, single)
        if found is None:
            break
        grid.take(found.seats)
        taken += found.clusters
    grid.release(seat for cluster in taken for seat in cluster.seats)
    return offer(taken, Grade.APART) if len(taken) == request.size else None


def _refusal(grid: AllocationGrid, request: SeatRequest, rules: AllocationRules) -> Refusal:
    rows = grid.rows_by_rank(request.zones, request.price_category)
    if not any(eligible(grid.by_rank[rank], request) for rank in bits.places(grid.fitting_rows(1).any_by_rank & rows)):
        where = "here" if request.price_category is None else f"in the price category “{request.price_category}”"
        return Refusal("sold_out", f"There are no free seats left {where}.")
    return Refusal(*_reason_and_message(grid, request, rules, rows))


def _reason_and_message(
    grid: AllocationGrid, request: SeatRequest, rules: AllocationRules, rows: int
) -> tuple[str, str]:
    if grid.fitting_rows(request.size).any_by_rank & rows:
        return (
            "leaves_single_seat",
            f"No suitable seats: any {request.size} together would leave a single seat that is hard to sell. Try a "
            "different number of seats, or choose seats yourself.",
        )
    if rules.group_adjacency_strict:
        return (
            "not_together",
            f"There are no {request.size} seats left together, and this venue does not split groups. Try fewer.",
        )
    return (
        "not_together",
        f"There are no {request.size} seats left together, or in smaller groups within {rules.max_group_split} rows. "
        "Try fewer, or say that you do not mind sitting apart.",
    )
