"""Reads of venues and gates; an id of another organisation counts as unknown."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from sqlalchemy import ColumnElement, func, select
from sqlalchemy.orm import Session

from shared.errors import NotFound
from shared.wire.snapshot import GateRow
from sync_server.plumbing.api.pagination import AnId, Page, decode_cursor, paginate
from sync_server.plumbing.language.folding import fold
from sync_server.venues.models import GateRecord, VenueRecord

Venue = VenueRecord
"""A venue row, as other domains may use it within their transaction."""


def venue(session: Session, organisation_id: str, venue_id: str, *, lock: bool = False) -> VenueRecord:
    """That venue of this organisation, or NotFound."""
    statement = select(VenueRecord).where(VenueRecord.organisation_id == organisation_id, VenueRecord.id == venue_id)
    row = session.execute(statement.with_for_update(key_share=True) if lock else statement).scalar_one_or_none()
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
    session: Session, organisation_id: str, filters: VenueFilter, *, limit: int, after: str | None
) -> Page[VenueRecord]:
    """A page of the organisation's venues, oldest first; either the archived ones or the others."""
    statement = select(VenueRecord).where(VenueRecord.organisation_id == organisation_id, *_conditions(filters))
    start = decode_cursor(after, AnId)
    if start is not None:
        statement = statement.where(VenueRecord.id > start[0])
    found = session.execute(statement.order_by(VenueRecord.id).limit(limit + 1)).scalars().all()
    return paginate(found, limit, lambda row: (row.id,))


def _conditions(filters: VenueFilter) -> Iterator[ColumnElement[bool]]:
    yield VenueRecord.archived_at.is_not(None) if filters.archived else VenueRecord.archived_at.is_(None)
    if filters.city is not None:
        yield VenueRecord.city_norm == fold(filters.city)
    if filters.timezone is not None:
        yield VenueRecord.timezone == filters.timezone


def usual_timezone(session: Session, organisation_id: str) -> str:
    """The time zone of most of the organisation's venues, for times that belong to none; UTC while it has no venue."""
    here = VenueRecord.organisation_id == organisation_id, VenueRecord.archived_at.is_(None)
    counted = select(VenueRecord.timezone).where(*here).group_by(VenueRecord.timezone)
    most = counted.order_by(func.count().desc(), func.min(VenueRecord.created_at), VenueRecord.timezone).limit(1)
    return session.execute(most).scalar_one_or_none() or "UTC"


def slug_taken(session: Session, organisation_id: str, slug: str) -> bool:
    """Whether a venue of this organisation has that slug."""
    taken = select(VenueRecord.id).where(VenueRecord.organisation_id == organisation_id, VenueRecord.slug == slug)
    return session.execute(taken).first() is not None


def gates(session: Session, organisation_id: str, venue_id: str, *, status: str | None = None) -> Sequence[GateRecord]:
    """The gates of a venue, optionally by status."""
    here = GateRecord.organisation_id == organisation_id, GateRecord.venue_id == venue_id
    statement = select(GateRecord).where(*here).order_by(GateRecord.number)
    return (
        session.execute(statement if status is None else statement.where(GateRecord.status == status)).scalars().all()
    )


def gate_codes(session: Session, organisation_id: str, venue_ids: Collection[str]) -> dict[str, dict[int, str]]:
    """The codes of the gates of several venues, by venue and number."""
    here = GateRecord.organisation_id == organisation_id, GateRecord.venue_id.in_(venue_ids)
    columns = select(GateRecord.venue_id, GateRecord.number, GateRecord.code).where(*here).order_by(GateRecord.number)
    codes: dict[str, dict[int, str]] = {}
    for venue_id, number, code in session.execute(columns):
        codes.setdefault(venue_id, {})[number] = code
    return codes


def gate(session: Session, organisation_id: str, venue_id: str, number: int) -> GateRecord:
    """One gate of a venue, or NotFound."""
    row = session.get(GateRecord, (organisation_id, venue_id, number))
    if row is None:
        raise NotFound("There is no such gate.", code="gate_not_found")
    return row


def gates_at(session: Session, organisation_id: str, venue_ids: Collection[str]) -> dict[str, list[GateRecord]]:
    """The gates of several venues, by venue."""
    here = GateRecord.organisation_id == organisation_id, GateRecord.venue_id.in_(venue_ids)
    found: dict[str, list[GateRecord]] = {venue_id: [] for venue_id in venue_ids}
    for row in session.execute(select(GateRecord).where(*here).order_by(GateRecord.number)).scalars():
        found[row.venue_id].append(row)
    return found


def gate_row(row: GateRecord, zones: Sequence[int]) -> GateRow:
    """The snapshot row of a gate that serves these zones; none means all."""
    return GateRow(row.number, row.code, row.name, row.status == "open", tuple(zones), row.capacity, row.step_free)
