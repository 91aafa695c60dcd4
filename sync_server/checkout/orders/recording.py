"""Records what happens to orders: an audit line and a fact, without anything about the buyer."""

from __future__ import annotations

from sqlalchemy.orm import Session

from sync_server.checkout.models import OrderRow
from sync_server.checkout.sessions.counters import count_order
from sync_server.outbox.service import Fact, Subject, record_change
from sync_server.plumbing.requests.principals import ActionContext


def record_order(
    session: Session,
    order: OrderRow,
    event_number: int,
    name: str,
    context: ActionContext,
    *,
    reason: str = "",
    **payload: object,
) -> None:
    """Record a change of an order; the payload says its state and, beside that, what is particular to the change."""
    about = {"state": order.state, "channel": order.channel, "total_cents": order.total_cents}
    after = {**about, "currency": order.currency, **payload}
    subjects = {"order": order.id, "event": order.event_id, "event_number": event_number}
    fact = Fact(name, order.organisation_id, context.now, subjects, after)
    record_change(session, context, Subject("order", order.id, None, after, reason), fact)
    count_order(session, name)
