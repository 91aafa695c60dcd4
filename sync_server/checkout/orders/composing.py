"""Composes orders from holds: one line for each admission, priced, and judged by what the shop sells."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy.orm import Session

from shared.clock import Millis
from shared.errors import Conflict, InvalidRequest
from shared.ids import uuid7
from sync_server.checkout import rules
from sync_server.checkout.codes import spending
from sync_server.checkout.codes.spending import Redeemed
from sync_server.checkout.models import OrderLineRow, OrderRow
from sync_server.checkout.money import amounts as money
from sync_server.checkout.orders import seat_choices
from sync_server.checkout.orders.order_request import Chosen, OrderRequest
from sync_server.checkout.orders.parcels import Admission, Buyers, PlannedParcel
from sync_server.checkout.rules import LineState, OrderState
from sync_server.events.days.chosen_days import EVERY_DAY
from sync_server.events.queries import EventHead
from sync_server.holds import ordering
from sync_server.holds.ordering import Held
from sync_server.plumbing.requests.principals import ActionContext
from sync_server.plumbing.sql.known_rows import new_row
from sync_server.seating.plans.seat_plan import SeatPlan
from sync_server.seating.plans.seat_plans import find_event_plan
from sync_server.tickets import queries as tickets
from sync_server.tickets.issuance import issuing
from sync_server.tickets.issuance.issue_request import TicketDraft
from sync_server.tickets.queries import TicketType


@dataclass(frozen=True, slots=True)
class _Wish:
    """One admission, before its ticket type is known for certain."""

    ticket_type: int
    seat_name: str
    holder_name: str
    hold_id: str | None
    membership_id: str
    valid_days: int = EVERY_DAY


_Types = Mapping[int, TicketType]
"""The ticket types of the event by number: read once, and in the session's memory while this mapping lives."""


@dataclass(frozen=True, slots=True)
class Composed:
    """An order as it would be written: without its number, and without the end of its time."""

    order: OrderRow
    lines: Sequence[OrderLineRow]
    types: Mapping[int, TicketType]  # of the event
    planned: Sequence[PlannedParcel]


def compose(  # noqa: PLR0917 - a request, for whom, and what it takes over
    session: Session,
    event: EventHead,
    request: OrderRequest,
    buyers: Buyers,
    holds: Sequence[Held],
    context: ActionContext,
    *,
    redeemed: Redeemed,
    early: bool,
) -> Composed:
    """The order of these holds; the refusals of everything that is in it."""
    types = {row.number: row for row in tickets.types_of_locked(session, event.organisation_id, event.id)}
    by_id = {hold.id: hold for hold in holds}
    wishes = list(_wishes(session, event, request, context, types=types, holds=by_id))
    if not 1 <= len(wishes) <= rules.MAX_ADMISSIONS:
        raise InvalidRequest(f"An order can have 1 to {rules.MAX_ADMISSIONS} admissions.", field="holds")
    parcels = planned(session, event, wishes, buyers, holds, context)
    lines = list(_lines(wishes, parcels))
    spending.take_off(redeemed, lines)
    if early:
        rules.require_opened_early({line.ticket_type for line in lines}, types, redeemed.opened_early)
    _check_types(session, event, request, lines, types=types, holds=by_id, now=context.now, opened=redeemed.opened)
    order = _order(event, request, lines, currency=types[lines[0].ticket_type].currency, context=context)
    return Composed(order, lines, types, parcels)


def planned(  # noqa: PLR0917 - admissions, for whom, and what they take over
    session: Session,
    event: EventHead,
    admissions: Sequence[Admission],
    buyers: Buyers,
    holds: Sequence[Held],
    context: ActionContext,
) -> list[PlannedParcel]:
    """What issuing would make of these admissions; its refusals."""
    parcels = buyers.parcels(admissions, holds)
    return [PlannedParcel(each, issuing.plan(session, event, each.request, context)) for each in parcels]


def _wishes(
    session: Session,
    event: EventHead,
    request: OrderRequest,
    context: ActionContext,
    *,
    types: _Types,
    holds: Mapping[str, Held],
) -> Iterable[_Wish]:
    """One wish for each admission; holds of places are split so that each has one ticket type."""
    plan = find_event_plan(session, event.organisation_id, event.id)
    for chosen in request.chosen:
        if chosen.hold_id is None:
            yield from _unheld(chosen, plan)
            continue
        hold = holds[chosen.hold_id]
        if hold.seat is not None:
            yield _held_seat(hold, chosen, plan)
            continue
        counts = chosen.types or {_only_type(types, hold, plan): hold.quantity}
        if sum(counts.values()) != hold.quantity:
            raise InvalidRequest(
                f"This hold has {hold.quantity} places: name a ticket type for each.",
                field="holds",
                code="places_differ",
            )
        for number, count in sorted(counts.items()):
            _require_sold_in_zone(types, number, hold, plan)
            part = hold if hold.quantity == count else ordering.split(session, hold, count, context)
            for _ in range(count):
                yield _Wish(number, "", chosen.holder_name, part.id, part.membership_id or "", part.days)


def _unheld(chosen: Chosen, plan: SeatPlan | None) -> Iterable[_Wish]:
    seat = plan.layout.find(chosen.seat_name) if plan is not None and chosen.seat_name else None
    name = chosen.seat_name if plan is None or seat is None else plan.layout.name(seat)
    for number, count in chosen.types.items() or ((0, 1),):
        for _ in range(count):
            yield _Wish(number, name, chosen.holder_name, None, "")


