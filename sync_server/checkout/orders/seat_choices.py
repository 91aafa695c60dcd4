"""Refuses ticket types as which the shop does not sell a seat, so that nobody pays another price than was shown."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Protocol

from shared.errors import Conflict
from sync_server.holds.ordering import Held
from sync_server.seating.plans.seat_plan import SeatPlan
from sync_server.tickets.queries import TicketType
from sync_server.tickets.types.seat_types import SoldIn, types_in_shop


class OnSeat(Protocol):
    """What is ordered with a hold: as which ticket types; none lets the seat decide."""

    @property
    def hold_id(self) -> str | None: ...
    @property
    def types(self) -> Mapping[int, int]: ...


def require_sold_as(
    plan: SeatPlan | None,
    chosen: Iterable[OnSeat],
    holds: Mapping[str, Held],
    ticket_types: Mapping[int, TicketType],
    opened: Collection[int],
) -> None:
    """Check the types that were named for the held seats of an order, by the rule by which the pages offered them."""
    if plan is None:
        return
    seats = {hold_id: plan.layout.seat(hold.seat) for hold_id, hold in holds.items() if hold.seat is not None}
    party = {seat.number for seat in seats.values()}
    shown = [row for row in ticket_types.values() if not row.hidden or row.number in opened]
    for each in chosen:
        seat = seats.get(each.hold_id or "")
        if seat is None:
            continue
        where, category = SoldIn.at(plan, seat.zone), plan.price_category(seat, party)
        sold = {row.number for row in types_in_shop(shown, where, category, opened=opened)}
        for number in sorted(each.types.keys() - sold):
            raise Conflict(
                f"The shop does not sell {seat.name} as “{ticket_types[number].name}”. Choose another ticket type.",
                code="ticket_type_not_sold_here",
                ticket_type=number,
                seats=[seat.name],
            )
