"""Reads of venues and gates; a foreign id answers as one that does not exist."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import ColumnElement, select
from sqlalchemy.orm import Session

from shared.errors import NotFound
from shared.snapshot import GateRow
from sync_server.plumbing.folding import fold
from sync_server.plumbing.pages import Page, cut, position
from sync_server.venues.models import GateRecord, VenueRecord

Place = VenueRecord
"""A venue, as other rooms may hold it in their hands while their transaction lasts."""


def venue(session: Session, organisation_id: str, venue_id: str, *, lock: bool = False) -> VenueRecord:
    """That venue of this organisation, or NotFound."""
    wanted = select(VenueRecord).where(VenueRecord.id == venue_id, VenueRecord.organisation_id == organisation_id)
    row = session.execute(wanted.with_for_update(key_share=True) if lock else wanted).scalar_one_or_none()
    if row is None:
        raise NotFound("There is no such venue.", code="venue_not_found")
    return row


@dataclass(frozen=True, slots=True)
class VenueFilter:
    """Which venues to list."""

    city: str | None = None
    timezone: str | None = None
    archived: bool = False


def venues(
    session: Session, organisation_id: str, chosen: VenueFilter, *, limit: int, after: str | None
) -> Page[VenueRecord]:
    """The organisation's venues, oldest first; those in the archive only where they are asked for."""
    wanted = select(VenueRecord).where(VenueRecord.organisation_id == organisation_id, *_conditions(chosen))
    start = position(after, str)
    if start is not None:
        wanted = wanted.where(VenueRecord.id > start[0])
    found = session.execute(wanted.order_by(VenueRecord.id).limit(limit + 1)).scalars().all()
    return cut(found, limit, lambda row: (row.id,))


def _conditions(chosen: VenueFilter) -> Iterator[ColumnElement[bool]]:
    yield VenueRecord.archived_at.is_not(None) if chosen.archived else VenueRecord.archived_at.is_(None)
    if chosen.city is not None:
        yield VenueRecord.city_norm == fold(chosen.city)
    if chosen.timezone is not None:
        yield VenueRecord.timezone == chosen.timezone


def slug_taken(session: Session, organisation_id: str, slug: str) -> bool:
    """Whether another venue of this organisation has that slug."""
    there = select(VenueRecord.id).where(VenueRecord.organisation_id == organisation_id, VenueRecord.slug == slug)
    return session.execute(there).first() is not None


def gates(session: Session, venue_id: str, *, status: str | None = None) -> Sequence[GateRecord]:
    """The gates of a venue that was looked up before: all, or the open or closed ones."""
    wanted = select(GateRecord).where(GateRecord.venue_id == venue_id).order_by(GateRecord.number)
    return session.execute(wanted if status is None else wanted.where(GateRecord.status == status)).scalars().all()


def gate(session: Session, venue_id: str, number: int) -> GateRecord:
    """One gate of a venue that was looked up before, or NotFound."""
    row = session.get(GateRecord, (venue_id, number))
    if row is None:
        raise NotFound("There is no such gate.", code="gate_not_found")
    return row


def gate_rows(session: Session, venue_id: str, served: Mapping[int, Sequence[int]]) -> list[GateRow]:
    """The entrances as gates hold them, with the zones each serves; one without an entry there serves all."""
    return [_as_held(row, served.get(row.number, ())) for row in gates(session, venue_id)]


def _as_held(row: GateRecord, zones: Sequence[int]) -> GateRow:
    return GateRow(row.number, row.code, row.name, row.status == "open", tuple(zones), row.capacity, row.step_free)
