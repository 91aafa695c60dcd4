"""Reads layouts, their use by events, and the seating policy; ids of other organisations raise NotFound too."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any, Final, NamedTuple

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from shared.clock import Millis
from shared.errors import NotFound
from sync_server.events import locked_events
from sync_server.plumbing.api.pagination import AnId, Page, decode_cursor, paginate
from sync_server.plumbing.event_key import EventKey
from sync_server.plumbing.sql.asked_together import Question
from sync_server.plumbing.sql.prepared import Prepared, placeholder
from sync_server.seating.layouts.columns import Seat, columns_of
from sync_server.seating.layouts.overlay import Deltas, LayoutZone
from sync_server.seating.layouts.plan import (
    AccessMode,
    Category,
    GroupPlan,
    GroupType,
    LayoutPlan,
    PlannedSeat,
    ZonePlan,
    ZoneType,
    same_fields,
)
from sync_server.seating.models import (
    EventLayoutRecord,
    LayoutRecord,
    LayoutZoneRecord,
    PolicyRecord,
    SeatGroupRecord,
    SeatRecord,
)
from sync_server.seating.rules import FIELDS, Policy, effective

_BATCH_SIZE: Final = 10_000

POLICIES: Final = "seating policies that this session has read"
_MOVING: Final = Prepared(
    select(EventLayoutRecord.moving).where(
        EventLayoutRecord.organisation_id == placeholder("organisation"),
        EventLayoutRecord.event_id == placeholder("event"),
    )
)
KNOWN_PLANS: Final = "plans of the events that this transaction has locked, none of whose guests are being moved"
_LAYOUTS: Final = "layouts of the events that this transaction has locked"

Layout = LayoutRecord
"""One version of a layout, as pages may show it."""


def layout(
    session: Session, organisation_id: str, layout_id: str, *, venue_id: str | None = None, lock: bool = False
) -> LayoutRecord:
    """A layout of this organisation, at this venue if one is given; else NotFound."""
    wanted = select(LayoutRecord).where(LayoutRecord.organisation_id == organisation_id, LayoutRecord.id == layout_id)
    row = session.execute(wanted.with_for_update() if lock else wanted).scalar_one_or_none()
    if row is None or row.status == "importing" or (venue_id is not None and row.venue_id != venue_id):
        raise NotFound("There is no such layout.", code="layout_not_found")
    return row


def layouts(
    session: Session, organisation_id: str, venue_id: str, *, limit: int, after: str | None
) -> Page[LayoutRecord]:
    """All versions of all layouts of a venue, oldest first."""
    mine = LayoutRecord.organisation_id == organisation_id, LayoutRecord.venue_id == venue_id
    wanted = select(LayoutRecord).where(*mine, LayoutRecord.status != "importing").order_by(LayoutRecord.id)
    start = decode_cursor(after, AnId)
    if start is not None:
        wanted = wanted.where(LayoutRecord.id > start[0])
    return paginate(session.execute(wanted.limit(limit + 1)).scalars().all(), limit, lambda row: (row.id,))


def versions(session: Session, organisation_id: str, family_id: str) -> Sequence[LayoutRecord]:
    """All versions of one layout, but those that are still imported."""
    family = LayoutRecord.organisation_id == organisation_id, LayoutRecord.family_id == family_id
    wanted = select(LayoutRecord).where(*family, LayoutRecord.status != "importing").order_by(LayoutRecord.version)
    return session.execute(wanted).scalars().all()


def newest_version(session: Session, organisation_id: str, family_id: str) -> int:
    """The highest version number of a layout."""
    family = LayoutRecord.organisation_id == organisation_id, LayoutRecord.family_id == family_id
    return session.execute(select(func.max(LayoutRecord.version)).where(*family)).scalar_one()


def events_using(session: Session, organisation_id: str, layout_id: str) -> Sequence[str]:
    """The events that use this version."""
    statement = select(EventLayoutRecord.event_id).where(
        EventLayoutRecord.organisation_id == organisation_id, EventLayoutRecord.layout_id == layout_id
    )
    return session.execute(statement).scalars().all()


def uses(session: Session, organisation_id: str, layout_ids: Collection[str]) -> dict[str, int]:
    """How many events use each of these versions; none for those that nobody uses."""
    here = EventLayoutRecord.organisation_id == organisation_id, EventLayoutRecord.layout_id.in_(layout_ids)
    wanted = select(EventLayoutRecord.layout_id, func.count()).where(*here).group_by(EventLayoutRecord.layout_id)
    return {row[0]: row[1] for row in session.execute(wanted)}


def zones(session: Session, organisation_id: str, layout_id: str) -> list[LayoutZone]:
    """The zones of a layout."""
    return [_layout_zone(row) for row in _zone_rows(session, organisation_id, layout_id)]


def _zone_rows(session: Session, organisation_id: str, layout_id: str) -> Sequence[LayoutZoneRecord]:
    statement = (
        select(LayoutZoneRecord)
        .where(LayoutZoneRecord.organisation_id == organisation_id, LayoutZoneRecord.layout_id == layout_id)
        .order_by(LayoutZoneRecord.number)
    )
    return session.execute(statement).scalars().all()


def _layout_zone(row: LayoutZoneRecord) -> LayoutZone:
    return LayoutZone(
        row.number,
        row.id,
        row.name,
        ZoneType(row.zone_type),
        row.capacity,
        AccessMode(row.access_mode),
        row.membership_tier,
        tuple(row.allowed_roles),
        (row.focus_x, row.focus_y),
    )


def groups(session: Session, organisation_id: str, layout_id: str) -> list[GroupPlan]:
    """The seat groups of a layout."""
    statement = (
        select(SeatGroupRecord)
        .where(SeatGroupRecord.organisation_id == organisation_id, SeatGroupRecord.layout_id == layout_id)
        .order_by(SeatGroupRecord.number)
    )
    rows = session.execute(statement).scalars()
    return [GroupPlan(GroupType(row.group_type), tuple(row.seats), row.details, row.sold_whole) for row in rows]


def plan(session: Session, row: LayoutRecord) -> LayoutPlan:
    """The whole layout as it was uploaded."""
    seats: dict[int, list[PlannedSeat]] = {}
    key = row.organisation_id, row.id
    for seat in stored_seats(session, *key):
        seats.setdefault(seat.zone_number, []).append(_planned(seat))
    zones = tuple(_zone_plan(zone, seats.get(zone.number, [])) for zone in _zone_rows(session, *key))
    faces = (row.focus_x, row.focus_y) if row.focus_drawn else None
    return LayoutPlan(row.name, zones, row.description, tuple(groups(session, *key)), row.drawing, faces)


def columns(session: Session, row: LayoutRecord) -> tuple[LayoutPlan, dict[str, Any]]:
    """A layout without its seats, and those as columns: a third of the work that the whole layout is."""
    key = row.organisation_id, row.id
    zones = _zone_rows(session, *key)
    faces = (row.focus_x, row.focus_y) if row.focus_drawn else None
    in_groups = tuple(groups(session, *key))
    without = LayoutPlan(
        row.name, tuple(_zone_plan(zone, ()) for zone in zones), row.description, in_groups, row.drawing, faces
    )
    places = {zone.number: at for at, zone in enumerate(zones)}
    seats = sorted(
        (
            Seat(
                places[seat.zone_number],
                seat.seat_id,
                seat.section,
                seat.row,
                seat.seat_number,
                seat.x if seat.drawn else None,
                seat.y if seat.drawn else None,
                seat.category,
                seat.companion_seat_id,
                seat.price_category,
                seat.aisle_after,
            )
            for seat in stored_seats(session, *key)
        ),
        key=lambda seat: seat.zone,
    )
    return without, columns_of([zone.name for zone in zones], seats, [group.seats for group in in_groups])


def _zone_plan(zone: LayoutZoneRecord, seats: Iterable[PlannedSeat]) -> ZonePlan:
    return ZonePlan(
        name=zone.name,
        zone_type=ZoneType(zone.zone_type),
        capacity=zone.capacity,
        access_mode=AccessMode(zone.access_mode),
        membership_tier=zone.membership_tier,
        allowed_roles=tuple(zone.allowed_roles),
        focus=(zone.focus_x, zone.focus_y) if zone.focus_drawn else None,
        details=zone.details,
        seats=tuple(seats),
    )


def _planned(seat: StoredSeat) -> PlannedSeat:
    x, y = (seat.x, seat.y) if seat.drawn else (None, None)
    return PlannedSeat(**same_fields(seat), number=seat.seat_number, x=x, y=y, category=Category(seat.category))


class StoredSeat(NamedTuple):
    """A seat as the table has it."""

    number: int
    id: str
    seat_id: str
    zone_number: int
    section: str
    row: str
    row_order: int
    place: int
    seat_number: str
    x: float
    y: float
    drawn: bool
    category: str
    companion_seat_id: str | None
    price_category: str
    aisle_after: bool


def stored_seats(session: Session, organisation_id: str, layout_id: str) -> Iterator[StoredSeat]:
    """All seats of a version by number, a batch at a time: the rows of a stadium take some hundred megabytes."""
    here = SeatRecord.organisation_id == organisation_id, SeatRecord.layout_id == layout_id
    last, batch = 0, list[Any]([None]) * _BATCH_SIZE
    while len(batch) == _BATCH_SIZE:
        columns = (getattr(SeatRecord, name) for name in StoredSeat._fields)
        further = select(*columns).where(*here, SeatRecord.number > last)
        batch = [*session.execute(further.order_by(SeatRecord.number).limit(_BATCH_SIZE))]
        yield from (StoredSeat(*row) for row in batch)
        last = batch[-1].number if batch else last


def policy(session: Session, organisation_id: str) -> Policy:
    """The organisation's seating policy, or the defaults."""
    known: dict[str, Policy] = session.info.setdefault(POLICIES, {})
    if organisation_id not in known:
        known[organisation_id] = _policy(session, organisation_id)
    return known[organisation_id]


