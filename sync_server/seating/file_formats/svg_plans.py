"""Reads and writes layouts as SVG drawings whose shapes describe seats and zones in `data-` attributes.

Any drawing program will do. A circle, ellipse, rectangle, use or group with `data-seat` is a seat; it inherits
missing attributes (`data-zone`, `data-row`, `data-category` …) from the groups around it. A shape with
`data-capacity` is a zone without seats. The centre of a shape with `data-focus` is what the zone around it faces, and
outside of all zones what the whole plan faces. Scripts, links and styles are ignored; a document type, which entities
need, is refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from html import escape
from math import isfinite
from typing import Final, TypeVar
from xml.parsers import expat

from sync_server.seating.file_formats.group_names import GroupTable, WrittenGroup, written_groups
from sync_server.seating.file_formats.svg_transforms import IDENTITY, Matrix, apply, compose, parse
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

Attributes = Mapping[str, str]
Choice = TypeVar("Choice", bound=StrEnum)

INHERITED: Final = (
    "data-zone",
    "data-zone-type",
    "data-access-mode",
    "data-membership-tier",
    "data-allowed-roles",
    "data-section",
    "data-row",
    "data-category",
    "data-price-category",
    "data-group",
    "data-group-type",
    "data-sold-whole",
)
_NAMES: Final = {
    "seat_id": "data-seat",
    "companion_seat_id": "data-companion",
    "name": "data-zone",
    **{name: f"data-{name.replace('_', '-')}" for name in ("row", "number", "section", "capacity", "focus")},
    **{name: f"data-{name.replace('_', '-')}" for name in ("price_category", "membership_tier", "allowed_roles")},
}
MAX_DEPTH: Final = 100


@dataclass(slots=True)
class _Zone:
    place: str
    attributes: Attributes
    capacity: int | None = None
    focus: Point | None = None
    seats: list[PlannedSeat] = field(default_factory=list)
    places: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Scope:
    """Attributes and transform inherited from the groups around a shape."""

    attributes: Attributes = field(default_factory=dict)
    matrix: Matrix = IDENTITY


class _Drawing:
    """Parses the drawing in one pass, element by element."""

    def __init__(self, parser: expat.XMLParserType) -> None:
        self.mistakes = Mistakes()
        self.zones: dict[str, _Zone] = {}
        self.groups = GroupTable()
        self.focus: Point | None = None
        self._parser = parser
        self._stack = [_Scope()]
        parser.StartElementHandler = self._begin
        parser.EndElementHandler = self._end
        parser.StartDoctypeDeclHandler = self._doctype

    def _place(self) -> str:
        return f"line {self._parser.CurrentLineNumber}"

    def _doctype(self, *_: object) -> None:
        # Entities can only be declared in a document type: without one, no expansion, external file or entity bomb.
        self.mistakes.add(self._place(), "has a document type; save the drawing as plain SVG")
        self.mistakes.stop()

    def _begin(self, _name: str, attributes: dict[str, str]) -> None:
        if len(self._stack) > MAX_DEPTH:
            self.mistakes.add(self._place(), f"is nested more than {MAX_DEPTH} levels deep")
            self.mistakes.stop()
        parent = self._stack[-1]
        inherited = dict(parent.attributes)
        inherited.update((key, attributes[key].strip()) for key in INHERITED if key in attributes)
        scope = _Scope(inherited, compose(parent.matrix, self._transform(attributes)))
        self._stack.append(scope)
        if "data-seat" in attributes:
            self._seat(attributes, scope)
        elif "data-capacity" in attributes:
            self._capacity(attributes, scope)
        elif "data-focus" in attributes:
            self._focus(attributes, scope)

    def _focus(self, attributes: Attributes, scope: _Scope) -> None:
        point = self._centre(attributes, scope.matrix)
        faces = self._zone(scope) if scope.attributes.get("data-zone") else self
        if faces is not None and faces.focus is not None:
            self.mistakes.add(f"{self._place()}, data-focus", "is given twice for one zone, or for the whole layout")
        elif faces is not None:
            faces.focus = point

    def _end(self, _name: str) -> None:
        self._stack.pop()

    def _transform(self, attributes: Attributes) -> Matrix:
        try:
            return parse(attributes.get("transform", ""))
        except ValueError:
            self.mistakes.add(
                f"{self._place()}, transform", f"{attributes['transform']!r} is not a supported transform"
            )
            return IDENTITY

    def _zone(self, scope: _Scope) -> _Zone | None:
        name = scope.attributes.get("data-zone", "")
        if not name:
            self.mistakes.add(f"{self._place()}, data-zone", "is missing on the shape and on the groups around it")
            return None
        return self.zones.setdefault(name, _Zone(self._place(), scope.attributes))

    def _capacity(self, attributes: Attributes, scope: _Scope) -> None:
        zone = self._zone(scope)
        text = attributes["data-capacity"].strip()
        if zone is None:
            return
        if zone.capacity is not None:
            self.mistakes.add(f"{self._place()}, data-capacity", "is given twice for one zone")
        elif not (text.isascii() and text.isdigit() and len(text) < 10):
            self.mistakes.add(f"{self._place()}, data-capacity", f"{text!r} is not a whole number")
        else:
            zone.capacity = int(text)

    def _seat(self, attributes: Attributes, scope: _Scope) -> None:
        zone = self._zone(scope)
        row, number = scope.attributes.get("data-row", ""), attributes.get("data-number", "").strip()
        for name, value in (("data-seat", attributes["data-seat"].strip()), ("data-row", row), ("data-number", number)):
            if not value:
                self.mistakes.add(f"{self._place()}, {name}", "is empty or missing")
        point = self._centre(attributes, scope.matrix)
        category = self.choice(Category, scope.attributes, "data-category", self._place()) or Category.STANDARD
        if zone is None or point is None:
            return
        zone.places.append(self._place())
        self._group(scope, attributes["data-seat"].strip())
        zone.seats.append(
            PlannedSeat(
                seat_id=attributes["data-seat"].strip(),
                row=row,
                number=number,
                x=point[0],
                y=point[1],
                category=category,
                companion_seat_id=attributes.get("data-companion", "").strip() or None,
                section=scope.attributes.get("data-section", ""),
                price_category=scope.attributes.get("data-price-category", ""),
                aisle_after=attributes.get("data-aisle-after") == "yes",
            )
        )

    def _group(self, scope: _Scope, seat_id: str) -> None:
        kind = self.choice(GroupType, scope.attributes, "data-group-type", self._place())
        if name := scope.attributes.get("data-group", ""):
            whole = scope.attributes.get("data-sold-whole") == "yes"
            self.groups.add(scope.attributes["data-zone"], name, seat_id, kind, whole=whole, place=self._place())

    def _centre(self, attributes: Attributes, matrix: Matrix) -> tuple[float, float] | None:
        if "cx" in attributes or "cy" in attributes:
            x, y = self._length(attributes, "cx"), self._length(attributes, "cy")
        else:
            x = self._length(attributes, "x") + self._length(attributes, "width") / 2
            y = self._length(attributes, "y") + self._length(attributes, "height") / 2
        point = apply(matrix, x, y)
        if all(map(isfinite, point)):
            return round(point[0], 3), round(point[1], 3)
        self.mistakes.add(self._place(), "has coordinates that are not numbers")
        return None

    def _length(self, attributes: Attributes, name: str) -> float:
        try:
            return float(attributes.get(name, "0").strip().removesuffix("px") or 0)
        except ValueError:
            return float("nan")

    def choice(self, choices: type[Choice], attributes: Attributes, name: str, place: str) -> Choice | None:
        """One of the choices; None, and a mistake, for anything else."""
        if not attributes.get(name):
            return None
        try:
            return choices(attributes[name].lower())
        except ValueError:
            self.mistakes.add(f"{place}, {name}", f"{attributes[name]!r} is not one of {', '.join(choices)}")
            return None


def read(text: bytes, name: str) -> ReadPlan:
    """The layout in an SVG drawing, and every mistake with its line; InvalidRequest for what is no SVG."""
    parser = expat.ParserCreate()
    drawing = _Drawing(parser)
    try:
        parser.Parse(text, True)
    except expat.ExpatError as error:
        problem = expat.ErrorString(error.code)
        drawing.mistakes.add(f"line {error.lineno}, column {error.offset + 1}", f"is not valid XML ({problem})")
        drawing.mistakes.stop()
    zones = tuple(_zone(drawing, zone_name, zone) for zone_name, zone in drawing.zones.items())
    if not zones:
        drawing.mistakes.add("the drawing", "has no shape with data-seat or data-capacity")
        drawing.mistakes.stop()
    found = drawing.zones.values()
    places = Places(_NAMES, ", ", [zone.place for zone in found], [zone.places for zone in found])
    plan = LayoutPlan(name, zones, groups=drawing.groups.plans(drawing.mistakes), focus=drawing.focus)
    return ReadPlan(plan, drawing.mistakes, places)


def _zone(drawing: _Drawing, name: str, zone: _Zone) -> ZonePlan:
    default = ZoneType.RESERVED_SEATING if zone.seats else ZoneType.GA_STANDING
    roles = [role.strip() for role in zone.attributes.get("data-allowed-roles", "").split("|")]
    return ZonePlan(
        name=name,
        zone_type=drawing.choice(ZoneType, zone.attributes, "data-zone-type", zone.place) or default,
        capacity=len(zone.seats) if zone.capacity is None else zone.capacity,
        access_mode=drawing.choice(AccessMode, zone.attributes, "data-access-mode", zone.place) or AccessMode.PUBLIC,
        membership_tier=zone.attributes.get("data-membership-tier") or None,
        allowed_roles=tuple(role for role in roles if role),
        focus=zone.focus,
        seats=tuple(zone.seats),
    )


def write(plan: LayoutPlan) -> bytes:
    """The layout as an SVG drawing."""
    points = [(seat.x or 0.0, seat.y or 0.0) for seat in plan.seats()] or [(0.0, 0.0)]
    points += [focus for focus in (plan.focus, *(zone.focus for zone in plan.zones)) if focus is not None]
    groups = written_groups(plan)
    left, top = min(x for x, _ in points) - 1, min(y for _, y in points) - 1
    width, height = max(x for x, _ in points) - left + 1, max(y for _, y in points) - top + 1
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{left:g} {top:g} {width:g} {height:g}">',
        f"<title>{escape(plan.name)}</title>",
    ]
    lines += _focus_lines(plan.focus)
    for zone in plan.zones:
        lines += _zone_lines(zone, groups)
    return "\n".join([*lines, "</svg>", ""]).encode()


def _focus_lines(focus: Point | None) -> Iterator[str]:
    if focus is not None:
        yield f'<circle cx="{focus[0]:.12g}" cy="{focus[1]:.12g}" r="0.2" data-focus="yes"/>'


def _zone_lines(zone: ZonePlan, groups: Mapping[str, WrittenGroup]) -> Iterator[str]:
    attributes = {
        "data-zone": zone.name,
        "data-zone-type": zone.zone_type.value,
        "data-access-mode": zone.access_mode.value,
        "data-membership-tier": zone.membership_tier or "",
        "data-allowed-roles": "|".join(zone.allowed_roles),
    }
    yield f"<g{_written_attributes(attributes)}>"
    yield from _focus_lines(zone.focus)
    if not zone.zone_type.numbered:
        yield f'<rect{_written_attributes({"data-capacity": str(zone.capacity)})} width="1" height="1"/>'
    for at, seat in enumerate(zone.seats):
        yield _seat_line(seat, at, groups.get(seat.seat_id))
    yield "</g>"


def _seat_line(seat: PlannedSeat, at: int, group: WrittenGroup | None) -> str:
    attributes = {
        "data-seat": seat.seat_id,
        "data-section": seat.section,
        "data-row": seat.row,
        "data-number": seat.number,
        "data-category": seat.category.value,
        "data-price-category": seat.price_category,
        "data-companion": seat.companion_seat_id or "",
        "data-aisle-after": "yes" if seat.aisle_after else "",
    }
    if group is not None:
        attributes |= {
            "data-group": group.name,
            "data-group-type": group.kind,
            "data-sold-whole": group.sold_whole,
        }
    x, y = (float(at), 0.0) if seat.x is None or seat.y is None else (seat.x, seat.y)
    return f'<circle cx="{x:.12g}" cy="{y:.12g}" r="0.4"{_written_attributes(attributes)}/>'


def _written_attributes(attributes: Mapping[str, str]) -> str:
    return "".join(f' {name}="{escape(value)}"' for name, value in attributes.items() if value)
