"""Events that somebody should look at, found by what their rows say; whether there is reason is decided elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from sqlalchemy import ColumnElement, and_, func, or_, select
from sqlalchemy.orm import Session

from shared.clock import Millis
from shared.errors import InvalidRequest
from shared.lifecycle import EventStatus
from sync_server.events.models import EventRecord
from sync_server.events.rows import window
from sync_server.events.rules import SHORTEST_MS, check_times
from sync_server.events.service import times_of

AT_ONCE: Final = 500
"""How many are looked at in one turn."""
DOORS_BEFORE_MS: Final[Millis] = 24 * 3_600_000
"""Doors that open longer before the start than this are noticed late: only so can an index find the others."""

_E = EventRecord
_WRONG_ORDER: Final = and_(
    _E.status.in_(["draft", "published", "live", "postponed"]),
    or_(
        _E.end_at < _E.start_at + SHORTEST_MS,
        _E.end_at_auto <= _E.start_at,
        _E.end_at_auto <= _E.go_live_at,
        _E.go_live_at >= _E.end_at,
        _E.doors_at > _E.start_at,
        _E.sale_end_at > _E.end_at,
        _E.sale_start_at >= func.coalesce(_E.sale_end_at, _E.start_at),
    ),
)


@dataclass(frozen=True, slots=True)
class Suspect:
    """An event whose status, times and tickets should be looked at together."""

    id: str
    organisation_id: str
    venue_id: str
    name: str
    status: EventStatus
    starts_at: Millis
    ends_at: Millis
    doors_at: Millis | None
    go_live_at: Millis | None
    end_at_auto: Millis | None
    cancelled_at: Millis | None
    times_fit: bool
    changed_at: Millis


def some_suspects(
    session: Session, now: Millis, organisation_id: str | None = None, *, after: str = "", times: bool
) -> tuple[Sequence[Suspect], str | None]:
    """Some of one organisation's, or of all, and where the next turn begins; None: these were the last.

    Wrong times are looked for in every row: leave that out where it is done often.
    """
    wanted = select(EventRecord).where(_by_status(now) | _WRONG_ORDER if times else _by_status(now), _E.id > after)
    if organisation_id is not None:
        wanted = wanted.where(EventRecord.organisation_id == organisation_id)
    rows = session.execute(wanted.order_by(EventRecord.id).limit(AT_ONCE)).scalars().all()
    return [_suspect(row) for row in rows], rows[-1].id if len(rows) == AT_ONCE else None


def _by_status(now: Millis) -> ColumnElement[bool]:
    return or_(
        and_(_E.status == "live", _E.start_at <= now),
        and_(_E.status == "published", _E.start_at <= now),
        and_(_E.status == "published", _E.go_live_at <= now),
        and_(_E.status == "published", _E.start_at <= now + DOORS_BEFORE_MS, _E.doors_at <= now),
        _E.status == "postponed",
        and_(_E.status == "cancelled", _E.tickets_issued > 0),
    )


def _suspect(row: EventRecord) -> Suspect:
    start, end = window(row)
    return Suspect(
        row.id,
        row.organisation_id,
        row.venue_id,
        row.name,
        EventStatus(row.status),
        start,
        end,
        _doors(row, start),
        row.go_live_at,
        row.end_at_auto,
        row.cancelled_at,
        _fits(row),
        row.updated_at,
    )


def _doors(row: EventRecord, start: Millis) -> Millis | None:
    """On its new date, where there is one, as long before the start as they were to open on the old one."""
    return None if row.doors_at is None else start - (row.start_at - row.doors_at)


def _fits(row: EventRecord) -> bool:
    if row.status in {"cancelled", "ended", "archived"}:
        return True
    try:
        check_times(times_of(row))
    except InvalidRequest:
        return False
    return True
