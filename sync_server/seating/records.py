"""Turns a layout plan into rows of the tables."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any
from uuid import UUID, uuid5

from sqlalchemy import delete, insert
from sqlalchemy.orm import Session

from sync_server.plumbing.many import insert_many
from sync_server.seating.checks import check
from sync_server.seating.geometry import PlacedSeat, focus, placed
from sync_server.seating.hall import Point
from sync_server.seating.models import LayoutRecord, LayoutZoneRecord, SeatGroupRecord, SeatRecord
from sync_server.seating.plan import LayoutPlan, ZonePlan


def stable_id(family_id: str, kind: str, name: str) -> str:
    """The id of a seat or zone: made of its name, so that it is the same in every version of a layout."""
    return str(uuid5(_namespace(family_id), f"{kind}/{name}"))


_namespace = lru_cache(maxsize=64)(UUID)


@dataclass(frozen=True, slots=True)
class Drawn:
    """A plan without mistakes, with everything about it worked out that needs no database."""

    plan: LayoutPlan
    zones: tuple[tuple[ZonePlan, list[PlacedSeat], Point], ...]  # with their seats in place, and what they look at


def drawn(plan: LayoutPlan) -> Drawn:
    """InvalidRequest with every mistake of the plan. A stadium takes a second: call it before a transaction begins."""
    check(plan)
    standing = [(zone, placed(zone)) for zone in plan.zones]
    return Drawn(plan, tuple((zone, seats, focus(zone, seats)) for zone, seats in standing))


def write(session: Session, layout: LayoutRecord, of: Drawn) -> None:
    """Keep a plan's zones, seats and groups under this layout."""
    zones, seats = _rows(layout, of)
    session.execute(insert(LayoutZoneRecord), zones)
    insert_many(session, SeatRecord, seats, "")
    if of.plan.groups:
        session.execute(insert(SeatGroupRecord), list(_groups(layout, of.plan)))


def erase(session: Session, layout: LayoutRecord) -> None:
    """Forget what was written before."""
    for table in (SeatGroupRecord, SeatRecord, LayoutZoneRecord):
        session.execute(delete(table).where(table.layout_id == layout.id))


def _rows(layout: LayoutRecord, of: Drawn) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    zones: list[dict[str, Any]] = []
    seats: list[dict[str, Any]] = []
    for number, (zone, standing, looks_at) in enumerate(of.zones, start=1):
        zones.append(_zone(layout, number, zone, looks_at))
        first = len(seats) + 1
        seats += [_seat(layout, at, number, seat) for at, seat in enumerate(standing, start=first)]
    return zones, seats


def _zone(layout: LayoutRecord, number: int, zone: ZonePlan, looks_at: tuple[float, float]) -> dict[str, Any]:
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
        "focus_x": looks_at[0],
        "focus_y": looks_at[1],
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
        "seat_id": plan.seat_id,
        "zone_number": zone_number,
        "section": plan.section,
        "row": plan.row,
        "row_order": seat.row_order,
        "place": seat.place,
        "seat_number": plan.number,
        "x": seat.x,
        "y": seat.y,
        "drawn": plan.x is not None,
        "category": plan.category.value,
        "companion_seat_id": plan.companion_seat_id,
        "price_category": plan.price_category,
        "aisle_after": plan.aisle_after,
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
