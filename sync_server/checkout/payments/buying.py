"""Makes an order and begins to pay it in one transaction; what is paid at once is written once, as it stays."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from sqlalchemy.orm import Session

from sync_server.checkout.orders import drafting, fulfilling, placing, recording
from sync_server.checkout.orders.drafting import Draft
from sync_server.checkout.orders.order_request import OrderRequest
from sync_server.checkout.orders.whole_order import WholeOrder
from sync_server.checkout.payments import choices, paying
from sync_server.checkout.payments.methods import PaymentMethod
from sync_server.checkout.rules import OrderState
from sync_server.checkout.sessions import entering
from sync_server.events import issued_counts
from sync_server.events import queries as events
from sync_server.events.days.chosen_days import dates_of
from sync_server.holds.selling import selling_held
from sync_server.plumbing.requests.principals import ActionContext
from sync_server.plumbing.sealing import Sealer
from sync_server.plumbing.sql import late_writes
from sync_server.plumbing.sql.asked_together import Question, asked_together
from sync_server.queueing import service as queueing
from sync_server.revisions import service as revisions
from sync_server.tickets.issuance import issuing
from sync_server.tickets.keys import signing_keys
from sync_server.tickets.types import type_service

_ONE_DAY: Final = 1


def buy(
    session: Session, sealer: Sealer, request: OrderRequest, method: PaymentMethod, context: ActionContext
) -> WholeOrder:
    """Make an order and begin to pay it, all or nothing: a free one has its tickets at once."""
    draft = drafting.draft(session, sealer, request, context)
    event = events.event(session, *draft.event.key)
    started = method.start(draft.order, choices.terms_of(session, draft.order, event, context.now))
    if not started.paid or len(dates_of(event)) > _ONE_DAY:
        return paying.start_placed(session, placing.keep(session, draft, context), method, context)
    return _sold(session, draft, method, context)


def _sold(session: Session, draft: Draft, method: PaymentMethod, context: ActionContext) -> WholeOrder:
    """Its holds are sold without having belonged to an order that waits, and nothing is reserved on the way."""
    order, lines, number = draft.order, draft.lines, draft.event.number
    ids, last = _ticket_ids(draft, context), (revisions.asks_head(draft.event.key),)
    with asked_together(
        session, *_counting(draft, context), *_selling(session, draft, ids, context), until_commit=last
    ):
        placing.give_number(session, draft)
        late_writes.begin(session)
        recording.record_order(session, order, number, "order_created", context, admissions=len(lines))
        issued = fulfilling.issue_at_once(session, order, lines, draft.planned, draft.holds, context, ids)
    order.state, order.method, order.paid_at = OrderState.PAID.value, method.name, context.now
    balance = placing.write(session, draft, context)
    if draft.entered is not None:
        entering.pass_through(session, draft.entered, context.now)
    if draft.queued:
        queueing.spend(session, order.organisation_id, order.event_id, order.bearer_id, context.now)
    recording.record_order(session, order, number, "order_paid", context, admissions=len(lines), method=method.name)
    return WholeOrder(order, lines, balance, {ticket.id: ticket for ticket in issued})


def _counting(draft: Draft, context: ActionContext) -> Iterable[Question]:
    """What numbers and counts it, where all its tickets are issued together: of one type, and all on seats or none."""
    yield placing.asks_number(draft.event.key)
    yield signing_keys.asks_signing_key_id(draft.event.organisation_id, context.now)
    if _issued_together(draft):
        (ticket_type,), count = draft.types.values(), len(draft.lines)
        yield issued_counts.asks_ticket_numbers(draft.event.key, count)
        yield type_service.asks_quantity(ticket_type, count)


def _issued_together(draft: Draft) -> bool:
    return len(draft.types) == 1 and len({bool(line.seat_name) or line.hold_id for line in draft.lines}) == 1


def _ticket_ids(draft: Draft, context: ActionContext) -> Mapping[int, int]:
    """The ids of the tickets by seat, where all of them are held seats that are sold together."""
    seats = [hold.seat for hold in draft.holds if hold.seat is not None]
    alone = _issued_together(draft) and len(seats) == len(draft.holds) == len(draft.lines)
    return {seat: issuing.ticket_id(context.entropy) for seat in seats} if alone else {}


def _selling(session: Session, draft: Draft, ids: Mapping[int, int], context: ActionContext) -> Iterable[Question]:
    """What sells the seats, or the places of one hold."""
    if ids:
        held = sorted(draft.holds, key=lambda hold: hold.id)
        yield from selling_held.asks_to_sell_held(session, draft.event.key, ids, held, context, draft.order.id)
    elif _issued_together(draft) and len(draft.holds) == 1:
        (hold,) = draft.holds
        yield from selling_held.asks_to_sell_places(session, draft.event.key, hold, context, draft.order.id)
