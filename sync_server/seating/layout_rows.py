"""Turns layout plans into table rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final
from uuid import UUID, uuid5

from sqlalchemy import delete, insert, select
from sqlalchemy.orm import Session

from sync_server.plumbing.sql.bulk import insert_many
from sync_server.seating.layouts.plan import LayoutPlan, ZonePlan, same_fields
from sync_server.seating.layouts.reading import ReadPlan
from sync_server.seating.layouts.validation import check
from sync_server.seating.models import LayoutRecord, LayoutZoneRecord, SeatGroupRecord, SeatRecord
from sync_server.seating.search.allocation_grid import Point
from sync_server.seating.search.geometry import PlacedSeat, focus, place_zones

Row = dict[str, Any]
Batch = tuple[str, list[Row]]
"""The kind of some rows, zones, seats or groups, and the rows."""
WHOLE: Final = 1_000_000
"""All rows of any layout at once."""


def stable_id(family_id: str, kind: str, name: str) -> str:
    """The id of a seat or zone, derived from its name so that it is the same in every version of a layout."""
    return str(stable_uuid(family_id, kind, name))


def stable_uuid(family_id: str, kind: str, name: str) -> UUID:
    """The same, as a UUID."""
    return uuid5(_namespace(family_id), f"{kind}/{name}")


_namespace = lru_cache(maxsize=64)(UUID)


@dataclass(frozen=True, slots=True)
class PreparedLayout:
    """A valid plan with its geometry worked out, ready to be written."""

    plan: LayoutPlan
    zones: tuple[tuple[ZonePlan, list[PlacedSeat], Point], ...]  # with placed seats and focus
    focus: Point  # what all seats face


def prepare(plan: LayoutPlan | ReadPlan) -> PreparedLayout:
    """Check a plan and work out its geometry; InvalidRequest lists every mistake.

    A stadium takes a second, so call this before the transaction begins.
    """
    checked = check(plan)
    zones = [(zone, seats, focus(zone, seats, checked.focus)) for zone, seats in place_zones(checked.zones)]
    first = next((faces for _, seats, faces in zones if seats), (0.0, 0.0))
    return PreparedLayout(checked, tuple(zones), checked.focus or first)


def columns(prepared: PreparedLayout) -> Row:
    """What the layout's own row says of its plan."""
    plan = prepared.plan
    return {
        "name": plan.name,
        "description": plan.description,
        "total_capacity": plan.capacity,
        "drawing": dict(plan.drawing),
        "focus_x": prepared.focus[0],
        "focus_y": prepared.focus[1],
        "focus_drawn": plan.focus is not None,
    }


@dataclass(frozen=True, slots=True)
class LayoutKey:
    """What the rows of a layout need to know of it."""

    organisation_id: str
    id: str
    family_id: str

    @classmethod
    def of(cls, layout: LayoutRecord) -> LayoutKey:
        """The key of a stored layout."""
        return cls(layout.organisation_id, layout.id, layout.family_id)


def write(session: Session, layout: LayoutRecord, prepared: PreparedLayout) -> None:
    """Store the zones, seats and groups of a plan under this layout."""
    for batch in batches(LayoutKey.of(layout), prepared, size=WHOLE):
        insert_batch(session, *batch)


def batches(layout: LayoutKey, prepared: PreparedLayout, *, size: int) -> Iterator[Batch]:
    """The rows of a plan in the order in which they can be stored, at most `size` at a time."""
    for kind, rows in (
        ("zones", [_zone(layout, number, *zone) for number, zone in enumerate(prepared.zones, start=1)]),
        ("seats", list(_seats(layout, prepared))),
        ("groups", list(_groups(layout, prepared.plan))),
    ):
        yield from ((kind, rows[start : start + size]) for start in range(0, len(rows), size))


def insert_batch(session: Session, kind: str, rows: Sequence[Row]) -> None:
    """Store rows that `batches` has made."""
    if kind == "seats":
        insert_many(session, SeatRecord, rows, "")
    elif rows:
        session.execute(insert(LayoutZoneRecord if kind == "zones" else SeatGroupRecord), list(rows))


def erase(session: Session, layout: LayoutRecord) -> None:
    """Delete the stored zones, seats and groups of this layout."""
    while erase_some(session, LayoutKey.of(layout), most=WHOLE):
        pass


def erase_some(session: Session, layout: LayoutKey, *, most: int) -> bool:
    """Delete at most so many rows of this layout; whether there were any."""
    for table in (SeatGroupRecord, SeatRecord, LayoutZoneRecord):
        here = table.organisation_id == layout.organisation_id, table.layout_id == layout.id
        numbers = session.scalars(select(table.number).where(*here).order_by(table.number).limit(most)).all()
        if numbers:
            session.execute(delete(table).where(*here, table.number <= numbers[-1]))
            return True
    return False


def _seats(layout: LayoutKey, prepared: PreparedLayout) -> Iterator[Row]:
    seats = ((zone, seat) for zone, (_, placed, _) in enumerate(prepared.zones, start=1) for seat in placed)
    return (_seat(layout, number, zone, seat) for number, (zone, seat) in enumerate(seats, start=1))


def _zone(layout: LayoutKey, number: int, zone: ZonePlan, _seats: object, zone_focus: tuple[float, float]) -> Row:
    return {
        "layout_id": layout.id,
        "number": number,
        "id": stable_id(layout.family_id, "zone", zone.name),
        "organisation_id": layout.organisation_id,
        "name": zone.name,
        "zone_type": zone.zone_type.value,
        "capacity": zone.capacity,
        "access_mode": zone.access_mode.value,
        "membership_tier": zone.membership_tier,
        "allowed_roles": list(zone.allowed_roles),
        "focus_x": zone_focus[0],
        "focus_y": zone_focus[1],
        "focus_drawn": zone.focus is not None,
        "details": dict(zone.details),
    }


def _seat(layout: LayoutKey, number: int, zone_number: int, seat: PlacedSeat) -> Row:
    plan = seat.plan
    return {
        "layout_id": layout.id,
        "number": number,
        "id": stable_id(layout.family_id, "seat", plan.seat_id),
        "organisation_id": layout.organisation_id,
        "zone_number": zone_number,
        "row_order": seat.row_order,
        "place": seat.place,
        "seat_number": plan.number,
        "x": seat.x,
        "y": seat.y,
        "drawn": plan.x is not None,
        "category": plan.category.value,
        **same_fields(plan),
    }


def _groups(layout: LayoutKey, plan: LayoutPlan) -> Iterator[Row]:
    for number, group in enumerate(plan.groups, start=1):
        yield {
            "layout_id": layout.id,
            "number": number,
            "organisation_id": layout.organisation_id,
            "group_type": group.group_type.value,
            "seats": list(group.seats),
            "details": dict(group.details),
            "sold_whole": group.sold_whole,
        }
