"""Builds the drawing of an event's seat map: every seat once, in compact columns; it changes only with the layout.

Seats come in the order of their numbers, row by row. Columns of repeated values are run-length encoded as [value,
count]. Coordinates are rounded to a grid and written as second differences, which are small because rows are straight
or gently curved. docs/seat-maps.md says how to read it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, Final

import orjson

from sync_server.seating.layouts.overlay import LayoutZone
from sync_server.seating.layouts.plan import AccessMode, ZoneType
from sync_server.seating.models import EventLayoutRecord, LayoutRecord
from sync_server.seating.plans.layout_seats import LayoutSeats, SeatGroup
from sync_server.seating.plans.seat_plan import SeatPlan
from sync_server.seating.rules import Policy
from sync_server.seating.search.allocation_grid import Row

FORMAT: Final = 2
STEPS: Final = 4_000
"""Grid steps along the longer side of the drawing: finer than any screen."""

_ID_COLUMNS: Final = ("layout_id", "disabled_zones", "zone_overrides", "price_zones", "event_zones")


def drawing_id(row: EventLayoutRecord, policy: Policy) -> str:
    """The id of what `draw` returns; it changes whenever the drawing would."""
    columns = (getattr(row, name) for name in _ID_COLUMNS)
    inputs = orjson.dumps([FORMAT, policy.companion_price_category, *columns], option=orjson.OPT_SORT_KEYS)
    return hashlib.sha256(inputs).hexdigest()[:20]


def draw(plan: SeatPlan, layout: LayoutRecord) -> dict[str, Any]:
    """The seat map of an event: zones, seats, and the other shapes of the drawing."""
    return {
        "format": FORMAT,
        "id": plan.drawing_id,
        "name": layout.name,
        "layout": {"id": layout.id, "family": layout.family_id, "version": layout.version},
        "zones": [_zone(zone, plan) for zone in plan.layout.zones],
        "seats": _seats(plan.layout),
        "focus": list(plan.layout.focus),
        "groups": [_group(group) for group in plan.layout.groups],
        "companion_price_category": plan.policy.companion_price_category or None,
        "companions": [[pairing.wheelchair, *pairing.companions] for pairing in plan.layout.pairings],
        "drawing": layout.drawing,
    }


def _zone(zone: LayoutZone, plan: SeatPlan) -> dict[str, Any]:
    changed: Mapping[str, Any] = plan.deltas.zones.get(zone.number, {})
    kind = ZoneType(changed.get("zone_type", zone.zone_type))
    mode = AccessMode(changed.get("access_mode", zone.access_mode))
    tier = changed.get("membership_tier", zone.membership_tier)
    return {
        "number": zone.number,
        "id": zone.id,
        "event_zone": plan.event_zones.get(zone.number),
        "name": zone.name,
        "zone_type": kind.value,
        "numbered": kind.numbered,
        "open": zone.number not in plan.deltas.disabled,
        "access_mode": mode.value,
        "membership_tier": tier if mode is AccessMode.MEMBERSHIP_TIER else None,
        "ticket_types": list(plan.deltas.prices.get(zone.number, {}).get("ticket_types", [])),
        "focus": list(zone.focus),
    }


def _group(group: SeatGroup) -> dict[str, Any]:
    return {
        "group_type": group.kind.value,
        "name": group.name or None,
        "sold_whole": group.sold_whole,
        "seats": list(group.seats),
    }


def _seats(layout: LayoutSeats) -> dict[str, Any]:
    numbers, rows = range(1, len(layout) + 1), layout.rows
    scale, left, top = _grid(rows)
    labels = [[label for label, seat in zip(row.names, row.seats, strict=True) if seat is not None] for row in rows]
    points = [[point for point, seat in zip(row.points, row.seats, strict=True) if seat is not None] for row in rows]
    return {
        "first": 1,
        "count": len(layout),
        "scale": scale,
        "origin": [left, top],
        "zones": run_lengths(layout.zones_of_seats()),
        "sections": run_lengths(row.section for row in rows),
        "rows": [[row.label, len(of_row)] for row, of_row in zip(rows, labels, strict=True)],  # label, seats
        "labels": [_labels(of_row) for of_row in labels],
        "seat_ids": layout.names,
        "x": [step for row in points for step in second_differences(round((x - left) / scale) for x, _ in row)],
        "y": [step for row in points for step in second_differences(round((y - top) / scale) for _, y in row)],
        "categories": run_lengths(layout.category(number).value for number in numbers),
        "price_categories": run_lengths(layout.price_category(number) for number in numbers),
        "aisles_after": [seat for row in rows for seat in _before_aisles(layout, row)],
    }


def _grid(rows: Sequence[Row]) -> tuple[float, float, float]:
    """The width of a grid step, and the left and top of the grid."""
    xs, ys = [x for row in rows for x, _ in row.points], [y for row in rows for _, y in row.points]
    if not xs:
        return 1.0, 0.0, 0.0
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


def _before_aisles(layout: LayoutSeats, row: Row) -> Iterator[int]:
    for seat, after in zip(row.seats, (*row.seats[1:], 0), strict=True):
        if seat is not None and (after is None or layout.aisle_after(seat)):
            yield seat
