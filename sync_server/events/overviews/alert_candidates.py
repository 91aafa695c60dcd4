"""Finds events whose rows suggest a problem; the alert rules decide whether there is one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from sqlalchemy import ColumnElement, Select, and_, func, or_, select
from sqlalchemy.orm import Session

from shared.clock import Millis
from shared.errors import InvalidRequest
from shared.ids import NIL_ID
from shared.lifecycle import EventStatus
from sync_server.events.models import BY_NOT_ENDED, NOT_ENDED, EventRecord
from sync_server.events.rules import MIN_DURATION_MS, AlertCandidate, check_times, mark
from sync_server.events.service import times_of
from sync_server.events.snapshot_rows import window

BATCH_SIZE: Final = 500
"""How many are read at a time."""
DOORS_BEFORE_MS: Final[Millis] = 24 * 3_600_000
"""Doors that open earlier than this before the start are noticed late; the bound lets an index find the others."""

_E = EventRecord
_START: Final = func.coalesce(_E.rescheduled_at, _E.start_at)
_END: Final = _START + _E.end_at - _E.start_at
_INCONSISTENT_TIMES: Final = and_(
    _E.status.in_(["draft", "published", "live", "postponed"]),
    or_(
        _E.end_at < _E.start_at + MIN_DURATION_MS,
        _E.end_at_auto <= _START,
        _E.end_at_auto <= _E.go_live_at,
        _E.go_live_at >= _END,
        _E.doors_at > _START,
        _E.sale_end_at > _END,
        _E.sale_start_at >= func.coalesce(_E.sale_end_at, _START),
    ),
)


def find_alert_candidates(
    session: Session, now: Millis, organisation_id: str | None = None, *, after: str = NIL_ID, times: bool
) -> tuple[Sequence[AlertCandidate], str | None]:
    """A batch of candidates of all organisations, or all of one, and the id to continue after; None at the end.

    `times` also looks for inconsistent times, which reads every row: leave it out of frequent checks.
    """
    statement = select(EventRecord).where(_by_status(now) | _INCONSISTENT_TIMES if times else _by_status(now))
    if organisation_id is not None:
        return _of_organisation(session, statement, organisation_id), None
    rows = session.execute(statement.where(_E.id > after).order_by(_E.id).limit(BATCH_SIZE)).scalars().all()
    return [_candidate(row) for row in rows], rows[-1].id if len(rows) == BATCH_SIZE else None


def _of_organisation(
    session: Session, statement: Select[EventRecord], organisation_id: str
) -> Sequence[AlertCandidate]:
    """All at once, without those that are over: in order of their ids all events would be read."""
    mine = _E.organisation_id == organisation_id, NOT_ENDED
    rows = session.execute(statement.where(*mine).with_hint(_E, BY_NOT_ENDED, "sqlite")).scalars().all()
    return [_candidate(row) for row in sorted(rows, key=lambda row: row.id)]


def _by_status(now: Millis) -> ColumnElement[bool]:
    return or_(
        and_(_E.status == "live", _E.start_at <= now),
        and_(_E.status == "published", _E.start_at <= now),
        and_(_E.status == "published", _E.go_live_at <= now),
        and_(_E.status == "published", _E.start_at <= now + DOORS_BEFORE_MS, _E.doors_at <= now),
        _E.status == "postponed",
        and_(_E.status == "cancelled", _E.tickets_issued > 0),
    )


def _candidate(row: EventRecord) -> AlertCandidate:
    start, end = window(row)
    return AlertCandidate(
        row.id,
        row.organisation_id,
        row.venue_id,
        row.name,
        EventStatus(row.status),
        start,
        end,
        row.doors_at,
        row.go_live_at,
        row.end_at_auto,
        row.cancelled_at,
        _times_fit(row),
        row.updated_at,
        _called_off(row),
        mark(row),
    )


def _called_off(row: EventRecord) -> bool:
    """Whether it does not take place as far as is known; a postponed event with its new date does."""
    return row.status == EventStatus.CANCELLED or (row.status == EventStatus.POSTPONED and row.rescheduled_at is None)


def _times_fit(row: EventRecord) -> bool:
    if row.status in {"cancelled", "ended", "archived"}:
        return True
    try:
        check_times(times_of(row))
    except InvalidRequest:
        return False
    return True
