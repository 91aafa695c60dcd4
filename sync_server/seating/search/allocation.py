"""Finds the best seats left for a group: together, leaving no single seat, and as near the stage as possible."""

from __future__ import annotations

from collections.abc import Iterator

from sync_server.seating.search import bits
from sync_server.seating.search.allocation_grid import AllocationGrid, RowState, fragment_cost
from sync_server.seating.search.clusters import split_into_clusters
from sync_server.seating.search.offers import AllocationRules, Cluster, Grade, Offer, Refusal, SeatRequest, offer


def best_available(grid: AllocationGrid, request: SeatRequest, rules: AllocationRules) -> Offer | Refusal:
    """The best seats that the rules allow for this request, or why there are none."""
    for found in _candidates(grid, request, rules):
        if found is not None:
            return found
    return _refusal(grid, request, rules)


def _candidates(grid: AllocationGrid, request: SeatRequest, rules: AllocationRules) -> Iterator[Offer | None]:
    yield together(grid, request)
    yield in_a_nearly_sold_row(grid, request)
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
    rows = grid.fitting_rows(request.size).tidy_by_rank & grid.zones_by_rank(request.zones)
    return _nearest(grid, rows, request.size, Grade.TOGETHER)


def in_a_nearly_sold_row(grid: AllocationGrid, request: SeatRequest) -> Offer | None:
    """Neighbours in a nearly sold row, where a single seat may be left."""
    rows = grid.fitting_rows(request.size).any_by_rank & grid.nearly_sold_by_rank & grid.zones_by_rank(request.zones)
    return _nearest(grid, rows, request.size, Grade.NEARLY_SOLD_ROW)


def together_anyhow(grid: AllocationGrid, request: SeatRequest) -> Offer | None:
    """Neighbours in one row, leaving a single seat beside them."""
    rows = grid.fitting_rows(request.size).any_by_rank & grid.zones_by_rank(request.zones)
    return _nearest(grid, rows, request.size, Grade.LEAVES_SINGLES)


def _nearest(grid: AllocationGrid, rows: int, size: int, grade: Grade) -> Offer | None:
    best: Cluster | None = None
    least = float("inf")
    for rank in bits.places(rows):
        row_state = grid.by_rank[rank]
        if row_state.min_distance - grid.max_bonus >= least:
            break
        cost, start = nearest_start(row_state, size)
        if cost < least:
            best, least = Cluster(row_state, start, size), cost
    return None if best is None else offer([best], grade)


def nearest_start(row_state: RowState, size: int) -> tuple[float, int]:
    """Cost and start of the best place for `size` neighbours in a row that has room for them."""
    best = row_state.best_by_size.get(size)
    if best is None:
        found = bits.tidy_starts(row_state.open, size) or bits.starts(row_state.open, size)
        best = min((_cost(row_state, start, size), start) for start in bits.places(found))
        row_state.best_by_size[size] = best
    return best


def _cost(row_state: RowState, start: int, size: int) -> float:
    left, right = bits.beside(row_state.open, start, size)
    added = fragment_cost(left) + fragment_cost(right) - fragment_cost(left + size + right)
    return row_state.away(start, size) + row_state.pitch * added


def apart(grid: AllocationGrid, request: SeatRequest) -> Offer | None:
    """The nearest free seats one by one, for a group that need not sit together."""
    taken: list[Cluster] = []
    for _ in range(request.size):
        single = SeatRequest(1, request.zones)
        found = together(grid, single) or together_anyhow(grid, single)
        if found is None:
            break
        grid.take(found.seats)
        taken += found.clusters
    grid.release(seat for cluster in taken for seat in cluster.seats)
    return offer(taken, Grade.APART) if len(taken) == request.size else None


def _refusal(grid: AllocationGrid, request: SeatRequest, rules: AllocationRules) -> Refusal:
    rows = grid.zones_by_rank(request.zones)
    if not grid.fitting_rows(1).any_by_rank & rows:
        return Refusal("sold_out", "There are no free seats left here.")
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
