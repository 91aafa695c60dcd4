"""Reads and writes layouts as SVG drawings whose shapes say in `data-` attributes which seat or zone they are.

Any drawing program will do: a circle, ellipse, rectangle, use or group with `data-seat` is a seat, and takes what it
does not say itself (`data-zone`, `data-row`, `data-category` …) from the groups around it. A shape with `data-capacity`
is a zone without seats. Scripts, links and styles are not looked at; a document type is refused, and with it entities.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from html import escape
from math import isfinite
from typing import Final, TypeVar
from xml.parsers import expat

from sync_server.seating.mistakes import Mistakes
from sync_server.seating.plan import AccessMode, Category, LayoutPlan, SeatPlan, ZonePlan, ZoneType
from sync_server.seating.transforms import IDENTITY, Matrix, moved, parse, times

Attributes = Mapping[str, str]
Word = TypeVar("Word", bound=StrEnum)

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
)
DEEPEST: Final = 100


@dataclass(slots=True)
class _Zone:
    place: str
    said: Attributes
    capacity: int | None = None
    seats: list[SeatPlan] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Around:
    """What the groups around a shape say of it."""

    said: Attributes = field(default_factory=dict)
    matrix: Matrix = IDENTITY


class _Drawing:
    """Walks through the drawing once, element by element."""

    def __init__(self, parser: expat.XMLParserType) -> None:
        self.mistakes = Mistakes()
        self.zones: dict[str, _Zone] = {}
        self._parser = parser
        self._around = [_Around()]
        parser.StartElementHandler = self._begin
        parser.EndElementHandler = self._end
        parser.StartDoctypeDeclHandler = self._doctype

    def _place(self) -> str:
        return f"line {self._parser.CurrentLineNumber}"

    def _doctype(self, *_: object) -> None:
        # Entities are only declared in a document type: no expansion, no outside file, no bomb.
        self.mistakes.add(self._place(), "has a document type; save the drawing as plain SVG")
        self.mistakes.stop()

    def _begin(self, _name: str, attributes: dict[str, str]) -> None:
        if len(self._around) > DEEPEST:
            self.mistakes.add(self._place(), f"is nested more than {DEEPEST} levels deep")
            self.mistakes.stop()
        around = self._around[-1]
        said = dict(around.said)
        said.update((key, attributes[key].strip()) for key in INHERITED if key in attributes)
        here = _Around(said, times(around.matrix, self._transform(attributes)))
        self._around.append(here)
        if "data-seat" in attributes:
            self._seat(attributes, here)
        elif "data-capacity" in attributes:
            self._room(attributes, here)

    def _end(self, _name: str) -> None:
        self._around.pop()

    def _transform(self, attributes: Attributes) -> Matrix:
        try:
            return parse(attributes.get("transform", ""))
        except ValueError:
            self.mistakes.add(f"{self._place()}, transform", f"{attributes['transform']!r} is none that is known")
            return IDENTITY

    def _zone(self, here: _Around) -> _Zone | None:
        name = here.said.get("data-zone", "")
        if not name:
            self.mistakes.add(f"{self._place()}, data-zone", "is missing, on the shape and on the groups around it")
            return None
        return self.zones.setdefault(name, _Zone(self._place(), here.said))

    def _room(self, attributes: Attributes, here: _Around) -> None:
        zone = self._zone(here)
        said = attributes["data-capacity"].strip()
        if zone is None:
            return
        if zone.capacity is not None:
            self.mistakes.add(f"{self._place()}, data-capacity", "is said twice of one zone")
        elif not (said.isascii() and said.isdigit() and len(said) < 10):
            self.mistakes.add(f"{self._place()}, data-capacity", f"{said!r} is no whole number")
        else:
            zone.capacity = int(said)

    def _seat(self, attributes: Attributes, here: _Around) -> None:
        zone = self._zone(here)
        row, number = here.said.get("data-row", ""), attributes.get("data-number", "").strip()
        for name, value in (("data-seat", attributes["data-seat"].strip()), ("data-row", row), ("data-number", number)):
            if not value:
                self.mistakes.add(f"{self._place()}, {name}", "is empty or missing")
        point = self._middle(attributes, here.matrix)
        category = self.word(Category, here.said, "data-category", self._place()) or Category.STANDARD
        if zone is None or point is None:
            return
        zone.seats.append(
            SeatPlan(
                seat_id=attributes["data-seat"].strip(),
                row=row,
                number=number,
                x=point[0],
                y=point[1],
                category=category,
                companion_seat_id=attributes.get("data-companion", "").strip() or None,
                section=here.said.get("data-section", ""),
                price_category=here.said.get("data-price-category", ""),
                aisle_after=attributes.get("data-aisle-after") == "yes",
            )
        )

    def _middle(self, attributes: Attributes, matrix: Matrix) -> tuple[float, float] | None:
        if "cx" in attributes or "cy" in attributes:
            x, y = self._length(attributes, "cx"), self._length(attributes, "cy")
        else:
            x = self._length(attributes, "x") + self._length(attributes, "width") / 2
            y = self._length(attributes, "y") + self._length(attributes, "height") / 2
        point = moved(matrix, x, y)
        if all(map(isfinite, point)):
            return round(point[0], 3), round(point[1], 3)
        self.mistakes.add(self._place(), "lies nowhere: its coordinates are no numbers")
        return None

    def _length(self, attributes: Attributes, name: str) -> float:
        try:
            return float(attributes.get(name, "0").strip().removesuffix("px") or 0)
        except ValueError:
            return float("nan")

    def word(self, words: type[Word], said: Attributes, name: str, place: str) -> Word | None:
        """A word of a closed list, or a mistake."""
        if not said.get(name):
            return None
        try:
            return words(said[name].lower())
        except ValueError:
            self.mistakes.add(f"{place}, {name}", f"{said[name]!r} is none of {', '.join(words)}")
            return None


def read(text: bytes, name: str) -> LayoutPlan:
    """The layout in such a drawing; InvalidRequest that lists every mistake with its line."""
    parser = expat.ParserCreate()
    drawing = _Drawing(parser)
    try:
        parser.Parse(text, True)
    except expat.ExpatError as error:
        problem = expat.ErrorString(error.code)
        drawing.mistakes.add(f"line {error.lineno}, column {error.offset + 1}", f"is no XML ({problem})")
    drawing.mistakes.stop()
    zones = tuple(_zone(drawing, zone_name, zone) for zone_name, zone in drawing.zones.items())
    if not zones:
        drawing.mistakes.add("the drawing", "has no shape with data-seat or data-capacity")
    drawing.mistakes.stop()
    return LayoutPlan(name, zones)


def _zone(drawing: _Drawing, name: str, zone: _Zone) -> ZonePlan:
    usual = ZoneType.RESERVED_SEATING if zone.seats else ZoneType.GA_STANDING
    roles = [role.strip() for role in zone.said.get("data-allowed-roles", "").split("|")]
    return ZonePlan(
        name=name,
        zone_type=drawing.word(ZoneType, zone.said, "data-zone-type", zone.place) or usual,
        capacity=len(zone.seats) if zone.capacity is None else zone.capacity,
        access_mode=drawing.word(AccessMode, zone.said, "data-access-mode", zone.place) or AccessMode.PUBLIC,
        membership_tier=zone.said.get("data-membership-tier") or None,
        allowed_roles=tuple(role for role in roles if role),
        seats=tuple(zone.seats),
    )


def write(plan: LayoutPlan) -> bytes:
    """The layout as such a drawing."""
    points = [(seat.x or 0.0, seat.y or 0.0) for seat in plan.seats()] or [(0.0, 0.0)]
    left, top = min(x for x, _ in points) - 1, min(y for _, y in points) - 1
    width, height = max(x for x, _ in points) - left + 1, max(y for _, y in points) - top + 1
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{left:g} {top:g} {width:g} {height:g}">',
        f"<title>{escape(plan.name)}</title>",
    ]
    for zone in plan.zones:
        lines += _zone_lines(zone)
    return "\n".join([*lines, "</svg>", ""]).encode()


def _zone_lines(zone: ZonePlan) -> Iterator[str]:
    said = {
        "data-zone": zone.name,
        "data-zone-type": zone.zone_type.value,
        "data-access-mode": zone.access_mode.value,
        "data-membership-tier": zone.membership_tier or "",
        "data-allowed-roles": "|".join(zone.allowed_roles),
    }
    yield f"<g{_attributes(said)}>"
    if not zone.zone_type.numbered:
        yield f'<rect{_attributes({"data-capacity": str(zone.capacity)})} width="1" height="1"/>'
    for at, seat in enumerate(zone.seats):
        yield _seat_line(seat, at)
    yield "</g>"


def _seat_line(seat: SeatPlan, at: int) -> str:
    said = {
        "data-seat": seat.seat_id,
        "data-section": seat.section,
        "data-row": seat.row,
        "data-number": seat.number,
        "data-category": seat.category.value,
        "data-price-category": seat.price_category,
        "data-companion": seat.companion_seat_id or "",
        "data-aisle-after": "yes" if seat.aisle_after else "",
    }
    x, y = (float(at), 0.0) if seat.x is None or seat.y is None else (seat.x, seat.y)
    return f'<circle cx="{x:.12g}" cy="{y:.12g}" r="0.4"{_attributes(said)}/>'


def _attributes(said: Mapping[str, str]) -> str:
    return "".join(f' {name}="{escape(value)}"' for name, value in said.items() if value)
