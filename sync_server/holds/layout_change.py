"""Ends all holds of an event whose layout changes; the caller has already bumped its sale version."""

from __future__ import annotations

from sqlalchemy.orm import Session

from shared.clock import Millis
from sync_server.events import queries as events
from sync_server.holds import ending, inventory, service
from sync_server.holds.models import HoldStatus
from sync_server.outbox.service import Fact, Subject, record_change
from sync_server.plumbing.principals import ActionContext


def count_active(session: Session, organisation_id: str, event_id: str, now: Millis) -> int:
    """How many holds of the event have not run out."""
    return sum(hold.held_until > now for hold in inventory.open_holds(session, organisation_id, event_id))


def end_all(session: Session, organisation_id: str, event_id: str, context: ActionContext, *, reason: str) -> None:
    """End all holds of an event, with one audit line and one fact for all of them."""
    open_holds = inventory.open_holds(session, organisation_id, event_id)
    if not open_holds:
        return
    service.release_all(session, open_holds)
    ending.end_many(session, open_holds, HoldStatus.CANCELLED, context)
    numbers = sorted(hold.seat for hold in open_holds if hold.seat is not None)
    summary = {"seats": numbers, "count": sum(hold.quantity for hold in open_holds), "reason": reason}
    number = events.event(session, organisation_id, event_id).number
    subjects = {"event": event_id, "event_number": number}
    fact = Fact("holds_ended", organisation_id, context.now, subjects, summary)
    record_change(session, context, Subject("event", event_id, None, summary), fact)
