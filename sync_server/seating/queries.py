"""Reads of layouts, of what events make of them, and of the policy; a foreign id answers as one that does not exist."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, cast

from sqlalchemy import func, or_, select
from sqlalchemy.orm import Session

from shared.errors import NotFound
from sync_server.plumbing.pages import Page, cut, position
from sync_server.seating.accessibility import Pairing
from sync_server.seating.geometry import NumberedSeat
from sync_server.seating.models import (
    EventLayoutRecord,
    LayoutRecord,
    LayoutZoneRecord,
    PolicyRecord,
    SeatGroupRecord,
    SeatRecord,
)
from sync_server.seating.overlay import Deltas, LayoutZone
from sync_server.seating.plan import (
    AccessMode,
    Category,
    GroupPlan,
    GroupType,
    LayoutPlan,
    SeatPlan,
    ZonePlan,
    ZoneType,
)
from sync_server.seating.rules import FIELDS, Policy

FEW = 500
"""So many seats are asked for by name; of more, all seats are read."""


def layout(
    session: Session, organisation_id: str, layout_id: str, *, venue_id: str | None = None, lock: bool = False
) -> LayoutRecord:
    """That layout of this organisation, at that venue where one is named, or NotFound."""
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
    start = position(after, str)
    if start is not None:
        wanted = wanted.where(LayoutRecord.id > start[0])
    return cut(session.execute(wanted.limit(limit + 1)).scalars().all(), limit, lambda row: (row.id,))


def newest_version(session: Session, family_id: str) -> int:
    """The number of the newest version of a layout."""
    there = select(func.max(LayoutRecord.version)).where(LayoutRecord.family_id == family_id)
    return session.execute(there).scalar_one()


def used_by(session: Session, layout_id: str) -> Sequence[str]:
    """The events that use this version."""
    there = select(EventLayoutRecord.event_id).where(EventLayoutRecord.layout_id == layout_id)
    return session.execute(there).scalars().all()


def zones(session: Session, layout_id: str) -> list[LayoutZone]:
    """The zones of a layout that was looked up before."""
    return [_layout_zone(row) for row in _zone_rows(session, layout_id)]


def _zone_rows(session: Session, layout_id: str) -> Sequence[LayoutZoneRecord]:
    here = select(LayoutZoneRecord).where(LayoutZoneRecord.layout_id == layout_id).order_by(LayoutZoneRecord.number)
    return session.execute(here).scalars().all()


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
    """Where the seats of a layout stand, in order of zone, row and place."""
    seat = SeatRecord
    columns = (seat.number, seat.zone_number, seat.section, seat.row, seat.row_order, seat.place)
    wanted = select(*columns, seat.seat_number, seat.x, seat.y).where(seat.layout_id == layout_id)
    return [NumberedSeat(*row) for row in session.execute(wanted.order_by(seat.number))]


def seat_numbers(session: Session, layout_id: str, named: Iterable[str]) -> dict[str, int]:
    """The numbers of seats by what they are called: their seat_id, or their id."""
    wanted = set(named)
    if not wanted:
        return {}
    here = select(SeatRecord.number, SeatRecord.seat_id, SeatRecord.id).where(SeatRecord.layout_id == layout_id)
    if len(wanted) <= FEW:
        here = here.where(or_(SeatRecord.seat_id.in_(wanted), SeatRecord.id.in_(wanted)))
    rows = session.execute(here)
    return {name: number for number, *names in rows for name in names if name in wanted}


@dataclass(frozen=True, slots=True)
class CalledSeat:
    """A seat as whoever sells it must know it."""

    number: int
    seat_id: str
    zone: int
    section: str
    row: str
    seat_number: str
    category: str
    price_category: str


_CALLED = (
    SeatRecord.number,
    SeatRecord.seat_id,
    SeatRecord.zone_number,
    SeatRecord.section,
    SeatRecord.row,
    SeatRecord.seat_number,
    SeatRecord.category,
    SeatRecord.price_category,
)


def seats_called(session: Session, layout_id: str, named: Iterable[str]) -> dict[str, CalledSeat]:
    """Seats by what they are called: their seat_id, or their id."""
    wanted = list(dict.fromkeys(named))
    found: dict[str, CalledSeat] = {}
    for start in range(0, len(wanted), FEW):
        some = wanted[start : start + FEW]
        named_so = or_(SeatRecord.seat_id.in_(some), SeatRecord.id.in_(some))
        here = select(SeatRecord.id, *_CALLED).where(SeatRecord.layout_id == layout_id, named_so)
        for id, *columns in session.execute(here):
            seat = CalledSeat(*cast("tuple[Any, ...]", columns))
            found |= {id: seat, seat.seat_id: seat}
    return found


@dataclass(frozen=True, slots=True)
class StandingSeat(CalledSeat):
    """The same, with where it stands."""

    place: int
    x: float
    y: float


def seats_numbered(session: Session, layout_id: str, numbers: Iterable[int]) -> dict[int, CalledSeat]:
    """Some seats of a layout, by number."""
    wanted = sorted(set(numbers))
    found: dict[int, CalledSeat] = {}
    for start in range(0, len(wanted), FEW):
        here = SeatRecord.layout_id == layout_id, SeatRecord.number.in_(wanted[start : start + FEW])
        rows = session.execute(select(*_CALLED).where(*here))
        found |= {row.number: CalledSeat(*cast("tuple[Any, ...]", row)) for row in rows}
    return found


def standing_seats(session: Session, layout_id: str) -> list[StandingSeat]:
    """All seats of a layout, by number."""
    here = select(*_CALLED, SeatRecord.place, SeatRecord.x, SeatRecord.y).where(SeatRecord.layout_id == layout_id)
    rows = session.execute(here.order_by(SeatRecord.number))
    return [StandingSeat(*cast("tuple[Any, ...]", row)) for row in rows]


def seat_names(session: Session, layout_id: str, numbers: Iterable[int]) -> list[str]:
    """The seat_ids of these numbers, in order."""
    wanted = set(numbers)
    here = select(SeatRecord.number, SeatRecord.seat_id).where(SeatRecord.layout_id == layout_id)
    if len(wanted) <= FEW:
        here = here.where(SeatRecord.number.in_(wanted))
    rows = session.execute(here.order_by(SeatRecord.number))
    return [seat_id for number, seat_id in rows if number in wanted]


def seats_by_zone(session: Session, layout_id: str, numbers: Iterable[int]) -> Counter[int]:
    """How many of these seats lie in each zone."""
    wanted = set(numbers)
    here = select(SeatRecord.number, SeatRecord.zone_number).where(SeatRecord.layout_id == layout_id)
    return Counter(zone for number, zone in session.execute(here) if number in wanted) if wanted else Counter()


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
    here = select(SeatGroupRecord).where(SeatGroupRecord.layout_id == layout_id).order_by(SeatGroupRecord.number)
    rows = session.execute(here).scalars()
    return [GroupPlan(GroupType(row.group_type), tuple(row.seats), row.details) for row in rows]


def plan(session: Session, row: LayoutRecord) -> LayoutPlan:
    """The whole layout as it was given to us."""
    seats: dict[int, list[SeatPlan]] = {}
    # Columns, not objects: a stadium has sixty thousand of them.
    here = select(*_PLAN_COLUMNS).where(SeatRecord.layout_id == row.id).order_by(SeatRecord.number)
    for seat in session.execute(here):
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
    """The organisation's seating policy; the defaults where it never said otherwise."""
    row = session.get(PolicyRecord, organisation_id)
    if row is None:
        return Policy()
    return Policy(**{name: getattr(row, name) for name in FIELDS}, mandatory=tuple(row.mandatory))


