"""Ends all holds of an event whose house is laid out anew; its desk was taken when that was announced."""

from __future__ import annotations

from sqlalchemy.orm import Session

from shared.clock import Millis
from sync_server.audit.service import AuditLine, record
from sync_server.events import queries as events
from sync_server.holds import ending, inventory, service
from sync_server.holds.models import HoldStatus
from sync_server.outbox.service import Fact
from sync_server.outbox.service import record as record_fact
from sync_server.plumbing.principals import Deed


def going_on(session: Session, event_id: str, now: Millis) -> int:
    """How many holds are not over."""
    return sum(hold.held_until > now for hold in inventory.living_holds(session, event_id))


def end_all(session: Session, organisation_id: str, event_id: str, deed: Deed, *, reason: str) -> None:
    """End all holds of an event, and tell of them together."""
    living = inventory.living_holds(session, event_id)
    if not living:
        return
    service.let_go(session, living)
    ending.end_many(session, living, HoldStatus.CANCELLED, deed)
    numbers = sorted(hold.seat for hold in living if hold.seat is not None)
    told = {"seats": numbers, "count": sum(hold.quantity for hold in living), "reason": reason}
    where, now = organisation_id, deed.now
    record(session, AuditLine(deed.actor, "holds_ended", "event", event_id, where, now, None, told))
    number = events.event(session, organisation_id, event_id).number
    record_fact(session, Fact("holds_ended", where, now, {"event": event_id, "event_number": number}, told))
