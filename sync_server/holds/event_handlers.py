"""Ends, suspends or moves holds when their event changes, in the same transaction."""

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
from sync_server.holds.models import NEVER, HoldRow, HoldStatus, SaleLockRow
from sync_server.outbox.service import Fact
from sync_server.outbox.service import record as record_fact
from sync_server.plumbing.database import database_of, emit
from sync_server.plumbing.principals import SYSTEM, ActionContext

MIN_REMAINING_MS: Final = 60_000
"""A resumed hold lasts a minute at least, so that its bearer can learn of it."""

Event = tuple[str, str, int]
"""Organisation, id, number."""


def bump_sale_version(session: Session, organisation_id: str, event_id: str) -> None:
    """Wait for holds being written now, and make later ones reload the sale state."""
    dialect = sqlite if database_of(session).embedded else postgresql
    row = {"event_id": event_id, "organisation_id": organisation_id, "version": 1}
    new = dialect.insert(SaleLockRow).values(row)
    session.execute(new.on_conflict_do_update(index_elements=["event_id"], set_={"version": SaleLockRow.version + 1}))


def on_cancelled(session: Session, event: Event, now: Millis) -> None:
    """End all holds of an event that is cancelled or over."""
    organisation_id, event_id, _ = event
    bump_sale_version(session, organisation_id, event_id)
    _end(session, event, inventory.open_holds(session, event_id), now, "the event was cancelled or is over")


def on_back_to_draft(session: Session, event: Event, now: Millis) -> None:
    """Conflict while seats or places are held."""
    organisation_id, event_id, _ = event
    bump_sale_version(session, organisation_id, event_id)
    held = queries.occupancy(session, event_id, now).held
    if held:
        raise Conflict(
            f"{held} seats or places are held. An event goes back to draft only while nothing is sold or held: wait "
            "for the holds to run out, or cancel or postpone the event.",
            code="event_has_holds",
            held=held,
        )


def on_postponed(session: Session, event: Event, now: Millis) -> None:
    """Postponed without a date: suspend holds, which keep their seats."""
    organisation_id, event_id, _ = event
    bump_sale_version(session, organisation_id, event_id)
    open_holds = inventory.open_holds(session, event_id)
    active = [hold for hold in open_holds if hold.status == HoldStatus.ACTIVE.value and hold.held_until > now]
    for hold in active:
        hold.remaining_ms, hold.held_until = hold.held_until - now, NEVER
        hold.status, hold.updated_at = HoldStatus.SUSPENDED.value, now
    _store_ends(session, event_id, active, now)
    _record(session, event, "holds_suspended", now, {"count": len(active)})


def on_dated(session: Session, event: Event, now: Millis) -> None:
    """A date is set again: resume suspended holds with the time they had left."""
    organisation_id, event_id, _ = event
    bump_sale_version(session, organisation_id, event_id)
    suspended = [hold for hold in inventory.open_holds(session, event_id) if hold.status == HoldStatus.SUSPENDED.value]
    for hold in suspended:
        hold.held_until = now + max(hold.remaining_ms or 0, MIN_REMAINING_MS)
        hold.status, hold.remaining_ms, hold.updated_at = HoldStatus.ACTIVE.value, None, now
    _store_ends(session, event_id, suspended, now)
    _record(session, event, "holds_resumed", now, {"count": len(suspended)})


def on_changed(session: Session, event: Event, now: Millis) -> None:
    """The event's times changed: end holds where it is no longer on sale, resume them where it has a new date."""
    organisation_id, event_id, _ = event
    row = events.event(session, organisation_id, event_id)
    status = EventStatus(row.status)
    rescheduled = status is EventStatus.POSTPONED and row.rescheduled_at is not None
    if status not in {EventStatus.PUBLISHED, EventStatus.LIVE} and not rescheduled:
        return

    def on_sale_at(time: Millis) -> bool:
        return sells(status, row.rescheduled_at, row.sale_start_at, row.sale_end_at, time)

    if not on_sale_at(now):
        bump_sale_version(session, organisation_id, event_id)
        # A hold made while the event was on sale, by its new times, may still be bought.
        ended = [hold for hold in inventory.open_holds(session, event_id) if not on_sale_at(hold.created_at)]
        _end(session, event, ended, now, "the sale window has moved")
    if rescheduled:
        on_dated(session, event, now)


def on_guest_removed(session: Session, guest_id: str, now: Millis) -> None:
    """Release all holds of a guest who is removed."""
    context = ActionContext(SYSTEM, now, database_of(session).entropy)
    for hold in queries.of_bearer(session, guest_id, now):
        service.release(session, hold.organisation_id, hold.id, guest_id, context)


def _store_ends(session: Session, event_id: str, holds: Sequence[HoldRow], now: Millis) -> None:
    session.flush()
    for hold in holds:
        if hold.seat is not None:
            seats.extend(session, event_id, hold.seat, hold.id, hold.held_until)
    if holds:
        emit(session, service.HELD, holds, now)


def _end(session: Session, event: Event, open_holds: Sequence[HoldRow], now: Millis, reason: str) -> None:
    service.release_all(session, open_holds)
    ending.end_many(session, open_holds, HoldStatus.CANCELLED, ActionContext(SYSTEM, now, database_of(session).entropy))
    numbers = sorted(hold.seat for hold in open_holds if hold.seat is not None)
    count = sum(hold.quantity for hold in open_holds)
    _record(session, event, "holds_ended", now, {"seats": numbers, "count": count, "reason": reason})


def _record(session: Session, event: Event, name: str, now: Millis, summary: dict[str, Any]) -> None:
    organisation_id, event_id, number = event
    if not summary["count"]:
        return
    record(session, AuditLine(SYSTEM, name, "event", event_id, organisation_id, now, None, summary))
    record_fact(session, Fact(name, organisation_id, now, {"event": event_id, "event_number": number}, summary))
