"""The organiser's limit of people in the checkout of an event at once."""

from __future__ import annotations

from sqlalchemy.orm import Session

from shared.lifecycle import EventStatus
from sync_server.audit.service import AuditLine, record
from sync_server.checkout.models import CheckoutLimitRow
from sync_server.checkout.sessions import queries
from sync_server.events import queries as events
from sync_server.events.permissions import Part
from sync_server.plumbing.event_key import EventKey
from sync_server.plumbing.requests.principals import ActionContext
from sync_server.plumbing.sql import writes


def set_limit(session: Session, event: EventKey, sessions: int, context: ActionContext) -> None:
    """Heeded at once, by every server; who is in the checkout stays there, also where there are more than the limit."""
    found = events.event(session, *event, lock=True)
    context.require(Part.SALE.action(EventStatus(found.status)))
    before = {"sessions": queries.limit_of(session, event, lock=True)}
    row = {"organisation_id": event.organisation_id, "event_id": event.event_id, "sessions": sessions}
    written = writes.insert(session, CheckoutLimitRow).values(row)
    written = written.on_conflict_do_update(index_elements=["organisation_id", "event_id"], set_={"sessions": sessions})
    session.execute(written)
    subject = "event", event.event_id, event.organisation_id
    record(session, AuditLine(context, "checkout_limit.changed", *subject, before, {"sessions": sessions}))