def _held_seat(hold: Held, chosen: Chosen, plan: SeatPlan | None) -> _Wish:
    if plan is None or hold.seat is None or not plan.layout.has(hold.seat):
        raise Conflict("The event no longer has this seat. Choose another.", code="hold_expired", holds=[hold.id])
    if sum(chosen.types.values()) > 1:
        raise InvalidRequest("A seat takes one ticket type.", field="holds", code="places_differ")
    number = next(iter(chosen.types), 0)
    return _Wish(number, plan.layout.name(hold.seat), chosen.holder_name, hold.id, hold.membership_id or "", hold.days)


def _only_type(ticket_types: _Types, hold: Held, plan: SeatPlan | None) -> int:
    """The one ticket type that is sold for these places; InvalidRequest where there are several, or none."""
    sold = [row.number for row in ticket_types.values() if not row.hidden and _is_sold_in_zone(row, hold, plan)]
    if len(sold) != 1:
        several = "several ticket types are" if sold else "no ticket type is"
        raise InvalidRequest(
            f"For these places {several} on sale. Name the ticket_type.",
            field="ticket_type",
            code="ticket_type_required",
        )
    return sold[0]


def _is_sold_in_zone(row: TicketType, hold: Held, plan: SeatPlan | None) -> bool:
    """Whether the type counts the places that the hold has: those of its own zone, or of an event without a layout."""
    return plan is None or row.zone == plan.event_zones[hold.zone]


def _require_sold_in_zone(ticket_types: _Types, number: int, hold: Held, plan: SeatPlan | None) -> None:
    row = ticket_types.get(number)
    if row is None:
        raise tickets.no_such_type(number)
    if not _is_sold_in_zone(row, hold, plan):
        raise Conflict(
            f"“{row.name}” is not sold for these places. Choose another ticket type.",
            code="ticket_type_not_sold_here",
            ticket_type=number,
            holds=[hold.id],
        )


def _lines(wishes: Sequence[_Wish], planned: Iterable[PlannedParcel]) -> Iterable[OrderLineRow]:
    """A line for each admission, priced, as issuing would make its ticket."""
    for parcel, batches in planned:
        drafts = [(batch.ticket_type, draft) for batch in batches for draft in batch.drafts]
        by_seat = {draft.printed.seat_id: (row, draft) for row, draft in drafts if draft.printed is not None}
        for place, index in enumerate(parcel.indexes):
            wish = wishes[index]
            yield _line(wish, *(by_seat[wish.seat_name] if wish.seat_name else drafts[place]))


def _line(wish: _Wish, row: TicketType, draft: TicketDraft) -> OrderLineRow:
    printed = draft.printed
    costs = row.price_cents + row.fee_cents
    values: dict[str, Any] = {
        "ticket_type": row.number,
        "ticket_type_name": row.name,
        "zone": draft.zone,
        "seat": draft.seat,
        "seat_name": printed.seat_id if printed else "",
        "seat_label": printed.label if printed else "",
        "holder_name": wish.holder_name,
        "unit_cents": row.price_cents,
        "discount_cents": 0,
        "fee_cents": row.fee_cents,
        "tax_rate": row.tax_rate,
        "tax_cents": money.tax_included(costs, row.tax_rate),
        "valid_days": draft.days.bits,
        "state": LineState.ORDERED.value,
        "hold_id": wish.hold_id,
        "membership_id": wish.membership_id,
        "ticket_id": None,
        "passed_on": False,
    }
    return new_row(OrderLineRow, values)


def _check_types(
    session: Session,
    event: EventHead,
    request: OrderRequest,
    lines: Sequence[OrderLineRow],
    *,
    types: _Types,
    holds: Mapping[str, Held],
    now: Millis,
    opened: Collection[int],
) -> None:
    """Check what the shop sells of these types."""
    wanted = Counter(line.ticket_type for line in lines)
    rows = {number: types[number] for number in sorted(wanted)}
    if request.in_shop:
        rules.require_sold_in_shop(wanted, rows, opened, now)
        plan = find_event_plan(session, event.organisation_id, event.id)
        seat_choices.require_sold_as(plan, request.chosen, holds, types, opened)
    rules.require_one_currency(row.currency for row in rows.values())


def _order(
    event: EventHead,
    request: OrderRequest,
    lines: Sequence[OrderLineRow],
    *,
    currency: str,
    context: ActionContext,
) -> OrderRow:
    amounts, buyer = money.amounts_of(lines), request.buyer
    values: dict[str, Any] = {
        "organisation_id": event.organisation_id,
        "id": uuid7(context.now, context.entropy),
        "event_id": event.id,
        "channel": request.channel.value,
        "bearer_kind": request.bearer_kind,
        "bearer_id": request.bearer_id,
        "buyer_name": buyer.name,
        "buyer_email": buyer.email,
        "buyer_locale": buyer.locale,
        "admissions": len(lines),
        "currency": currency,
        "subtotal_cents": amounts.subtotal,
        "discount_cents": amounts.discount,
        "fees_cents": amounts.fees,
        "tax_cents": amounts.tax,
        "total_cents": amounts.total,
        "state": OrderState.PENDING.value,
        "method": "",
        "access": request.access.stored(),
        "remaining_ms": None,
        "due_at": None,
        "reason": "",
        "dispute": "",
        "filed": False,
        "paid_at": None,
        "created_at": context.now,
        "updated_at": context.now,
    }
    order = new_row(OrderRow, values)
    for position, line in enumerate(lines, start=1):
        line.organisation_id, line.order_id, line.position = order.organisation_id, order.id, position
    return order
