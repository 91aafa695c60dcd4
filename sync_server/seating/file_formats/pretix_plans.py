"""Reads and writes seating plans in the open JSON format of pretix.

The format has zones, rows, seats, price categories and drawings, but no wheelchair places and no general admission:
those are lost on export, and zones without seats are left out. What the plan faces is where its drawing has the text
"Stage".
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import groupby
from typing import Any, Final

import orjson

from sync_server.seating.file_formats.json_shapes import Boolean, Fields, ListOf, Number, OneOf, Text
from sync_server.seating.layouts.mistakes import Mistakes
from sync_server.seating.layouts.plan import LayoutPlan, PlannedSeat, Point, ZonePlan, ZoneType
from sync_server.seating.layouts.reading import Places, ReadPlan

_STAGE: Final = "stage"
_ORIGIN: Final = {"x": 0, "y": 0}
_NAMES: Final = {"seat_id": "seat_guid", "number": "seat_number", "price_category": "category"}
_POSITION: Final = Fields({"x": Number(), "y": Number()})
_SEAT: Final = Fields(
    {
        "seat_guid": Text(longest=80),
        "seat_number": Text(longest=20),
        "position": _POSITION,
        "category": Text(longest=60),
    },
    {"uuid": Text(), "start_direction": Text(nullable=True), "radius": Number()},
)
_ROW: Final = Fields(
    {"row_number": Text(longest=20), "seats": ListOf(_SEAT)},
    {
        "position": _POSITION,
        "row_label": Text(nullable=True),
        "seat_label": Text(nullable=True),
        "uuid": Text(),
        "row_number_position": Text(nullable=True, choices=("start", "end", "both", "left", "right", "none")),
        "number_of_seats": Number(),
        "seats_spacing": Number(),
    },
)
_AREA_TEXT: Final = Fields({"text": Text(), "position": _POSITION}, {"color": Text(), "size": Number()})
_AREA: Final = Fields(
    {},
    {
        "color": Text(),
        "border_color": Text(),
        "rotation": Number(),
        "position": _POSITION,
        "uuid": Text(),
        "shape": Text(choices=("polygon", "rectangle", "ellipse", "circle", "text")),
        "polygon": Fields({"points": ListOf(_POSITION)}),
        "rectangle": Fields({"width": Number(), "height": Number()}),
        "ellipse": Fields({"radius": _POSITION}),
        "circle": Fields({"radius": Number()}),
        "text": OneOf(Text(), _AREA_TEXT),
        "width": Number(),
        "height": Number(),
    },
)
_ZONE: Final = Fields(
    {"position": _POSITION, "rows": ListOf(_ROW)},
    {"name": Text(longest=100), "zone_id": Text(), "uuid": Text(), "areas": ListOf(_AREA), "displayed": Boolean()},
)
_CATEGORY: Final = Fields({"name": Text(longest=60)}, {"color": Text()})
_PLAN: Final = Fields(
    {"name": Text(longest=100), "zones": ListOf(_ZONE), "categories": ListOf(_CATEGORY)},
    {"size": Fields({"width": Number(), "height": Number()})},
)


def read(text: bytes) -> ReadPlan:
    """The layout in a pretix file, and every mistake with its place; InvalidRequest for another shape of JSON."""
    mistakes = Mistakes()
    try:
        document = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        mistakes.add(f"line {error.lineno}, column {error.colno}", f"is not valid JSON ({error.msg})")
        document = None
    mistakes.stop()
    _PLAN.check(document, "", mistakes)
    mistakes.stop()
    _check_categories(document, mistakes)
    seated = [(at, zone) for at, zone in enumerate(document["zones"]) if _seats(zone)]
    name, zones = document["name"].strip() or "Seating plan", tuple(_zone(zone, at) for at, zone in seated)
    places = Places(_NAMES, ".", [f"zones[{at}]" for at, _ in seated], [_seat_places(at, zone) for at, zone in seated])
    return ReadPlan(LayoutPlan(name, zones, drawing=_drawing(document), focus=_stage(document)), mistakes, places)


def _seat_places(at: int, zone: Mapping[str, Any]) -> list[str]:
    return [
        f"zones[{at}].rows[{row_at}].seats[{seat_at}]"
        for row_at, row in enumerate(zone["rows"])
        for seat_at in range(len(row["seats"]))
    ]


def _stage(document: Mapping[str, Any]) -> Point | None:
    """Where the drawing says "Stage"."""
    for zone in document["zones"]:
        for area in zone.get("areas") or ():
            written = area.get("text", "")
            text = written if isinstance(written, str) else written["text"]
            if text.strip().casefold() == _STAGE:
                origins = [zone["position"], area.get("position", _ORIGIN)]
                origins += [] if isinstance(written, str) else [written["position"]]
                return float(sum(each["x"] for each in origins)), float(sum(each["y"] for each in origins))
    return None


def _check_categories(document: Mapping[str, Any], mistakes: Mistakes) -> None:
    categories = {category["name"] for category in document["categories"]}
    for zone_at, zone in enumerate(document["zones"]):
        for row_at, row in enumerate(zone["rows"]):
            for at, seat in enumerate(row["seats"]):
                if seat["category"] not in categories:
                    place = f"zones[{zone_at}].rows[{row_at}].seats[{at}].category"
                    mistakes.add(place, f"{seat['category']!r} is not a category of the plan")


def _seats(zone: Mapping[str, Any]) -> int:
    return sum(len(row["seats"]) for row in zone["rows"])


def _zone(zone: Mapping[str, Any], at: int) -> ZonePlan:
    # Rows of the same name in one zone are still different rows: sections keep them apart.
    seen: dict[str, int] = {}
    seats: list[PlannedSeat] = []
    for row in zone["rows"]:
        times = seen[row["row_number"]] = seen.get(row["row_number"], 0) + 1
        section = "" if times == 1 else f"part {times}"
        seats += [_seat(seat, row, zone, section) for seat in row["seats"]]
    return ZonePlan(_zone_name(zone, at), ZoneType.RESERVED_SEATING, len(seats), seats=tuple(seats))


def _zone_name(zone: Mapping[str, Any], at: int) -> str:
    return str(zone.get("name") or zone.get("zone_id") or f"Zone {at + 1}")


def _seat(seat: Mapping[str, Any], row: Mapping[str, Any], zone: Mapping[str, Any], section: str) -> PlannedSeat:
    origins = (zone["position"], row.get("position", {"x": 0, "y": 0}), seat["position"])
    return PlannedSeat(
        seat_id=seat["seat_guid"],
        row=row["row_number"] or "-",
        number=seat["seat_number"],
        x=float(sum(origin["x"] for origin in origins)),
        y=float(sum(origin["y"] for origin in origins)),
        section=section,
        price_category=seat["category"],
    )


def _drawing(document: Mapping[str, Any]) -> dict[str, Any]:
    areas = [{"position": zone["position"], "areas": zone["areas"]} for zone in document["zones"] if zone.get("areas")]
    return {"size": document.get("size"), "categories": document["categories"], "areas": areas}


def write(plan: LayoutPlan) -> bytes:
    """The layout as a pretix file."""
    zones = [_zone_out(zone) for zone in plan.zones if zone.seats]
    zones += [_areas_out(areas) for areas in plan.drawing.get("areas") or []]
    document = {"name": plan.name, "size": _size(plan), "categories": _categories(plan), "zones": zones}
    if plan.focus is not None and _stage(document) != plan.focus:
        zones.insert(0, _areas_out(_written_stage(plan.focus)))
    return orjson.dumps(document, option=orjson.OPT_INDENT_2)


def _written_stage(focus: Point) -> dict[str, Any]:
    text = {"text": "Stage", "position": _ORIGIN}
    area = {"shape": "text", "position": {"x": focus[0], "y": focus[1]}, "text": text}
    return {"position": _ORIGIN, "areas": [area]}


def _areas_out(areas: Mapping[str, Any]) -> dict[str, Any]:
    return {"name": "Drawing", "position": areas["position"], "rows": [], "areas": areas["areas"]}


def _zone_out(zone: ZonePlan) -> dict[str, Any]:
    rows = groupby(zone.seats, key=lambda seat: (seat.section, seat.row))
    return {
        "name": zone.name,
        "zone_id": zone.name,
        "position": {"x": 0, "y": 0},
        "rows": [_row_out(order, key[1], list(seats)) for order, (key, seats) in enumerate(rows)],
        "areas": [],
    }


def _row_out(order: int, name: str, seats: Iterable[PlannedSeat]) -> dict[str, Any]:
    return {
        "row_number": name,
        "row_number_position": "both",
        "position": {"x": 0, "y": 0},
        "seats": [_seat_out(order, at, seat) for at, seat in enumerate(seats)],
    }


def _seat_out(order: int, at: int, seat: PlannedSeat) -> dict[str, Any]:
    drawn = seat.x is not None and seat.y is not None
    return {
        "seat_guid": seat.seat_id,
        "seat_number": seat.number,
        "position": {"x": seat.x, "y": seat.y} if drawn else {"x": 25 * at, "y": 30 * order},
        "category": seat.price_category or "Standard",
    }


def _categories(plan: LayoutPlan) -> list[dict[str, Any]]:
    categories = list(plan.drawing.get("categories") or [])
    names = {category["name"] for category in categories}
    used = dict.fromkeys(seat.price_category or "Standard" for seat in plan.seats())
    return categories + [{"name": name} for name in used if name not in names]


def _size(plan: LayoutPlan) -> dict[str, Any]:
    if plan.drawing.get("size"):
        return dict(plan.drawing["size"])
    return {
        "width": round(max((seat.x or 0.0 for seat in plan.seats()), default=0.0)) + 50,
        "height": round(max((seat.y or 0.0 for seat in plan.seats()), default=0.0)) + 50,
    }
