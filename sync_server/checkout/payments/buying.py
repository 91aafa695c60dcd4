"""Makes an order and begins to pay it in one transaction; what is paid at once is written once, as it stays."""

from __future__ import annotations

from typing import Final

from sqlalchemy.orm import Session

from sync_server.checkout.orders import drafting, fulfilling, placing, recording
from sync_server.checkout.orders.drafting import Draft, OrderRequest
from sync_server.checkout.orders.whole_order import WholeOrder
from sync_server.checkout.payments import choices, paying
from sync_server.checkout.payments.methods import PaymentMethod
from sync_server.checkout.rules import OrderState
from sync_server.checkout.sessions import entering
from sync_server.events import queries as events
from sync_server.events.chosen_days import dates_of
from sync_server.plumbing.principals import ActionContext
from sync_server.plumbing.sealing import Sealer
from sync_server.queueing import service as queueing

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
    recording.record_order(session, order, number, "order_created", context, admissions=len(lines))
    issued = fulfilling.issue_at_once(session, order, lines, draft.buyers, draft.holds, context)
    order.state, order.method, order.paid_at = OrderState.PAID.value, method.name, context.now
    balance = placing.write(session, draft, context)
    if draft.entered is not None:
        entering.pass_through(session, draft.entered, context.now)
    if draft.queued:
        queueing.spend(session, order.organisation_id, order.event_id, order.bearer_id, context.now)
    recording.record_order(session, order, number, "order_paid", context, admissions=len(lines), method=method.name)
    return WholeOrder(order, lines, balance, {ticket.id: ticket for ticket in issued})
