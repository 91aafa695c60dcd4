"""Notes of staff about orders: lines of the audit log, which nobody changes afterwards."""

from __future__ import annotations

from sqlalchemy.orm import Session

from shared.errors import InvalidRequest
from sync_server.audit.service import AuditLine, record
from sync_server.checkout.orders.locking import lock_order
from sync_server.plumbing.requests.principals import ActionContext

NOTED = "order.noted"


def note(session: Session, organisation_id: str, order_id: str, text: str, context: ActionContext) -> None:
    """Add a note to an order; InvalidRequest for an empty one."""
    if not text:
        raise InvalidRequest("note: write what others should know.", field="note")
    order = lock_order(session, organisation_id, order_id, to_tell=True)
    record(session, AuditLine(context, NOTED, "order", order.id, organisation_id, reason=text))
