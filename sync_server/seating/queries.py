"""Reads layouts, their use by events, and the seating policy; ids of other organisations raise NotFound too."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, cast

from sqlalchemy import func, or_, select
from sqlalchemy.orm import Session

from shared.errors import NotFound
from sync_server.plumbing.api.pagination import Page, decode_cursor, paginate
from sync_server.seating.layouts.overlay import Deltas, LayoutZone
from sync_server.seating.layouts.plan import (
    AccessMode,
    Category,
    GroupPlan,
    GroupType,
    LayoutPlan,
    SeatPlan,
    ZonePlan,
    ZoneType,
)
from sync_server.seating.models import (
    EventLayoutRecord,
    LayoutRecord,
    LayoutZoneRecord,
    PolicyRecord,
    SeatGroupRecord,
    SeatRecord,
)
from sync_server.seating.rules import FIELDS, Policy
from sync_server.seating.search.accessibility import Pairing
from sync_server.seating.search.geometry import NumberedSeat

IN_LIST_LIMIT = 500
"""The most seats looked up in one IN list; for more, all seats of the layout are read."""


def layout(
    session: Session, organisation_id: str, layout_id: str, *, venue_id: str | None = None, lock: bool = False
) -> LayoutRecord:
    """A layout of this organisation, at this venue if one is given; else NotFound."""
    wanted = select(LayoutRecord).where(LayoutRecord.id == layout_id, LayoutRecord.organisation_id == organisation_id)
    row = session.execute(wanted.with_for_update() if lock else wanted).scalar_one_or_none()
    if row is None or (venue_id is not None and row.venue_id != venue_id):
        raise NotFound("There is no such layout.", code="layout_not_found")
    return row


def layouts(
    session: Session, organisation_id: str, venue_id: str, *, limit: int, after: str | None
) -> Page[LayoutRecord]:
    """All versions of all layouts of a venue, oldest first."""
    mine = LayoutRecord.organisation_id == organisation_id, LayoutRecord.venue_id == venue_id
    wanted = select(LayoutRecord).where(*mine).order_by(LayoutRecord.id)
    start = decode_cursor(after, str)
    if start is not None:
        wanted = wanted.where(LayoutRecord.id > start[0])
    return paginate(session.execute(wanted.limit(limit + 1)).scalars().all(), limit, lambda row: (row.id,))


def newest_version(session: Session, family_id: str) -> int:
    """The highest version number of a layout."""
    statement = select(func.max(LayoutRecord.version)).where(LayoutRecord.family_id == family_id)
    return session.execute(statement).scalar_one()


def events_using(session: Session, layout_id: str) -> Sequence[str]:
    """The events that use this version."""
    statement = select(EventLayoutRecord.event_id).where(EventLayoutRecord.layout_id == layout_id)
    return session.execute(statement).scalars().all()


def zones(session: Session, layout_id: str) -> list[LayoutZone]:
    """The zones of a layout."""
    return [_layout_zone(row) for row in _zone_rows(session, layout_id)]


def _zone_rows(session: Session, layout_id: str) -> Sequence[LayoutZoneRecord]:
    statement = (
        select(LayoutZoneRecord).where(LayoutZoneRecord.layout_id == layout_id).order_by(LayoutZoneRecord.number)
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


def numbered_seats(session: Session, layout_id: str) -> list[NumberedSeat]:
    """The seats of a layout with their positions, in order of zone, row and place."""
    seat = SeatRecord
    columns = (seat.number, seat.zone_number, seat.section, seat.row, seat.row_order, seat.place)
    statement = select(*columns, seat.seat_number, seat.x, seat.y).where(seat.layout_id == layout_id)
    return [NumberedSeat(*row) for row in session.execute(statement.order_by(seat.number))]


def seat_numbers(session: Session, layout_id: str, named: Iterable[str]) -> dict[str, int]:
    """The numbers of seats by name, which is their seat_id or id."""
    wanted = set(named)
    if not wanted:
        return {}
    statement = select(SeatRecord.number, SeatRecord.seat_id, SeatRecord.id).where(SeatRecord.layout_id == layout_id)
    if len(wanted) <= IN_LIST_LIMIT:
        statement = statement.where(or_(SeatRecord.seat_id.in_(wanted), SeatRecord.id.in_(wanted)))
    rows = session.execute(statement)
    return {name: number for number, *names in rows for name in names if name in wanted}


@dataclass(frozen=True, slots=True)
class SeatDetails:
    """A seat with the details needed to sell it."""

    number: int
    seat_id: str
    zone: int
    section: str
    row: str
    seat_number: str
    category: str
    price_category: str


_DETAIL_COLUMNS = (
    SeatRecord.number,
    SeatRecord.seat_id,
    SeatRecord.zone_number,
    SeatRecord.section,
    SeatRecord.row,
    SeatRecord.seat_number,
    SeatRecord.category,
    SeatRecord.price_category,
)


def seats_by_name(session: Session, layout_id: str, named: Iterable[str]) -> dict[str, SeatDetails]:
    """Seats by name, which is their seat_id or id."""
    wanted = list(dict.fromkeys(named))
    found: dict[str, SeatDetails] = {}
    for start in range(0, len(wanted), IN_LIST_LIMIT):
        some = wanted[start : start + IN_LIST_LIMIT]
        by_name = or_(SeatRecord.seat_id.in_(some), SeatRecord.id.in_(some))
        statement = select(SeatRecord.id, *_DETAIL_COLUMNS).where(SeatRecord.layout_id == layout_id, by_name)
        for id, *columns in session.execute(statement):
            seat = SeatDetails(*cast("tuple[Any, ...]", columns))
            found |= {id: seat, seat.seat_id: seat}
    return found


@dataclass(frozen=True, slots=True)
class LocatedSeat(SeatDetails):
    """A seat with its details and position."""

    place: int
    x: float
    y: float


def seats_by_number(session: Session, layout_id: str, numbers: Iterable[int]) -> dict[int, SeatDetails]:
    """Some seats of a layout, by number."""
    wanted = sorted(set(numbers))
    found: dict[int, SeatDetails] = {}
    for start in range(0, len(wanted), IN_LIST_LIMIT):
        criteria = SeatRecord.layout_id == layout_id, SeatRecord.number.in_(wanted[start : start + IN_LIST_LIMIT])
        rows = session.execute(select(*_DETAIL_COLUMNS).where(*criteria))
        found |= {row.number: SeatDetails(*cast("tuple[Any, ...]", row)) for row in rows}
    return found


def located_seats(session: Session, layout_id: str) -> list[LocatedSeat]:
    """All seats of a layout, by number."""
    statement = select(*_DETAIL_COLUMNS, SeatRecord.place, SeatRecord.x, SeatRecord.y).where(
        SeatRecord.layout_id == layout_id
    )
    rows = session.execute(statement.order_by(SeatRecord.number))
    return [LocatedSeat(*cast("tuple[Any, ...]", row)) for row in rows]


def seat_names(session: Session, layout_id: str, numbers: Iterable[int]) -> list[str]:
    """The seat_ids of these seats, in order of number."""
    wanted = set(numbers)
    statement = select(SeatRecord.number, SeatRecord.seat_id).where(SeatRecord.layout_id == layout_id)
    if len(wanted) <= IN_LIST_LIMIT:
        statement = statement.where(SeatRecord.number.in_(wanted))
    rows = session.execute(statement.order_by(SeatRecord.number))
    return [seat_id for number, seat_id in rows if number in wanted]


def seats_by_zone(session: Session, layout_id: str, numbers: Iterable[int]) -> Counter[int]:
    """How many of these seats are in each zone."""
    wanted = set(numbers)
    statement = select(SeatRecord.number, SeatRecord.zone_number).where(SeatRecord.layout_id == layout_id)
    return Counter(zone for number, zone in session.execute(statement) if number in wanted) if wanted else Counter()


def pairings(session: Session, layout_id: str) -> tuple[Pairing, ...]:
    """The wheelchair places of a layout with their companion seats, by number."""
    special = SeatRecord.category.in_([Category.WHEELCHAIR.value, Category.COMPANION.value])
    seats = (
        session.execute(
            select(SeatRecord).where(SeatRecord.layout_id == layout_id, special).order_by(SeatRecord.number)
        )
        .scalars()
        .all()
    )
    numbers = {seat.seat_id: seat.number for seat in seats}
    companions: dict[int, set[int]] = {seat.number: set() for seat in seats if seat.category == Category.WHEELCHAIR}
    for one, other in _pairs(seats, groups(session, layout_id)):
        place, companion = numbers.get(one), numbers.get(other)
        if place in companions and companion is not None and companion not in companions:
            companions[place].add(companion)
    zone = {seat.number: seat.zone_number for seat in seats}
    return tuple(Pairing(place, zone[place], tuple(sorted(some))) for place, some in companions.items())


def _pairs(seats: Iterable[SeatRecord], grouped: Iterable[GroupPlan]) -> Iterable[tuple[str, str]]:
    for seat in seats:
        if seat.companion_seat_id is not None:
            yield seat.seat_id, seat.companion_seat_id
            yield seat.companion_seat_id, seat.seat_id
    for group in grouped:
        if group.group_type is GroupType.WHEELCHAIR_PAIR:
            yield from ((one, other) for one in group.seats for other in group.seats)


def groups(session: Session, layout_id: str) -> list[GroupPlan]:
    """The seat groups of a layout."""
    statement = select(SeatGroupRecord).where(SeatGroupRecord.layout_id == layout_id).order_by(SeatGroupRecord.number)
    rows = session.execute(statement).scalars()
    return [GroupPlan(GroupType(row.group_type), tuple(row.seats), row.details) for row in rows]


def plan(session: Session, row: LayoutRecord) -> LayoutPlan:
    """The whole layout as it was uploaded."""
    seats: dict[int, list[SeatPlan]] = {}
    # Columns, not objects: a stadium has sixty thousand seats.
    statement = select(*_PLAN_COLUMNS).where(SeatRecord.layout_id == row.id).order_by(SeatRecord.number)
    for seat in session.execute(statement):
        seats.setdefault(seat.zone_number, []).append(_seat_plan(seat))
    zones = tuple(_zone_plan(zone, seats.get(zone.number, [])) for zone in _zone_rows(session, row.id))
    return LayoutPlan(row.name, zones, row.description, tuple(groups(session, row.id)), row.drawing)


def _zone_plan(zone: LayoutZoneRecord, seats: Iterable[SeatPlan]) -> ZonePlan:
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


_PLAN_COLUMNS = (
    SeatRecord.zone_number,
    SeatRecord.drawn,
    SeatRecord.seat_id,
    SeatRecord.row,
    SeatRecord.seat_number,
    SeatRecord.x,
    SeatRecord.y,
    SeatRecord.category,
    SeatRecord.companion_seat_id,
    SeatRecord.section,
    SeatRecord.price_category,
    SeatRecord.aisle_after,
)


def _seat_plan(seat: Any) -> SeatPlan:
    return SeatPlan(
        seat_id=seat.seat_id,
        row=seat.row,
        number=seat.seat_number,
        x=seat.x if seat.drawn else None,
        y=seat.y if seat.drawn else None,
        category=Category(seat.category),
        companion_seat_id=seat.companion_seat_id,
        section=seat.section,
        price_category=seat.price_category,
        aisle_after=seat.aisle_after,
    )


def policy(session: Session, organisation_id: str) -> Policy:
    """The organisation's seating policy, or the defaults."""
    row = session.get(PolicyRecord, organisation_id)
    if row is None:
        return Policy()
    return Policy(**{name: getattr(row, name) for name in FIELDS}, mandatory=tuple(row.mandatory))


