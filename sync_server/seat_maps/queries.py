"""Reads of the log of touched seats."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from sqlalchemy import select
from sqlalchemy.orm import Session

from shared.clock import Millis
from sync_server.plumbing.sql.prepared import Prepared, from_json, placeholder
from sync_server.seat_maps.models import SeatMapChange, SeatMapHead

_HEAD: Final = Prepared(
    select(SeatMapHead.version, SeatMapHead.oldest).where(
        SeatMapHead.organisation_id == placeholder("organisation"), SeatMapHead.event_id == placeholder("event")
    )
)
_LATER: Final = Prepared(
    select(SeatMapChange.version, SeatMapChange.seats)
    .where(SeatMapChange.organisation_id == placeholder("organisation"), SeatMapChange.event_id == placeholder("event"))
    .where(SeatMapChange.version > placeholder("after"))
    .order_by(SeatMapChange.version)
)


@dataclass(frozen=True, slots=True)
class Head:
    """The newest version of an event's map, and the version after which the log is complete."""

    version: int = 0
    oldest: int = 0


def head(session: Session, organisation_id: str, event_id: str) -> Head:
    """The head of an event's map; zero if nothing was ever recorded. Does not check who may see the event."""
    rows = _HEAD.rows(session, organisation=organisation_id, event=event_id)
    return Head(*rows[0]) if rows else Head()


def touched(session: Session, organisation_id: str, event_id: str, after: int) -> set[int] | None:
    """The seats touched after a version; None if any may have been, or the log does not reach back that far."""
    found: set[int] = set()
    later = _LATER.rows(session, organisation=organisation_id, event=event_id, after=after)
    for count, (version, touched_seats) in enumerate(later, start=1):
        seats = from_json(touched_seats)
        if seats is None or version != after + count:
            return None
        found.update(seats)
    return found


def recently_changed(session: Session, since: Millis, limit: int | None = None) -> Sequence[tuple[str, str]]:
    """Organisation and id of the events whose maps have changed since then, the latest first."""
    head = SeatMapHead
    recent = select(head.organisation_id, head.event_id).where(head.changed_at >= since)
    rows = session.execute(recent.order_by(head.changed_at.desc(), head.event_id).limit(limit))
    return [(row[0], row[1]) for row in rows]
