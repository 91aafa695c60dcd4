"""Builds the drawing of an event's seat map: every seat once, in compact columns; it changes only with the layout.

Seats come in the order of their numbers, row by row. Columns of repeated values are run-length encoded as [value,
count]. Coordinates are rounded to a grid and written as second differences, which are small because rows are straight
or gently curved. docs/seat-maps.md says how to read it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any, Final

import orjson
from sqlalchemy import select
from sqlalchemy.orm import Session

from sync_server.seating import queries
from sync_server.seating.layouts.overlay import LayoutZone
from sync_server.seating.layouts.plan import AccessMode, ZoneType
from sync_server.seating.models import EventLayoutRecord, LayoutRecord, SeatRecord

FORMAT: Final = 1
STEPS: Final = 4_000
"""Grid steps along the longer side of the drawing: finer than any screen."""

_COLUMNS: Final = (
    SeatRecord.number,
    SeatRecord.zone_number,
    SeatRecord.section,
    SeatRecord.row,
    SeatRecord.row_order,
    SeatRecord.place,
    SeatRecord.seat_number,
    SeatRecord.seat_id,
    SeatRecord.x,
    SeatRecord.y,
    SeatRecord.category,
    SeatRecord.price_category,
    SeatRecord.aisle_after,
)
_PLAN_ID_COLUMNS: Final = ("layout_id", "disabled_zones", "zone_overrides", "price_zones", "event_zones")


def plan_id(row: EventLayoutRecord) -> str:
    """The id of what `draw_map` returns; it changes whenever the drawing would."""
    inputs = orjson.dumps([FORMAT, *(getattr(row, name) for name in _PLAN_ID_COLUMNS)], option=orjson.OPT_SORT_KEYS)
    return hashlib.sha256(inputs).hexdigest()[:20]


def draw_map(session: Session, row: EventLayoutRecord) -> dict[str, Any]:
    """The seat map of an event: zones, seats, and the other shapes of the drawing."""
    layout = session.get_one(LayoutRecord, row.layout_id)
    zones = queries.zones(session, row.layout_id)
    seats = session.execute(select(*_COLUMNS).where(SeatRecord.layout_id == row.layout_id).order_by(SeatRecord.number))
    return {
        "format": FORMAT,
        "id": plan_id(row),
        "name": layout.name,
        "layout": {"id": layout.id, "family": layout.family_id, "version": layout.version},
        "zones": [_zone(zone, row) for zone in zones],
        "seats": _seats(seats.all()),
        "companions": [
            [pairing.wheelchair, *pairing.companions] for pairing in queries.pairings(session, row.layout_id)
        ],
        "drawing": layout.drawing,
    }


def _zone(zone: LayoutZone, row: EventLayoutRecord) -> dict[str, Any]:
    changed: Mapping[str, Any] = row.zone_overrides.get(str(zone.number), {})
    kind = ZoneType(changed.get("zone_type", zone.zone_type))
    mode = AccessMode(changed.get("access_mode", zone.access_mode))
    tier = changed.get("membership_tier", zone.membership_tier)
    return {
        "number": zone.number,
        "id": zone.id,
        "event_zone": row.event_zones.get(str(zone.number)),
        "name": zone.name,
        "zone_type": kind.value,
        "numbered": kind.numbered,
        "open": zone.number not in row.disabled_zones,
        "access_mode": mode.value,
        "membership_tier": tier if mode is AccessMode.MEMBERSHIP_TIER else None,
        "ticket_types": list(row.price_zones.get(str(zone.number), {}).get("ticket_types", [])),
        "focus": list(zone.focus),
    }


def _seats(seats: Sequence[Any]) -> dict[str, Any]:
    rows = [list(row) for _, row in groupby(seats, key=lambda seat: (seat.zone_number, seat.section, seat.row))]
    scale, left, top = _grid(seats)
    return {
        "first": seats[0].number if seats else 1,
        "count": len(seats),
        "scale": scale,
        "origin": [left, top],
        "zones": run_lengths(seat.zone_number for seat in seats),
        "sections": run_lengths(row[0].section for row in rows),
        "rows": [[row[0].row, len(row)] for row in rows],  # label, seats
        "labels": [_labels([seat.seat_number for seat in row]) for row in rows],
        "seat_ids": [_names(row) for row in rows],
        "x": [step for row in rows for step in second_differences(round((seat.x - left) / scale) for seat in row)],
        "y": [step for row in rows for step in second_differences(round((seat.y - top) / scale) for seat in row)],
        "categories": run_lengths(seat.category for seat in seats),
        "price_categories": run_lengths(seat.price_category for seat in seats),
        "aisles_after": [seat.number for row in rows for seat in _before_aisles(row)],
    }


def _grid(seats: Sequence[Any]) -> tuple[float, float, float]:
    """The width of a grid step, and the left and top of the grid."""
    if not seats:
        return 1.0, 0.0, 0.0
    xs, ys = [seat.x for seat in seats], [seat.y for seat in seats]
    width = max(max(xs) - min(xs), max(ys) - min(ys))
    return (width / STEPS or 1.0), min(xs), min(ys)


def run_lengths(values: Iterable[Any]) -> list[list[Any]]:
    """Run-length encoding: [value, count] for each run of equal values."""
    return [[value, sum(1 for _ in some)] for value, some in groupby(values)]


def second_differences(places: Iterable[int]) -> list[int]:
    """The first value, the first step, and then how much each step differs from the one before."""
    differences, at, step = [], 0, 0
    for count, place in enumerate(places):
        differences.append(place - at - step)
        step = place - at if count else 0
        at = place
    return differences


def _labels(labels: list[str]) -> list[Any]:
    """[first, step] for a row of evenly spaced numbers, else every label."""
    if len(labels) < 3 or not all(label.isascii() and label.isdigit() and str(int(label)) == label for label in labels):
        return labels
    numbers = [int(label) for label in labels]
    step = numbers[1] - numbers[0]
    evenly_spaced = numbers == [numbers[0] + step * place for place in range(len(numbers))]
    return [numbers[0], step] if evenly_spaced else labels


def _names(row: Sequence[Any]) -> Any:
    """The common prefix if every seat_id of the row is that prefix and the label, else every seat_id."""
    prefix = row[0].seat_id.removesuffix(row[0].seat_number)
    common = all(seat.seat_id == prefix + seat.seat_number for seat in row)
    return prefix if common else [seat.seat_id for seat in row]


def _before_aisles(row: Sequence[Any]) -> Iterable[Any]:
    next_places = [*(seat.place for seat in row[1:]), row[-1].place + 1]
    return [seat for seat, place in zip(row, next_places, strict=True) if seat.aisle_after or place > seat.place + 1]