def _policy(session: Session, organisation_id: str) -> Policy:
    row = session.get(PolicyRecord, organisation_id)
    if row is None:
        return Policy()
    stored = {name: getattr(row, name) for name in FIELDS}
    return Policy(**stored | {"exempt_networks": tuple(row.exempt_networks)}, mandatory=tuple(row.mandatory))


def policy_changed_at(session: Session, organisation_id: str) -> Millis | None:
    """When the organisation's policy last changed; None if it uses the defaults."""
    row = select(PolicyRecord.updated_at).where(PolicyRecord.organisation_id == organisation_id)
    return session.execute(row).scalar_one_or_none()


def event_policy(session: Session, row: EventLayoutRecord) -> Policy:
    """The seating policy of an event: the organisation's, with the event's own overrides."""
    return effective(policy(session, row.organisation_id), row.seating_overrides)


def find_event_layout(session: Session, organisation_id: str, event_id: str) -> EventLayoutRecord | None:
    """How an event uses a layout, or None."""
    known: dict[str, EventLayoutRecord] = session.info.setdefault(_LAYOUTS, {})
    first = event_id not in known and locked_events.is_locked(session, organisation_id, event_id)
    row = session.get(EventLayoutRecord, (organisation_id, event_id), populate_existing=first)
    if first and row is not None:
        known[event_id] = row  # else it would be forgotten, and read again each time
    return row


