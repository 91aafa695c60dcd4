"""What becomes of holds when something becomes of their event: all of it in the transaction in which that happens."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from shared.clock import Millis
from shared.errors import Conflict
from shared.lifecycle import EventStatus, sells
from sync_server.audit.service import AuditLine, record
from sync_server.events import queries as events
from sync_server.holds import ending, inventory, queries, seats, service
from sync_server.holds.models import NEVER, DeskRow, HoldRow, HoldStatus
from sync_server.outbox.service import Fact
from sync_server.outbox.service import record as record_fact
from sync_server.plumbing.database import announce, of
from sync_server.plumbing.principals import SYSTEM, Deed

AT_LEAST_MS: Final = 60_000
"""A hold that goes on is good for a minute at least: its bearer must hear of it first."""

Event = tuple[str, str, int]
"""Organisation, id, number."""


def turn_desk(session: Session, organisation_id: str, event_id: str) -> None:
    """Wait for those who hold at this moment, and let those who come later find that something has changed."""
    dialect = sqlite if of(session).embedded else postgresql
    row = {"event_id": event_id, "organisation_id": organisation_id, "turn": 1}
    new = dialect.insert(DeskRow).values(row)
    session.execute(new.on_conflict_do_update(index_elements=["event_id"], set_={"turn": DeskRow.turn + 1}))


def called_off(session: Session, event: Event, now: Millis) -> None:
    """Cancelled or over: nobody holds anything any more."""
    organisation_id, event_id, _ = event
    turn_desk(session, organisation_id, event_id)
    _end(session, event, inventory.living_holds(session, event_id), now, "the event was cancelled or is over")


def back_to_draft(session: Session, event: Event, now: Millis) -> None:
    """Conflict while somebody holds a seat."""
    organisation_id, event_id, _ = event
    turn_desk(session, organisation_id, event_id)
    held = queries.occupancy(session, event_id, now).held
    if held:
        raise Conflict(
            f"{held} seats or places are held at this moment: an event goes back to draft only while nothing is sold "
            "or held. Wait until the holds are over, or cancel or postpone the event.",
            code="event_has_holds",
            held=held,
        )


def postponed(session: Session, event: Event, now: Millis) -> None:
    """Without a date: holds keep their seats, and their time stands still."""
    organisation_id, event_id, _ = event
    turn_desk(session, organisation_id, event_id)
    living = [hold for hold in inventory.living_holds(session, event_id) if hold.status == HoldStatus.ACTIVE.value]
    going_on = [hold for hold in living if hold.held_until > now]
    for hold in going_on:
        hold.remaining_ms, hold.held_until = hold.held_until - now, NEVER
        hold.status, hold.updated_at = HoldStatus.SUSPENDED.value, now
    _move_ends(session, event_id, going_on, now)
    _tell(session, event, "holds_suspended", now, {"count": len(going_on)})


def dated(session: Session, event: Event, now: Millis) -> None:
    """A new date, or the old one after all: the time of holds goes on where it stood still."""
    organisation_id, event_id, _ = event
    turn_desk(session, organisation_id, event_id)
    stood = [hold for hold in inventory.living_holds(session, event_id) if hold.status == HoldStatus.SUSPENDED.value]
    for hold in stood:
        hold.held_until = now + max(hold.remaining_ms or 0, AT_LEAST_MS)
        hold.status, hold.remaining_ms, hold.updated_at = HoldStatus.ACTIVE.value, None, now
    _move_ends(session, event_id, stood, now)
    _tell(session, event, "holds_resumed", now, {"count": len(stood)})


def changed(session: Session, event: Event, now: Millis) -> None:
    """Other times: where it sells no more, because its sale window moved away, holds end; with a date, time goes on."""
    organisation_id, event_id, _ = event
    row = events.event(session, organisation_id, event_id)
    status = EventStatus(row.status)
    dated_anew = status is EventStatus.POSTPONED and row.rescheduled_at is not None
    if status not in {EventStatus.PUBLISHED, EventStatus.LIVE} and not dated_anew:
        return

    def sold_at(then: Millis) -> bool:
        return sells(status, row.rescheduled_at, row.sale_start_at, row.sale_end_at, then)

    if not sold_at(now):
        turn_desk(session, organisation_id, event_id)
        # Whoever took a seat while it was sold may still buy it: it is not for him that the window has moved.
        moved = [hold for hold in inventory.living_holds(session, event_id) if not sold_at(hold.created_at)]
        _end(session, event, moved, now, "the sale window has moved away")
    if dated_anew:
        dated(session, event, now)


def left(session: Session, guest_id: str, now: Millis) -> None:
    """A guest goes, and gives up everything."""
    deed = Deed(SYSTEM, now, of(session).entropy)
    for hold in queries.of_bearer(session, guest_id, now):
        service.release(session, hold.organisation_id, hold.id, guest_id, deed)


def _move_ends(session: Session, event_id: str, holds: Sequence[HoldRow], now: Millis) -> None:
    session.flush()
    for hold in holds:
        if hold.seat is not None:
            seats.extend(session, event_id, hold.seat, hold.id, hold.held_until)
    if holds:
        announce(session, service.HELD, holds, now)


def _end(session: Session, event: Event, living: Sequence[HoldRow], now: Millis, reason: str) -> None:
    service.let_go(session, living)
    ending.end_many(session, living, HoldStatus.CANCELLED, Deed(SYSTEM, now, of(session).entropy))
    numbers = sorted(hold.seat for hold in living if hold.seat is not None)
    count = sum(hold.quantity for hold in living)
    _tell(session, event, "holds_ended", now, {"seats": numbers, "count": count, "reason": reason})


def _tell(session: Session, event: Event, name: str, now: Millis, told: dict[str, Any]) -> None:
    organisation_id, event_id, number = event
    if not told["count"]:
        return
    record(session, AuditLine(SYSTEM, name, "event", event_id, organisation_id, now, None, told))
    record_fact(session, Fact(name, organisation_id, now, {"event": event_id, "event_number": number}, told))
