"""Copies events: the same evening on another date, alone or as a series."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy.orm import Session

from shared.clock import Millis
from shared.errors import InvalidRequest
from shared.ids import uuid7
from shared.lifecycle import EventStatus
from sync_server.accounts import queries as accounts
from sync_server.events import queries, rules
from sync_server.events.models import EventRecord, GateZonesRecord, ZoneRecord
from sync_server.events.rows import window, zone_row
from sync_server.events.service import create_event, put, tell
from sync_server.pictures import service as pictures
from sync_server.plumbing.database import announce
from sync_server.plumbing.principals import Deed

COPIED: Final = "event_copied"
_WORDS: Final = (
    "venue_id",
    "name",
    "description",
    "category",
    "capacity",
    "cutover_hour",
    "cutover_empties",
    "anti_passback",
    "name_checks",
    "known_tickets_only",
    "max_snapshot_age_hours",
    "clock_uncertain",
    "repeat_ms",
    "recurrence_group_id",
    "participants_elsewhere",
    "settings",
    "cover_images",
    "cover_alts",
)
_TIMES: Final = ("doors_at", "sale_start_at", "sale_end_at", "go_live_at", "end_at_auto")


@dataclass(frozen=True, slots=True)
class Copied:
    """What higher floors copy theirs by."""

    organisation_id: str
    source_id: str
    copy_id: str
    copy_number: int
    distance: int  # by how many milliseconds everything is later
    deed: Deed


@dataclass(frozen=True, slots=True)
class Wish:
    """What shall differ from the event that is copied."""

    start_at: Millis
    end_at: Millis | None = None
    name: str | None = None
    slug: str | None = None
    code: str | None = None


def copy_event(session: Session, organisation_id: str, event_id: str, wish: Wish, deed: Deed) -> EventRecord:
    """A new draft on another date, with zones, gates, ticket types and layout of the old one, and nothing sold."""
    source = queries.event(session, organisation_id, event_id)
    return _copied(session, source, wish, deed)


def repeat_event(
    session: Session, organisation_id: str, event_id: str, starts: Sequence[Millis], deed: Deed
) -> tuple[str, list[EventRecord]]:
    """A copy for each of these starts, all in one series with the event itself: the series' id, and the copies."""
    source = queries.event(session, organisation_id, event_id)
    if source.recurrence_group_id is None:
        _found(session, source, deed)
    group = str(source.recurrence_group_id)
    return group, [_copied(session, source, Wish(start), deed) for start in starts]


def _found(session: Session, source: EventRecord, deed: Deed) -> None:
    source = queries.event(session, source.organisation_id, source.id, lock=True)
    if source.recurrence_group_id is None:
        if EventStatus(source.status) in {EventStatus.ARCHIVED, EventStatus.CANCELLED}:
            raise InvalidRequest("Begin a series with an event that takes place.", code="event_closed")
        source.recurrence_group_id, source.updated_at = uuid7(deed.now, deed.entropy), deed.now
        session.flush()
        after = {"recurrence_group_id": source.recurrence_group_id}
        tell(session, source, "event_updated", deed, before={"recurrence_group_id": None}, after=after)


def _copied(session: Session, source: EventRecord, wish: Wish, deed: Deed) -> EventRecord:
    start, end = window(source)
    distance = wish.start_at - start
    owned = accounts.role_in(session, source.organisation_id, source.owner_id) is not None
    words: dict[str, Any] = {name: getattr(source, name) for name in _WORDS}
    words |= dict.fromkeys(_TIMES)
    words |= rules.moved_along({name: getattr(source, name) for name in _TIMES}, distance)
    words |= {"start_at": wish.start_at, "end_at": wish.end_at or end + distance, "slug": wish.slug, "code": wish.code}
    words |= {"name": wish.name or source.name, "owner_id": source.owner_id if owned else None}
    words["cover_images"] = pictures.still_there(session, source.organisation_id, source.cover_images)
    row = create_event(session, source.organisation_id, words, deed, copied_from=source.id)
    _copy_zones(session, source, row)
    told = Copied(source.organisation_id, source.id, row.id, row.number, distance, deed)
    announce(session, COPIED, told, deed.now)
    return row


def _copy_zones(session: Session, source: EventRecord, row: EventRecord) -> None:
    zones = [
        ZoneRecord(
            event_id=row.id,
            number=zone.number,
            organisation_id=zone.organisation_id,
            name=zone.name,
            kind=zone.kind,
            capacity=zone.capacity,
            membership_tier=zone.membership_tier,
        )
        for zone in queries.zones(session, source.id)
    ]
    session.add_all(zones)
    if source.venue_id == row.venue_id:
        session.add_all(
            GateZonesRecord(event_id=row.id, gate_number=gate, organisation_id=row.organisation_id, zones=served)
            for gate, served in queries.zones_served(session, source.id).items()
        )
    session.flush()
    put(session, row, [*map(zone_row, zones), *queries.gate_rows(session, row)])
