"""Reads and writes layouts as CSV: one line per seat, and one per zone without seats.

What concerns a whole zone stands on its first line at least, what concerns the whole layout on any line.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from io import StringIO
from itertools import chain
from math import isfinite
from typing import Final, TypeVar

from shared.csv_cells import write_lines
from sync_server.seating.file_formats.csv_lines import Line, lines
from sync_server.seating.file_formats.group_names import GroupTable, WrittenGroup, written_groups
from sync_server.seating.layouts.mistakes import Mistakes
from sync_server.seating.layouts.plan import (
    AccessMode,
    Category,
    GroupType,
    LayoutPlan,
    PlannedSeat,
    Point,
    ZonePlan,
    ZoneType,
)
from sync_server.seating.layouts.reading import Places, ReadPlan

LAYOUT_COLUMNS: Final = ("layout_focus_x", "layout_focus_y")
ZONE_COLUMNS: Final = (
    "zone",
    "zone_type",
    "capacity",
    "access_mode",
    "membership_tier",
    "allowed_roles",
    "focus_x",
    "focus_y",
)
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
    "group",
    "group_type",
    "sold_whole",
)
COLUMNS: Final = (*LAYOUT_COLUMNS, *ZONE_COLUMNS, *SEAT_COLUMNS)
_NAMES: Final = {"coordinates": "x and y", "name": "zone", "focus": "focus_x and focus_y"}
_YES: Final = frozenset({"yes", "true", "1", "x"})

Choice = TypeVar("Choice", bound=StrEnum)
Value = TypeVar("Value")


@dataclass(slots=True)
class _Zone:
    first: int
    line: Line
    zone_type: ZoneType
    seats: list[PlannedSeat] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)  # where the seats stand


@dataclass(slots=True)
class _File:
    """What was read so far."""

    mistakes: Mistakes = field(default_factory=Mistakes)
    zones: dict[str, _Zone] = field(default_factory=dict)
    groups: GroupTable = field(default_factory=GroupTable)
    focus: Point | None = None


def read(text: bytes, name: str) -> ReadPlan:
    """The layout in a CSV file, and every mistake with its line and column."""
    file = _File()
    for number, line in lines(text, COLUMNS, "zone", file.mistakes):
        _read_line(file, number, line)
    plans = tuple(_zone(zone_name, zone, file.mistakes) for zone_name, zone in file.zones.items())
    places = Places(
        _NAMES,
        ", ",
        [f"line {zone.first}" for zone in file.zones.values()],
        [zone.lines for zone in file.zones.values()],
    )
    groups = file.groups.plans(file.mistakes)
    return ReadPlan(LayoutPlan(name, plans, groups=groups, focus=file.focus), file.mistakes, places)


def _read_line(file: _File, number: int, line: Line) -> None:
    place, mistakes = f"line {number}", file.mistakes
    if not any(line.values()):
        return
    _read_focus(file, line, place)
    if not line.get("zone"):
        mistakes.add(f"{place}, zone", "is empty")
        return
    kind = _choice(ZoneType, line, "zone_type", place, mistakes) or ZoneType.RESERVED_SEATING
    zone = file.zones.setdefault(line["zone"], _Zone(number, line, kind))
    _check_same(zone, line, place, mistakes)
    if line.get("row") or line.get("number"):
        seat = _seat(line, place, mistakes)
        zone.seats.append(seat)
        zone.lines.append(place)
        _read_group(file, line, place, seat)
    elif zone.first != number or zone.zone_type.numbered:
        mistakes.add(f"{place}, row", "is empty: a seat needs its row and its number")


def _read_focus(file: _File, line: Line, place: str) -> None:
    found = _point(line, *LAYOUT_COLUMNS, place, file.mistakes)
    if found is not None and file.focus not in {None, found}:
        file.mistakes.add(f"{place}, layout_focus_x", "differs from a line before: a layout has one focus")
    file.focus = file.focus or found


def _read_group(file: _File, line: Line, place: str, seat: PlannedSeat) -> None:
    kind = _choice(GroupType, line, "group_type", place, file.mistakes)
    whole = line.get("sold_whole", "").lower() in _YES
    if name := line.get("group", ""):
        file.groups.add(line["zone"], name, seat.seat_id, kind, whole=whole, place=place)
    elif kind is not None or whole:
        file.mistakes.add(f"{place}, group", "is empty: give the seats of one group the same name")


def _check_same(zone: _Zone, line: Line, place: str, mistakes: Mistakes) -> None:
    for column in ZONE_COLUMNS[1:]:
        if line.get(column) and line[column] != zone.line.get(column, ""):
            mistakes.add(f"{place}, {column}", f"differs from line {zone.first}, where this zone begins")


def _point(line: Line, x: str, y: str, place: str, mistakes: Mistakes) -> Point | None:
    found = _number(float, line, x, place, mistakes), _number(float, line, y, place, mistakes)
    if found[0] is not None and found[1] is not None:
        return found[0], found[1]
    if bool(line.get(x)) != bool(line.get(y)):
        mistakes.add(f"{place}, {x if line.get(y) else y}", "is empty: a point needs both x and y")
    return None


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
        aisle_after=line.get("aisle_after", "").lower() in _YES,
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
        focus=_point(zone.line, "focus_x", "focus_y", place, mistakes),
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
    groups = written_groups(plan)
    focus = _focus_columns("layout_focus", plan.focus)
    rows = (focus | row for zone in plan.zones for row in _zone_rows(zone, groups))
    write_lines(out, chain([COLUMNS], ([row.get(name, "") for name in COLUMNS] for row in rows)))
    return out.getvalue().encode()


def _focus_columns(name: str, focus: Point | None) -> dict[str, object]:
    written: dict[str, object] = {}
    for axis, value in zip("xy", focus or (), strict=False):
        written[f"{name}_{axis}"] = f"{value:.12g}"
    return written


def _zone_rows(zone: ZonePlan, groups: Mapping[str, WrittenGroup]) -> Iterable[dict[str, object]]:
    head: dict[str, object] = _focus_columns("focus", zone.focus) | {
        "zone": zone.name,
        "zone_type": zone.zone_type.value,
        "capacity": zone.capacity,
        "access_mode": zone.access_mode.value,
        "membership_tier": zone.membership_tier or "",
        "allowed_roles": "|".join(zone.allowed_roles),
    }
    return [head | _seat_columns(seat, groups.get(seat.seat_id)) for seat in zone.seats] or [head]


def _seat_columns(seat: PlannedSeat, group: WrittenGroup | None) -> dict[str, object]:
    written = group or WrittenGroup()
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
        "group": written.name,
        "group_type": written.kind,
        "sold_whole": written.sold_whole,
    }
