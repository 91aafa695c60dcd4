"""Copies events to other dates, one at a time or as a series."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, Final

from sqlalchemy.orm import Session

from shared.clock import Millis
from shared.errors import InvalidRequest
from shared.ids import uuid7
from shared.lifecycle import EventStatus
from sync_server.accounts import queries as accounts
from sync_server.events import queries, rules
from sync_server.events.models import EventRecord, GateZonesRecord, ZoneRecord
from sync_server.events.schemas import NewEvent
from sync_server.events.service import create_event, put_rows, record_change
from sync_server.events.signals import EventCopied
from sync_server.events.snapshot_rows import window, zone_row
from sync_server.events.time_shift import TimeShift
from sync_server.images import service as images
from sync_server.plumbing.requests.principals import ActionContext
from sync_server.plumbing.signals import send

_TIMES: Final = frozenset(field.name for field in fields(rules.Times))
_SHIFTED_TIMES: Final = _TIMES - {"start_at", "end_at"}
_OWN_FIELDS: Final = _TIMES | {"slug", "code", "owner_id"}
_COPIED_COLUMNS: Final = (
    *(name for name in NewEvent.model_fields if name not in _OWN_FIELDS),
    "cover_images",
    "cover_alts",
)
"""All that can be said of a new event, but for what a copy starts with of its own."""


@dataclass(frozen=True, slots=True)
class CopyRequest:
    """What differs from the source event."""

    start_at: Millis
    end_at: Millis | None = None
    name: str | None = None
    slug: str | None = None
    code: str | None = None


def copy_event(
    session: Session, organisation_id: str, event_id: str, request: CopyRequest, context: ActionContext
) -> EventRecord:
    """A new draft on another date with the zones, gates, ticket types and layout of the source, and nothing sold."""
    source = queries.event(session, organisation_id, event_id)
    return _copy(session, source, request, context)


def repeat_event(
    session: Session, organisation_id: str, event_id: str, starts: Sequence[Millis], context: ActionContext
) -> tuple[str, list[EventRecord]]:
    """One copy per start, in one series with the source: the id of the series, and the copies."""
    source = queries.event(session, organisation_id, event_id)
    if source.recurrence_group_id is None:
        _start_series(session, source, context)
    group = str(source.recurrence_group_id)
    return group, [_copy(session, source, CopyRequest(start), context) for start in starts]


def _start_series(session: Session, source: EventRecord, context: ActionContext) -> None:
    source = queries.event(session, source.organisation_id, source.id, lock=True)
    if source.recurrence_group_id is None:
        if EventStatus(source.status) in {EventStatus.ARCHIVED, EventStatus.CANCELLED}:
            raise InvalidRequest("Start a series from an event that is not cancelled or archived.", code="event_closed")
        source.recurrence_group_id, source.updated_at = uuid7(context.now, context.entropy), context.now
        session.flush()
        after = {"recurrence_group_id": source.recurrence_group_id}
        record_change(session, source, "event_updated", context, before={"recurrence_group_id": None}, after=after)


def _copy(session: Session, source: EventRecord, request: CopyRequest, context: ActionContext) -> EventRecord:
    start, _ = window(source)
    shift = TimeShift(start, request.start_at, source.timezone)
    owner = source.owner_id
    owner_is_member = owner and accounts.role_in(session, source.organisation_id, owner) is not None
    fields: dict[str, Any] = {name: getattr(source, name) for name in _COPIED_COLUMNS}
    fields |= dict.fromkeys(_SHIFTED_TIMES)
    fields |= shift.times({name: getattr(source, name) for name in _SHIFTED_TIMES})
    fields |= {
        "start_at": request.start_at,
        "end_at": request.end_at or request.start_at + source.end_at - source.start_at,
        "slug": request.slug,
        "code": request.code,
    }
    fields |= {"name": request.name or source.name, "owner_id": owner if owner_is_member else None}
    fields["cover_images"] = images.existing_images(session, source.organisation_id, source.cover_images)
    row = create_event(session, source.organisation_id, fields, context, copied_from=source.id)
    _copy_zones(session, source, row)
    send(session, EventCopied(source.organisation_id, source.id, row.id, row.number, shift, context))
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
        for zone in queries.zones(session, source.organisation_id, source.id)
    ]
    session.add_all(zones)
    if source.venue_id == row.venue_id:
        session.add_all(
            GateZonesRecord(event_id=row.id, gate_number=gate, organisation_id=row.organisation_id, zones=served)
            for gate, served in queries.zones_served(session, source.organisation_id, source.id).items()
        )
    session.flush()
    put_rows(session, row, [*map(zone_row, zones), *queries.gate_rows(session, row)])