def event_layout(session: Session, organisation_id: str, event_id: str) -> EventLayoutRecord:
    """How an event uses a layout; NotFound for an event without one, which sells general admission only."""
    row = find_event_layout(session, organisation_id, event_id)
    if row is None:
        raise NotFound("This event has no seating layout.", code="event_layout_not_found")
    return row


def guests_moving(session: Session, organisation_id: str, event_id: str) -> bool:
    """Whether guests of an event are being moved to other seats right now."""
    if event_id in session.info.get(KNOWN_PLANS, {}):
        return False
    if locked_events.is_locked(session, organisation_id, event_id):
        found = find_event_layout(session, organisation_id, event_id)
        return found is not None and found.moving
    statement, values = asks_moving(organisation_id, event_id)
    rows = statement.rows(session, **values)
    return bool(rows and rows[0].moving)


def asks_moving(organisation_id: str, event_id: str) -> Question:
    """What `guests_moving` asks, where the event is not locked."""
    return _MOVING, {"organisation": organisation_id, "event": event_id}


def events_with_layout(session: Session) -> list[EventKey]:
    """All events with a layout."""
    wanted = select(EventLayoutRecord.organisation_id, EventLayoutRecord.event_id).order_by(EventLayoutRecord.event_id)
    return [EventKey(*row) for row in session.execute(wanted)]


def deltas(row: EventLayoutRecord) -> Deltas:
    """What an event changes about its layout, by number."""
    return Deltas(
        frozenset(row.blocked_seats),
        frozenset(row.disabled_zones),
        {int(number): changed for number, changed in row.zone_overrides.items()},
        {int(number): price for number, price in row.price_zones.items()},
        frozenset(row.released_seats),
    )
