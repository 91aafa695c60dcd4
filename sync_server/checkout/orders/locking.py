"""Locks an order as everybody does: its event first, so that nobody deadlocks.

The order of all locks stands in docs/decisions/0105-rehearsed-orders.md.
"""

from __future__ import annotations

from sqlalchemy.orm import Session

from sync_server.checkout import queries
from sync_server.checkout.filing import filed
from sync_server.checkout.models import OrderRow
from sync_server.events import service as events


def lock_order(
    session: Session, organisation_id: str, order_id: str, *, event_id: str = "", to_tell: bool = False
) -> OrderRow:
    """The order, locked after its event until the transaction ends, and no longer filed; NotFound where there is none.

    `event_id` is that of its event, where it is known: it never changes. `to_tell`: nothing of the order changes.
    """
    event_id = event_id or queries.order(session, organisation_id, order_id).event_id
    events.lock_event(session, organisation_id, event_id)
    order = queries.order(session, organisation_id, order_id, lock=True)
    if not to_tell:
        filed.take_out(session, order)
    return order
