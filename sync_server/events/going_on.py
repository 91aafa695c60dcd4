"""Which events are sold or taking place, and where, for jobs that look after those they know."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from sqlalchemy import select
from sqlalchemy.orm import Session

from shared.lifecycle import EventStatus
from sync_server.events.models import EventRecord

_GOING_ON: Final = tuple(status.value for status in (EventStatus.PUBLISHED, EventStatus.LIVE, EventStatus.POSTPONED))
_AT_ONCE: Final = 500


def going_on(session: Session, among: Sequence[str]) -> set[str]:
    """Those of these events."""
    return set(going_on_named(session, among))


def going_on_named(session: Session, among: Sequence[str]) -> dict[str, tuple[str, str, str]]:
    """The same, each with its venue, itself and its name."""
    found: dict[str, tuple[str, str, str]] = {}
    for start in range(0, len(among), _AT_ONCE):
        here = EventRecord.id.in_(among[start : start + _AT_ONCE]), EventRecord.status.in_(_GOING_ON)
        wanted = select(EventRecord.id, EventRecord.venue_id, EventRecord.name).where(*here)
        found |= {row.id: (row.venue_id, row.id, row.name) for row in session.execute(wanted)}
    return found


def venues_of(session: Session, among: Sequence[str]) -> dict[str, str]:
    """Where these events take place, whatever has become of them; those that are gone are left out."""
    found: dict[str, str] = {}
    for start in range(0, len(among), _AT_ONCE):
        wanted = select(EventRecord.id, EventRecord.venue_id).where(EventRecord.id.in_(among[start : start + _AT_ONCE]))
        found |= {row.id: row.venue_id for row in session.execute(wanted)}
    return found
