"""Events that somebody should look at, found by what their rows say; whether there is reason is decided elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from sqlalchemy import ColumnElement, and_, or_, select
from sqlalchemy.orm import Session

from shared.clock import Millis
from shared.errors import InvalidRequest
from shared.lifecycle import EventStatus
from sync_server.events.models import EventRecord
from sync_server.events.rows import window
from sync_server.events.rules import check_times
from sync_server.events.service import times_of

MOST: Final = 1_000

_E = EventRecord
_WRONG_ORDER: Final = and_(
    _E.status.in_(["draft", "published", "live", "postponed"]),
    or_(_E.end_at_auto <= _E.start_at, _E.end_at_auto <= _E.go_live_at, _E.go_live_at >= _E.end_at,
        _E.doors_at > _E.start_at, _E.sale_start_at >= _E.sale_end_at),
)  # fmt: skip


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
    go_live_at: Millis | None
    end_at_auto: Millis | None
    cancelled_at: Millis | None
    times_fit: bool
    changed_at: Millis


def suspects(
    session: Session, now: Millis, organisation_id: str | None = None, *, times: bool = True
) -> Sequence[Suspect]:
    """Of one organisation or of all. Wrong times are looked for in every row: leave that out where it is done often."""
    wanted = select(EventRecord).where(_by_status(now) | _WRONG_ORDER if times else _by_status(now))
    if organisation_id is not None:
        wanted = wanted.where(EventRecord.organisation_id == organisation_id)
    rows = session.execute(wanted.order_by(EventRecord.start_at.desc(), EventRecord.id).limit(MOST)).scalars()
    return [_suspect(row) for row in rows]


def _by_status(now: Millis) -> ColumnElement[bool]:
    return or_(
        and_(_E.status == "live", _E.start_at <= now),
        and_(_E.status == "published", _E.start_at <= now),
        and_(_E.status == "published", _E.go_live_at <= now),
        _E.status == "postponed",
        and_(_E.status == "cancelled", _E.tickets_issued > 0),
    )


def _suspect(row: EventRecord) -> Suspect:
    start, end = window(row)
    return Suspect(
        row.id, row.organisation_id, row.venue_id, row.name, EventStatus(row.status), start, end, row.go_live_at,
        row.end_at_auto, row.cancelled_at, _fits(row), row.updated_at,
    )  # fmt: skip


def _fits(row: EventRecord) -> bool:
    if row.status in {"cancelled", "ended", "archived"}:
        return True
    try:
        check_times(times_of(row))
    except InvalidRequest:
        return False
    return True