def maybe_event_layout(session: Session, organisation_id: str, event_id: str) -> EventLayoutRecord | None:
    """What an event makes of a layout, if it has one."""
    row = session.get(EventLayoutRecord, event_id)
    return row if row is not None and row.organisation_id == organisation_id else None


def event_layout(session: Session, organisation_id: str, event_id: str) -> EventLayoutRecord:
    """The same, or NotFound: an event without a layout sells general admission only."""
    row = maybe_event_layout(session, organisation_id, event_id)
    if row is None:
        raise NotFound("This event has no seating layout.", code="event_layout_not_found")
    return row


def moving(session: Session, organisation_id: str, event_id: str) -> bool:
    """Whether guests of an event are on their way to other seats, at this very moment."""
    row = EventLayoutRecord
    here = row.event_id == event_id, row.organisation_id == organisation_id
    return bool(session.execute(select(row.moving).where(*here)).scalar_one_or_none())


def houses_of_events(session: Session) -> list[tuple[str, str]]:
    """Every event that has a layout: organisation and event."""
    wanted = select(EventLayoutRecord.organisation_id, EventLayoutRecord.event_id).order_by(EventLayoutRecord.event_id)
    return [(row.organisation_id, row.event_id) for row in session.execute(wanted)]


def deltas(row: EventLayoutRecord) -> Deltas:
    """What an event changes, by number."""
    return Deltas(
        frozenset(row.blocked_seats),
        frozenset(row.disabled_zones),
        {int(number): changed for number, changed in row.zone_overrides.items()},
        {int(number): price for number, price in row.price_zones.items()},
    )
