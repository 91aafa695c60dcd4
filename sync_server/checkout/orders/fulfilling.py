"""Turns an order into tickets: its holds are sold, and its tickets issued, in the transaction of the payment."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from sqlalchemy.orm import Session

from shared.errors import Conflict, GatehouseError
from sync_server.checkout import queries
from sync_server.checkout.models import OrderLineRow, OrderRow
from sync_server.checkout.orders.parcels import Access, Buyers, Parcel, PlannedParcel
from sync_server.checkout.rules import LineState
from sync_server.events import queries as events
from sync_server.events.days.chosen_days import ChosenDays, dates_of
from sync_server.holds import ordering
from sync_server.holds.ordering import Held
from sync_server.plumbing.requests.principals import ActionContext
from sync_server.plumbing.sealing import Sealer
from sync_server.tickets.issuance import issuing
from sync_server.tickets.issuance.issue_request import TicketBatch
from sync_server.tickets.queries import Ticket
from sync_server.tickets.types import type_service


class SeatsGone(Conflict):
    """An order was paid too late: some of its seats or places are not free any more."""

    code = "paid_too_late"

    def __init__(self, refusal: GatehouseError) -> None:
        """`refusal` is why its tickets cannot be issued."""
        super().__init__(
            f"The order has expired and can no longer be sold as it was: {refusal.message}", **refusal.details
        )


def buyers_of(
    session: Session, sealer: Sealer, organisation_id: str, order_id: str, context: ActionContext
) -> tuple[Buyers, str]:
    """For whom the tickets of an order are, and its event; or NotFound.

    Call it before the event is locked, because it locks memberships. None of this ever changes.
    """
    found = queries.for_whom(session, organisation_id, order_id)
    where = session, organisation_id, sealer, context.now, Access(**found.access)
    signed_in = found.bearer_kind != "guest"
    return Buyers.resolve(*where, memberships=found.memberships, signed_in=signed_in), found.event_id


def issue_tickets(
    session: Session,
    order: OrderRow,
    lines: Sequence[OrderLineRow],
    buyers: Buyers,
    context: ActionContext,
    *,
    unpaid: bool = False,
) -> list[Ticket]:
    """Issue the tickets of an order, which is locked together with its event; its lines were read since.

    Seats and places that the order does not hold any more are taken if they are free; the refusals of issuing.
    """
    held = ordering.of_order(session, order.event, order.id, context.now)
    dates = dates_of(events.event(session, *order.event))
    reserved = len(dates) == 1 and all(line.state == LineState.ORDERED.value for line in lines)
    if not reserved:
        end_reservations(session, order, lines)
    parcels = ((parcel, None) for parcel in buyers.parcels(lines, held, dates))
    return _issue(session, order, lines, parcels, context, unpaid=unpaid, reserved=reserved)


def issue_at_once(  # noqa: PLR0917 - an order, and what it takes over
    session: Session,
    order: OrderRow,
    lines: Sequence[OrderLineRow],
    planned: Iterable[PlannedParcel],
    holds: Iterable[Held],
    context: ActionContext,
    ids: Mapping[int, int],
) -> list[Ticket]:
    """Issue the planned tickets of an order that is not written yet, from holds of which nothing is written either.

    Its event is locked; `ids` are those of tickets by their seats, where they were drawn already.
    Conflict `hold_expired` where a hold has ended, or another order has got it, since it was read.
    """
    for hold in holds:
        if ordering.is_of_whole_event(hold):  # locked; the others get their order as they are sold
            hold.order_id = order.id
    return _issue(session, order, lines, planned, context, for_order=order.id, ids=ids)


def _issue(
    session: Session,
    order: OrderRow,
    lines: Sequence[OrderLineRow],
    parcels: Iterable[tuple[Parcel, Sequence[TicketBatch] | None]],
    context: ActionContext,
    **how: Any,
) -> list[Ticket]:
    issued = list[Ticket]()
    for parcel, batches in parcels:
        theirs = [lines[index] for index in parcel.indexes]
        request = replace(parcel.request, group_id=order.id, prices=_prices(theirs), **how)
        new = issuing.issue(session, order.organisation_id, order.event_id, request, context, batches=batches)
        _assign(theirs, new)
        issued += new
    return issued


def _prices(lines: Sequence[OrderLineRow]) -> Mapping[int, Sequence[int]]:
    """What was agreed for the tickets of each type, whatever they cost now."""
    prices: dict[int, list[int]] = {}
    for line in lines:
        prices.setdefault(line.ticket_type, []).append(line.unit_cents - line.discount_cents)
    return prices


def _assign(lines: Sequence[OrderLineRow], issued: Sequence[Ticket]) -> None:
    by_seat = {row.seat_id: row for row in issued if row.seat}
    for index, line in enumerate(lines):
        row = by_seat[line.seat_name] if line.seat_name else issued[index]
        line.ticket_id, line.seat, line.state = row.id, row.seat, LineState.ISSUED.value


def end_reservations(session: Session, order: OrderRow, lines: Sequence[OrderLineRow]) -> None:
    """Give back the numbers of the ticket types that an order has reserved."""
    dates = dates_of(events.event(session, *order.event))
    reserved: dict[int, list[ChosenDays]] = {}
    for line in lines:
        if line.state == LineState.ORDERED.value:
            reserved.setdefault(line.ticket_type, []).append(ChosenDays(dates, line.valid_days))
    for number, days in sorted(reserved.items()):
        type_service.end_reservation(session, order.event, number, days)
