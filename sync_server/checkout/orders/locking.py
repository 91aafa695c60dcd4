"""Locks an order as everybody does: its event first, so that nobody deadlocks."""

from __future__ import annotations

from sqlalchemy.orm import Session

from sync_server.checkout import queries
from sync_server.checkout.models import OrderRow
from sync_server.events import service as events


def lock_order(session: Session, organisation_id: str, order_id: str, *, known: OrderRow | None = None) -> OrderRow:
    """The order, locked after its event until the transaction ends; NotFound where there is none.

    `known` is the order, where it was read already: the event of an order never changes.
    """
    order = queries.order(session, organisation_id, order_id) if known is None else known
    events.lock_event(session, organisation_id, order.event_id)
    return queries.order(session, organisation_id, order_id, lock=True)
