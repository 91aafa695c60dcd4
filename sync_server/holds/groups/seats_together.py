"""Holds several seats, or one for several days, with one statement, where nothing stands against it."""

from __future__ import annotations

from collections.abc import Sequence

from shared.ids import uuid7
from sync_server.events.days.chosen_days import ChosenDays
from sync_server.holds import service
from sync_server.holds.attempts.hold_request import HoldRequest, HoldResult
from sync_server.holds.attempts.hold_rows import SeatHold, hold_rows
from sync_server.holds.attempts.retrying import Lost, StaleSaleState
from sync_server.holds.attempts.runtime import HoldRuntime
from sync_server.holds.caches.sale_state import SaleState
from sync_server.plumbing.sql.autocommit import WriteConflict
from sync_server.seating.plans.layout_seats import Seat
from sync_server.seating.search.tidy_patterns import EVERY_PATTERN


def hold(
    runtime: HoldRuntime,
    sale_state: SaleState,
    request: HoldRequest,
    seats: Sequence[Seat],
    days: ChosenDays,
    *,
    others_do: bool = False,
) -> list[HoldResult] | None:
    """Hold all of these seats on these days, after a check of their choice; None where something stands against it.

    Then none is held.

    StaleSaleState where the event has changed since `sale_state` was loaded, Lost where somebody was quicker: also
    with one of the seats, where others would do as well, and nobody needs to be told which.
    """
    holds = _holds(sale_state, request, seats, days)
    limits = service.limits_of(sale_state, request)
    origin = service.address_hash(limits, request)
    rows = [hold_rows(sale_state, request, held, origin) for held in holds]
    values = {**service.values_to_judge(sale_state, request, limits, len(seats)), "tidy": EVERY_PATTERN}
    try:
        read = runtime.run_group_statement(values, [seat.number for seat in seats], days.numbers, rows)
    except WriteConflict:
        raise Lost from None
    if not read.fresh:
        raise StaleSaleState
    if not read.done and others_do and read.is_taken(request.now):
        raise Lost
    if not read.done:
        return None
    runtime.keep_held(sale_state, request, holds)
    return [held.result(sale_state) for held in holds]


def _holds(sale_state: SaleState, request: HoldRequest, seats: Sequence[Seat], days: ChosenDays) -> list[SeatHold]:
    context, until = request.context, service.expires_at(sale_state, request.now)
    group_id = uuid7(context.now, context.entropy) if len(seats) > 1 else None
    return [SeatHold(uuid7(context.now, context.entropy), seat, until, days, group_id) for seat in seats]
