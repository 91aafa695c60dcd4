"""Reads and writes layouts as CSV: one line per seat, and one per zone without seats."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from io import StringIO
from itertools import chain
from math import isfinite
from typing import Final, TypeVar

from shared.csv_cells import write_lines
from sync_server.seating.file_formats.csv_lines import Line, lines
from sync_server.seating.layouts.mistakes import Mistakes
from sync_server.seating.layouts.plan import AccessMode, Category, LayoutPlan, PlannedSeat, ZonePlan, ZoneType

ZONE_COLUMNS: Final = ("zone", "zone_type", "capacity", "access_mode", "membership_tier", "allowed_roles")
SEAT_COLUMNS: Final = (
    "section",
    "row",
    "number",
    "x",
    "y",
    "category",
    "price_category",
    "seat_id",
    "companion_seat_id",
    "aisle_after",
)
COLUMNS: Final = (*ZONE_COLUMNS, *SEAT_COLUMNS)

Choice = TypeVar("Choice", bound=StrEnum)
Value = TypeVar("Value")


@dataclass(slots=True)
class _Zone:
    first: int
    line: Line
    zone_type: ZoneType
    seats: list[PlannedSeat] = field(default_factory=list)


def read(text: bytes, name: str) -> LayoutPlan:
    """The layout in a CSV file; InvalidRequest lists every mistake with its line and column."""
    mistakes = Mistakes()
    zones: dict[str, _Zone] = {}
    for number, line in lines(text, COLUMNS, "zone", mistakes):
        _read_line(zones, number, line, mistakes)
    mistakes.stop()
    plans = tuple(_zone(zone_name, zone, mistakes) for zone_name, zone in zones.items())
    mistakes.stop()
    return LayoutPlan(name, plans)


def _read_line(zones: dict[str, _Zone], number: int, line: Line, mistakes: Mistakes) -> None:
    place = f"line {number}"
    if not any(line.values()):
        return
    if not line.get("zone"):
        mistakes.add(f"{place}, zone", "is empty")
        return
    kind = _choice(ZoneType, line, "zone_type", place, mistakes) or ZoneType.RESERVED_SEATING
    zone = zones.setdefault(line["zone"], _Zone(number, line, kind))
    _check_same(zone, line, place, mistakes)
    if line.get("row") or line.get("number"):
        zone.seats.append(_seat(line, place, mistakes))
    elif zone.first != number or zone.zone_type.numbered:
        mistakes.add(f"{place}, row", "is empty: a seat needs its row and its number")


def _check_same(zone: _Zone, line: Line, place: str, mistakes: Mistakes) -> None:
    for column in ZONE_COLUMNS[1:]:
        if line.get(column) and line[column] != zone.line.get(column, ""):
            mistakes.add(f"{place}, {column}", f"differs from line {zone.first}, where this zone begins")


def _seat(line: Line, place: str, mistakes: Mistakes) -> PlannedSeat:
    for column in ("row", "number"):
        if not line.get(column):
            mistakes.add(f"{place}, {column}", "is empty")
    section, row, number = (line.get(column, "") for column in ("section", "row", "number"))
    parts = [part for part in (line["zone"], section, row, number) if part]
    return PlannedSeat(
        seat_id=line.get("seat_id") or "-".join(parts),
        row=row,
        number=number,
        x=_number(float, line, "x", place, mistakes),
        y=_number(float, line, "y", place, mistakes),
        category=_choice(Category, line, "category", place, mistakes) or Category.STANDARD,
        companion_seat_id=line.get("companion_seat_id") or None,
        section=section,
        price_category=line.get("price_category", ""),
        aisle_after=line.get("aisle_after", "").lower() in {"yes", "true", "1", "x"},
    )


def _zone(name: str, zone: _Zone, mistakes: Mistakes) -> ZonePlan:
    place = f"line {zone.first}"
    capacity = _number(int, zone.line, "capacity", place, mistakes)
    if capacity is None and not zone.zone_type.numbered:
        mistakes.add(f"{place}, capacity", f"is empty: a zone of type {zone.zone_type} needs a capacity")
    roles = [role.strip() for role in zone.line.get("allowed_roles", "").split("|") if role.strip()]
    return ZonePlan(
        name=name,
        zone_type=zone.zone_type,
        capacity=len(zone.seats) if capacity is None else capacity,
        access_mode=_choice(AccessMode, zone.line, "access_mode", place, mistakes) or AccessMode.PUBLIC,
        membership_tier=zone.line.get("membership_tier") or None,
        allowed_roles=tuple(roles),
        seats=tuple(zone.seats),
    )


def _choice(choices: type[Choice], line: Line, column: str, place: str, mistakes: Mistakes) -> Choice | None:
    value = line.get(column, "")
    if not value:
        return None
    try:
        return choices(value.lower())
    except ValueError:
        mistakes.add(f"{place}, {column}", f"{value!r} is not one of {', '.join(choices)}")
        return None


def _number(kind: Callable[[str], Value], line: Line, column: str, place: str, mistakes: Mistakes) -> Value | None:
    text = line.get(column, "")
    if not text:
        return None
    try:
        value = kind(text)
    except ValueError:
        value = None
    if value is None or (isinstance(value, float) and not isfinite(value)):
        mistakes.add(f"{place}, {column}", f"{text!r} is not a number")
        return None
    return value


def write(plan: LayoutPlan) -> bytes:
    """The layout as a CSV file."""
    out = StringIO()
    rows = (row for zone in plan.zones for row in _zone_rows(zone))
    write_lines(out, chain([COLUMNS], ([row.get(name, "") for name in COLUMNS] for row in rows)))
    return out.getvalue().encode()


def _zone_rows(zone: ZonePlan) -> Iterable[dict[str, object]]:
    head: dict[str, object] = {
        "zone": zone.name,
        "zone_type": zone.zone_type.value,
        "capacity": zone.capacity,
        "access_mode": zone.access_mode.value,
        "membership_tier": zone.membership_tier or "",
        "allowed_roles": "|".join(zone.allowed_roles),
    }
    return [head | _seat_columns(seat) for seat in zone.seats] or [head]


def _seat_columns(seat: PlannedSeat) -> dict[str, object]:
    return {
        "section": seat.section,
        "row": seat.row,
        "number": seat.number,
        "x": "" if seat.x is None else f"{seat.x:.12g}",
        "y": "" if seat.y is None else f"{seat.y:.12g}",
        "category": seat.category.value,
        "price_category": seat.price_category,
        "seat_id": seat.seat_id,
        "companion_seat_id": seat.companion_seat_id or "",
        "aisle_after": "yes" if seat.aisle_after else "",
    }
