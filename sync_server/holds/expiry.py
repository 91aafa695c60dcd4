"""Ends holds whose time is over: by many workers at once if need be, twice without harm, and never one bought."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from shared.clock import Millis
from sync_server.events import queries as events
from sync_server.holds import ending, inventory, places, rules, seats, service
from sync_server.holds.models import HoldRow, HoldStatus, TallyRow
from sync_server.plumbing.principals import Deed
from sync_server.plumbing.work import MORE

AT_ONCE = 500
TALLIES_KEPT_MS = 2 * 24 * 3_600_000


def sweep(session: Session, deed: Deed) -> object:
    """End what has been over for ten seconds. Until then whoever wants the seat ends the hold before it."""
    over = _over(session, deed.now)
    for event_id in sorted({hold.event_id for hold in over}):
        _sweep_event(session, [hold for hold in over if hold.event_id == event_id], deed)
    return MORE if len(over) == AT_ONCE else None


def _over(session: Session, now: Millis) -> Sequence[HoldRow]:
    over = HoldRow.status == HoldStatus.ACTIVE.value, HoldRow.held_until <= now - rules.SWEPT_AFTER_MS
    return session.execute(select(HoldRow).where(*over).order_by(HoldRow.held_until).limit(AT_ONCE)).scalars().all()


def _sweep_event(session: Session, over: Sequence[HoldRow], deed: Deed) -> None:
    first = over[0]
    number = events.event(session, first.organisation_id, first.event_id).number
    # The seat's row is locked before the hold's, as everybody does; what somebody else has locked he will end himself.
    mine = seats.locked_free_of_others(session, first.event_id, [hold.seat for hold in over if hold.seat is not None])
    ours = [hold.id for hold in over if hold.seat is not None and hold.seat in mine]
    living = [hold for hold in ending.living(session, ours) if hold.held_until <= deed.now]
    service.let_go(session, living)
    ending.end(session, number, living, HoldStatus.EXPIRED, deed)
    for zone in sorted({hold.zone for hold in over if hold.seat is None}):
        if places.locked_free_of_others(session, first.event_id, zone):
            inventory.end_overdue_places(session, first.event_id, number, zone, deed, for_ms=rules.SWEPT_AFTER_MS)


def forget_tallies(session: Session, now: Millis) -> None:
    """Drop the turns of those who have not held anything for days."""
    session.execute(delete(TallyRow).where(TallyRow.updated_at <= now - TALLIES_KEPT_MS))
