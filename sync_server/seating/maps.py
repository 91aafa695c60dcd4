"""Draws an event's house for pages: every seat once, by columns, as small as can be; it changes with the layout only.

Seats come in the order of their numbers, which is row by row. Whole columns that repeat are written as runs (value,
how often); coordinates as whole steps of a grid, each as the change of the change from seat to seat, because rows are
straight or gently bent. docs/seat-maps.md says how to read it.
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
from sync_server.seating.models import EventLayoutRecord, LayoutRecord, SeatRecord
from sync_server.seating.overlay import LayoutZone
from sync_server.seating.plan import AccessMode, ZoneType

FORMAT: Final = 1
STEPS: Final = 4_000
"""Grid steps along the longer side of the house: finer than any screen."""

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
_TELLING: Final = ("layout_id", "disabled_zones", "zone_overrides", "price_zones", "event_zones")


def plan_id(row: EventLayoutRecord) -> str:
    """The name of what `drawn` draws: another whenever it would draw anything otherwise."""
    told = orjson.dumps([FORMAT, *(getattr(row, name) for name in _TELLING)], option=orjson.OPT_SORT_KEYS)
    return hashlib.sha256(told).hexdigest()[:20]


def drawn(session: Session, row: EventLayoutRecord) -> dict[str, Any]:
    """The house of an event: zones, seats, and what the drawing shows beside them."""
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
        "companions": [[one.wheelchair, *one.companions] for one in queries.pairings(session, row.layout_id)],
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
        "zones": runs(seat.zone_number for seat in seats),
        "sections": runs(row[0].section for row in rows),
        "rows": [[row[0].row, len(row)] for row in rows],  # label, seats
        "labels": [_labels([seat.seat_number for seat in row]) for row in rows],
        "seat_ids": [_names(row) for row in rows],
        "x": [step for row in rows for step in bends(round((seat.x - left) / scale) for seat in row)],
        "y": [step for row in rows for step in bends(round((seat.y - top) / scale) for seat in row)],
        "categories": runs(seat.category for seat in seats),
        "price_categories": runs(seat.price_category for seat in seats),
        "aisles_after": [seat.number for row in rows for seat in _before_aisles(row)],
    }


def _grid(seats: Sequence[Any]) -> tuple[float, float, float]:
    """How wide a step is, and where the grid begins."""
    if not seats:
        return 1.0, 0.0, 0.0
    xs, ys = [seat.x for seat in seats], [seat.y for seat in seats]
    width = max(max(xs) - min(xs), max(ys) - min(ys))
    return (width / STEPS or 1.0), min(xs), min(ys)


def runs(values: Iterable[Any]) -> list[list[Any]]:
    """Equal neighbours as one: [value, how often]."""
    return [[value, sum(1 for _ in some)] for value, some in groupby(values)]


def bends(places: Iterable[int]) -> list[int]:
    """Where the first is, how far the second is from it, and from then on how each step differs from the one before."""
    told, at, step = [], 0, 0
    for count, place in enumerate(places):
        told.append(place - at - step)
        step = place - at if count else 0
        at = place
    return told


def _labels(labels: list[str]) -> list[Any]:
    """[first, step] where a row counts on evenly, else every label; numbers are numbers, words are words."""
    if len(labels) < 3 or not all(label.isascii() and label.isdigit() and str(int(label)) == label for label in labels):
        return labels
    numbers = [int(label) for label in labels]
    step = numbers[1] - numbers[0]
    even = numbers == [numbers[0] + step * place for place in range(len(numbers))]
    return [numbers[0], step] if even else labels


def _names(row: Sequence[Any]) -> Any:
    """What comes before each label of the row in its seat_id, where that is all there is to it; else every seat_id."""
    first = row[0].seat_id.removesuffix(row[0].seat_number)
    even = all(seat.seat_id == first + seat.seat_number for seat in row)
    return first if even else [seat.seat_id for seat in row]


def _before_aisles(row: Sequence[Any]) -> Iterable[Any]:
    following = [*(seat.place for seat in row[1:]), row[-1].place + 1]
    return [seat for seat, place in zip(row, following, strict=True) if seat.aisle_after or place > seat.place + 1]
