"""Reads of the log of touched seats, and of how it stands with them now."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from sqlalchemy import select
from sqlalchemy.orm import Session

from shared.clock import Millis
from sync_server.house_plan.models import SeatMapChange, SeatMapHead


@dataclass(frozen=True, slots=True)
class Head:
    """How far an event's map has been told, and since which version the log is whole."""

    version: int = 0
    oldest: int = 0


def head(session: Session, event_id: str) -> Head:
    """The head of an event of which the caller knows that it may be seen; zero where nothing was ever told."""
    here = select(SeatMapHead.version, SeatMapHead.oldest).where(SeatMapHead.event_id == event_id)
    row = session.execute(here).first()
    return Head() if row is None else Head(row.version, row.oldest)


def versions(session: Session, event_ids: Collection[str]) -> dict[str, int]:
    """How far the maps of these events have been told."""
    head = SeatMapHead
    rows = session.execute(select(head.event_id, head.version).where(head.event_id.in_(event_ids)))
    return {row[0]: row[1] for row in rows}


def touched(session: Session, event_id: str, after: int) -> set[int] | None:
    """The seats that were touched after a version, or None where all may have been, or nobody remembers."""
    change = SeatMapChange
    later = select(change.version, change.seats).where(change.event_id == event_id, change.version > after)
    found: set[int] = set()
    for count, (version, seats) in enumerate(session.execute(later.order_by(change.version)), start=1):
        if seats is None or version != after + count:
            return None
        found.update(seats)
    return found


def lately(session: Session, since: Millis, most: int | None = None) -> Sequence[tuple[str, str]]:
    """Organisation and id of the events whose maps have changed since then, the latest first."""
    head = SeatMapHead
    recent = select(head.organisation_id, head.event_id).where(head.changed_at >= since)
    rows = session.execute(recent.order_by(head.changed_at.desc(), head.event_id).limit(most))
    return [(row[0], row[1]) for row in rows]
