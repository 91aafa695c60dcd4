"""Expires overdue holds. Several workers may do it at once; a hold that was bought is left alone."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import ColumnElement, delete, select, text
from sqlalchemy.orm import Session

from shared.clock import Millis
from sync_server.events import queries as events
from sync_server.events.days.chosen_days import dates_of, numbers
from sync_server.holds import rules, service
from sync_server.holds.endings import ending, outcomes
from sync_server.holds.models import HoldCounterRow, HoldRow, HoldStatus
from sync_server.holds.selling import inventory
from sync_server.holds.taking import places, seats
from sync_server.plumbing.due import next_due, organisations_due
from sync_server.plumbing.event_key import EventKey
from sync_server.plumbing.jobs import MORE
from sync_server.plumbing.requests.principals import ActionContext

BATCH_SIZE = 500
COUNTER_RETENTION_MS = 2 * 24 * 3_600_000


def sweep(session: Session, context: ActionContext) -> object:
    """End holds that ran out ten seconds ago. Until then a buyer of the seat ends the hold."""
    overdue = _overdue(session, context.now)
    for event in sorted({(hold.organisation_id, hold.event_id) for hold in overdue}):
        _sweep_event(session, [hold for hold in overdue if (hold.organisation_id, hold.event_id) == event], context)
    return MORE if len(overdue) == BATCH_SIZE else None


def next_at(session: Session, _now: Millis) -> Millis | None:
    """When `sweep` has anything to do next."""
    active = HoldRow.status == text("'active'")  # as literal text, to match the partial index
    first = next_due(session, HoldRow.held_until, active)
    return None if first is None else first + rules.SWEPT_AFTER_MS


def _is_overdue(now: Millis) -> tuple[ColumnElement[bool], ...]:
    return HoldRow.status == HoldStatus.ACTIVE.value, HoldRow.held_until <= now - rules.SWEPT_AFTER_MS


def _overdue(session: Session, now: Millis) -> Sequence[HoldRow]:
    oldest = select(HoldRow).where(*_is_overdue(now)).order_by(HoldRow.held_until).limit(BATCH_SIZE)
    return session.execute(oldest).scalars().all()


def _sweep_event(session: Session, overdue: Sequence[HoldRow], context: ActionContext) -> None:
    key = overdue[0].organisation_id, overdue[0].event_id
    event = events.event(session, *key)
    # Lock order: the seat's row, then the hold's. A seat locked by someone else is theirs to end.
    locked = seats.locked_free_of_others(session, *key, [hold.seat for hold in overdue if hold.seat is not None])
    dates = dates_of(event)
    ids = [
        hold.id
        for hold in overdue
        if hold.seat is not None and all((hold.seat, day) in locked for day in numbers(hold.days, len(dates)))
    ]
    open_holds = [
        hold for hold in ending.open_holds(session, event.organisation_id, ids) if hold.held_until <= context.now
    ]
    service.release_all(session, open_holds, dates)
    ending.end(session, event.number, open_holds, HoldStatus.EXPIRED, context, dates=dates)
    for zone in sorted({hold.zone for hold in overdue if hold.seat is None}):
        if places.locked_free_of_others(session, *key, zone):
            inventory.end_overdue_places(session, event, zone, context, for_ms=rules.SWEPT_AFTER_MS)


def delete_old_counters(session: Session, now: Millis) -> None:
    """Delete the counters of bearers who have held nothing for two days."""
    owner, old = HoldCounterRow.organisation_id, HoldCounterRow.updated_at <= now - COUNTER_RETENTION_MS
    for organisation_id in organisations_due(session, owner, old):
        session.execute(delete(HoldCounterRow).where(owner == organisation_id, old))


def delete_piece(session: Session, organisation_id: str, event_id: str, limit: int) -> int:
    """Delete holds of an event that have ended, `limit` at most; returns how many."""
    mine, ended = HoldRow.organisation_id == organisation_id, HoldRow.status.not_in(["active", "suspended"])
    some = select(HoldRow.id).where(mine, HoldRow.event_id == event_id, ended).limit(limit)
    gone = delete(HoldRow).where(mine, HoldRow.id.in_(some)).returning(HoldRow.status, HoldRow.days)
    rows = session.execute(gone, execution_options={"synchronize_session": False}).all()
    outcomes.count(session, EventKey(organisation_id, event_id), [(status, days) for status, days in rows], -1)
    return len(rows)
