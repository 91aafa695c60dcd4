"""Which free seats a search may offer: those that the guest wishes, and what is best kept for others as the last."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from sync_server.seating.search.allocation_grid import AllocationGrid, RowState
from sync_server.seating.search.offers import SeatRequest


def in_turn(grid: AllocationGrid, request: SeatRequest) -> Iterator[SeatRequest]:
    """The request for ever more seats: without whole blocks and restricted views, with blocks, and with all."""
    spared, restricted = grid.spares_seats, grid.has_restricted_views
    if spared:
        yield replace(request, full_view=restricted, spares_blocks=True)
    if restricted:
        yield replace(request, full_view=True)
    yield request


def eligible(row_state: RowState, request: SeatRequest) -> int:
    """The free seats of a row that may be offered, as bits."""
    mask = row_state.open
    if request.full_view:
        mask &= ~row_state.row.restricted
    if request.spares_blocks:
        mask &= ~row_state.spared
    if request.price_category is not None:
        mask &= row_state.row.prices.get(request.price_category, 0)
    return mask
