"""Ends, suspends or moves holds when their event changes, in the same transaction."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from shared.clock import Millis
from shared.errors import Conflict
from shared.lifecycle import EventStatus, sells
from sync_server.customers.signals import GuestRemoved
from sync_server.events import queries as events
from sync_server.events.days.chosen_days import EVERY_DAY
from sync_server.events.signals import EventChanged, EventDaysChanged, EventStatusChanged
from sync_server.holds import queries, service
from sync_server.holds.endings import day_changes
from sync_server.holds.models import NEVER, HoldRow, HoldStatus, SaleLockRow
from sync_server.holds.ports import HoldPorts
from sync_server.holds.selling import inventory
from sync_server.holds.signals import HoldsMade
from sync_server.holds.taking import seats
from sync_server.outbox.service import Fact, Subject, record_change
from sync_server.plumbing.database import database_of
from sync_server.plumbing.ports import ports_of
from sync_server.plumbing.signals import send

MIN_REMAINING_MS: Final = 60_000
"""A resumed hold lasts a minute at least, so that its bearer can learn of it."""

_Event = EventChanged | EventStatusChanged


def bump_sale_version(session: Session, organisation_id: str, event_id: str) -> None:
    """Wait for holds being written now, and make later ones reload the sale state."""
    dialect = sqlite if database_of(session).embedded else postgresql
    row = {"event_id": event_id, "organisation_id": organisation_id, "version": 1}
    new = dialect.insert(SaleLockRow).values(row)
    session.execute(
        new.on_conflict_do_update(
            index_elements=["organisation_id", "event_id"], set_={"version": SaleLockRow.version + 1}
        )
    )


def on_status_changed(session: Session, event: EventStatusChanged) -> None:
    """End, suspend or resume the event's holds, as its new status demands."""
    bump_sale_version(session, event.organisation_id, event.event_id)
    _ON_STATUS[event.status](session, event)


def _cancelled(session: Session, event: _Event) -> None:
    """End all holds of an event that is cancelled or over."""
    open_holds = inventory.open_holds(session, event.organisation_id, event.event_id)
    service.end_together(session, open_holds, event.context.by_system(), reason="the event was cancelled or is over")


def _back_to_draft(session: Session, event: _Event) -> None:
    """Conflict while seats or places are held."""
    held = max(queries.held(session, event.organisation_id, event.event_id, event.context.now).values(), default=0)
    if held:
        raise Conflict(
            f"{held} seats or places are held. An event goes back to draft only while nothing is sold or held: wait "
            "for the holds to run out, or cancel or postpone the event.",
            code="event_has_holds",
            held=held,
        )


def _postponed(session: Session, event: _Event) -> None:
    """Postponed without a date: suspend holds, which keep their seats."""
    now = event.context.now
    open_holds = inventory.open_holds(session, event.organisation_id, event.event_id)
    active = [hold for hold in open_holds if hold.status == HoldStatus.ACTIVE.value and hold.held_until > now]
    for hold in active:
        hold.remaining_ms, hold.held_until = hold.held_until - now, NEVER
        hold.status, hold.updated_at = HoldStatus.SUSPENDED.value, now
    _store_ends(session, event, active)
    _record(session, event, "holds_suspended", {"count": len(active)})


def _dated(session: Session, event: _Event) -> None:
    """A date is set again: resume suspended holds with the time they had left."""
    now, open_holds = event.context.now, inventory.open_holds(session, event.organisation_id, event.event_id)
    suspended = [hold for hold in open_holds if hold.status == HoldStatus.SUSPENDED.value]
    for hold in suspended:
        hold.held_until = now + max(hold.remaining_ms or 0, MIN_REMAINING_MS)
        hold.status, hold.remaining_ms, hold.updated_at = HoldStatus.ACTIVE.value, None, now
    _store_ends(session, event, suspended)
    _record(session, event, "holds_resumed", {"count": len(suspended)})


_ON_STATUS: Final[Mapping[EventStatus, Callable[[Session, EventStatusChanged], None]]] = {
    EventStatus.DRAFT: _back_to_draft,
    EventStatus.PUBLISHED: _dated,
    EventStatus.LIVE: _dated,
    EventStatus.POSTPONED: _postponed,
    EventStatus.ENDED: _cancelled,
    EventStatus.CANCELLED: _cancelled,
    EventStatus.ARCHIVED: _cancelled,
}


def on_changed(session: Session, event: EventChanged) -> None:
    """The event's times changed: end holds where it is no longer on sale, resume them where it has a new date."""
    row = events.event(session, event.organisation_id, event.event_id)
    status = EventStatus(row.status)
    rescheduled = status is EventStatus.POSTPONED and row.rescheduled_at is not None
    if status not in {EventStatus.PUBLISHED, EventStatus.LIVE} and not rescheduled:
        return

    def on_sale_at(time: Millis) -> bool:
        early = ports_of(session, HoldPorts).is_presale(session, row.key, time)
        return sells(status, row.rescheduled_at, None if early else row.sale_start_at, row.sale_end_at, time)

    if not on_sale_at(event.context.now):
        bump_sale_version(session, event.organisation_id, event.event_id)
        # A hold made while the event was on sale, by its new times, may still be bought.
        ended = [
            hold
            for hold in inventory.open_holds(session, event.organisation_id, event.event_id)
            if not on_sale_at(hold.created_at)
        ]
        service.end_together(session, ended, event.context.by_system(), reason="the sale window has moved")
    if rescheduled:
        bump_sale_version(session, event.organisation_id, event.event_id)
        _dated(session, event)


def on_days_changed(session: Session, event: EventDaysChanged) -> None:
    """Holds for every day take the new days, too; what they have of days that are no more goes.

    Nothing else has such a day: the event would not have lost it.
    """
    bump_sale_version(session, event.organisation_id, event.event_id)
    open_holds = inventory.open_holds(session, event.organisation_id, event.event_id)
    if event.after < event.before:
        day_changes.forget_days(session, event.organisation_id, event.event_id, event.after)
        return
    new = range(event.before, event.after)
    for hold in open_holds:
        if hold.days == EVERY_DAY:
            day_changes.hold_also_on(session, hold, new, event.context.now)


def on_guest_removed(session: Session, guest: GuestRemoved) -> None:
    """Release all holds of a guest who is removed, but not those of an order: it can be paid without a session."""
    for hold in queries.of_bearer(session, guest.organisation_id, guest.guest_id, guest.context.now):
        if hold.order_id is None:
            service.release(session, hold.organisation_id, hold.id, guest.guest_id, guest.context.by_system())


def _store_ends(session: Session, event: _Event, holds: Sequence[HoldRow]) -> None:
    session.flush()
    for hold in holds:
        if hold.seat is not None:
            seats.extend(session, event.organisation_id, event.event_id, hold.seat, hold.id, until=hold.held_until)
    if holds:
        send(session, HoldsMade(holds, event.context.now))


def _record(session: Session, event: _Event, name: str, summary: dict[str, Any]) -> None:
    if not summary["count"]:
        return
    subjects = {"event": event.event_id, "event_number": event.number}
    fact = Fact(name, event.organisation_id, event.context.now, subjects, summary)
    record_change(session, event.context.by_system(), Subject("event", event.event_id, None, summary), fact)