def find_event_layout(session: Session, organisation_id: str, event_id: str) -> EventLayoutRecord | None:
    """How an event uses a layout, or None."""
    row = session.get(EventLayoutRecord, event_id)
    return row if row is not None and row.organisation_id == organisation_id else None


def event_layout(session: Session, organisation_id: str, event_id: str) -> EventLayoutRecord:
    """How an event uses a layout; NotFound for an event without one, which sells general admission only."""
    row = find_event_layout(session, organisation_id, event_id)
    if row is None:
        raise NotFound("This event has no seating layout.", code="event_layout_not_found")
    return row


def guests_moving(session: Session, organisation_id: str, event_id: str) -> bool:
    """Whether guests of an event are being moved to other seats right now."""
    row = EventLayoutRecord
    criteria = row.event_id == event_id, row.organisation_id == organisation_id
    return bool(session.execute(select(row.moving).where(*criteria)).scalar_one_or_none())


def events_with_layout(session: Session) -> list[tuple[str, str]]:
    """All events with a layout, as (organisation, event)."""
    wanted = select(EventLayoutRecord.organisation_id, EventLayoutRecord.event_id).order_by(EventLayoutRecord.event_id)
    return [(row.organisation_id, row.event_id) for row in session.execute(wanted)]


def deltas(row: EventLayoutRecord) -> Deltas:
    """What an event changes about its layout, by number."""
    return Deltas(
        frozenset(row.blocked_seats),
        frozenset(row.disabled_zones),
        {int(number): changed for number, changed in row.zone_overrides.items()},
        {int(number): price for number, price in row.price_zones.items()},
    )
