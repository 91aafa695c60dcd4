"""Turns layout plans into table rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any
from uuid import UUID, uuid5

from sqlalchemy import delete, insert
from sqlalchemy.orm import Session

from sync_server.plumbing.sql.bulk import insert_many
from sync_server.seating.layouts.plan import LayoutPlan, ZonePlan, same_fields
from sync_server.seating.layouts.validation import check
from sync_server.seating.models import LayoutRecord, LayoutZoneRecord, SeatGroupRecord, SeatRecord
from sync_server.seating.search.allocation_grid import Point
from sync_server.seating.search.geometry import PlacedSeat, focus, place_seats


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


def prepare(plan: LayoutPlan) -> PreparedLayout:
    """Check a plan and work out its geometry; InvalidRequest lists every mistake.

    A stadium takes a second, so call this before the transaction begins.
    """
    check(plan)
    zones = [(zone, place_seats(zone)) for zone in plan.zones]
    return PreparedLayout(plan, tuple((zone, seats, focus(zone, seats)) for zone, seats in zones))


def write(session: Session, layout: LayoutRecord, prepared: PreparedLayout) -> None:
    """Store the zones, seats and groups of a plan under this layout."""
    zones, seats = _rows(layout, prepared)
    session.execute(insert(LayoutZoneRecord), zones)
    insert_many(session, SeatRecord, seats, "")
    if prepared.plan.groups:
        session.execute(insert(SeatGroupRecord), list(_groups(layout, prepared.plan)))


def erase(session: Session, layout: LayoutRecord) -> None:
    """Delete the stored zones, seats and groups of this layout."""
    for table in (SeatGroupRecord, SeatRecord, LayoutZoneRecord):
        here = table.organisation_id == layout.organisation_id, table.layout_id == layout.id
        session.execute(delete(table).where(*here))


def _rows(layout: LayoutRecord, prepared: PreparedLayout) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    zones: list[dict[str, Any]] = []
    seats: list[dict[str, Any]] = []
    for number, (zone, placed, zone_focus) in enumerate(prepared.zones, start=1):
        zones.append(_zone(layout, number, zone, zone_focus))
        first = len(seats) + 1
        seats += [_seat(layout, seat_number, number, seat) for seat_number, seat in enumerate(placed, start=first)]
    return zones, seats


def _zone(layout: LayoutRecord, number: int, zone: ZonePlan, zone_focus: tuple[float, float]) -> dict[str, Any]:
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


def _seat(layout: LayoutRecord, number: int, zone_number: int, seat: PlacedSeat) -> dict[str, Any]:
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


def _groups(layout: LayoutRecord, plan: LayoutPlan) -> Iterator[dict[str, Any]]:
    for number, group in enumerate(plan.groups, start=1):
        yield {
            "layout_id": layout.id,
            "number": number,
            "organisation_id": layout.organisation_id,
            "group_type": group.group_type.value,
            "seats": list(group.seats),
            "details": dict(group.details),
        }
