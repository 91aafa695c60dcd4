"""Leaves the checkout: the slot is free, and what was ordered in it and not paid ends."""

from __future__ import annotations

from sqlalchemy import select
from sqlalchemy.orm import Session

from sync_server.checkout.models import OrderRow
from sync_server.checkout.orders import ending
from sync_server.checkout.orders.locking import lock_order
from sync_server.checkout.rules import OrderState
from sync_server.checkout.sessions import entering
from sync_server.checkout.sessions.queries import Visit
from sync_server.checkout.sessions.rules import SessionState
from sync_server.plumbing.requests.principals import ActionContext


def leave(session: Session, visit: Visit, context: ActionContext) -> None:
    """Give up the session and the unpaid orders of this guest at the event; invoices wait on. Twice changes nothing."""
    mine = visit.event.of(OrderRow), OrderRow.bearer_id == visit.bearer_id
    unpaid = OrderRow.state == OrderState.PENDING.value, OrderRow.due_at.is_(None)
    for order_id in session.execute(select(OrderRow.id).where(*mine, *unpaid).order_by(OrderRow.id)).scalars().all():
        order = lock_order(session, visit.event.organisation_id, order_id)
        if order.state == OrderState.PENDING.value and order.due_at is None:
            ending.end(session, order, OrderState.CANCELLED, context, reason="the buyer left the checkout")
    entering.close(session, visit, SessionState.LEFT, context.now)
