"""Where seats are: which seats of a row are neighbours, where the aisles are, and what a zone faces."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import dist
from typing import Final

from sync_server.seating.layouts.plan import PlannedSeat, ZonePlan
from sync_server.seating.search.allocation_grid import Point

AISLE: Final = 1.6
"""A gap this many times the usual one of its row is an aisle."""


@dataclass(frozen=True, slots=True)
class PlacedSeat:
    """A seat with its place in its row; places without a seat are aisles."""

    plan: PlannedSeat
    row_order: int  # of its zone, from the front
    place: int
    x: float
    y: float


def place_seats(zone: ZonePlan, behind: int = 0) -> list[PlacedSeat]:
    """The seats of a zone, row by row, each from one end to the other.

    Rows without positions are one behind the other, the first behind so many rows of other zones.
    """
    rows: dict[tuple[str, str], list[PlannedSeat]] = {}
    for seat in zone.seats:
        rows.setdefault((seat.section, seat.row), []).append(seat)
    sections = sorted({section for section, _ in rows}, key=[section for section, _ in rows].index)
    ordered = [(key, seats) for section in sections for key, seats in rows.items() if key[0] == section]
    return [each for order, (_, seats) in enumerate(ordered) for each in _placed_row(seats, order, behind)]


def _placed_row(seats: Sequence[PlannedSeat], order: int, behind: int) -> list[PlacedSeat]:
    drawn = all(seat.x is not None for seat in seats)
    lined_up = along(seats) if drawn else list(seats)
    points = [_point(seat, at, behind + order, drawn) for at, seat in enumerate(lined_up)]
    places = _places(lined_up, points)
    return [PlacedSeat(seat, order, place, *point) for seat, place, point in zip(lined_up, places, points, strict=True)]


def _point(seat: PlannedSeat, at: int, order: int, drawn: bool) -> Point:
    if drawn and seat.x is not None and seat.y is not None:
        return seat.x, seat.y
    return float(at), float(order)


def along(seats: Sequence[PlannedSeat]) -> list[PlannedSeat]:
    """The seats of a row in their order on the floor, whatever order they are listed in.

    They are ordered along the line between the two ends, which works for straight rows and arcs up to a semicircle.
    Theatres often number odd seats on one side and even ones on the other, so numbers say little about neighbours.
    """
    points = [(seat.x or 0.0, seat.y or 0.0) for seat in seats]
    start = max(points, key=lambda point: dist(point, points[0]))
    end = max(points, key=lambda point: dist(point, start))
    if dist(points[0], start) >= dist(points[0], end):
        start, end = end, start
    direction = end[0] - start[0], end[1] - start[1]
    progress = [point[0] * direction[0] + point[1] * direction[1] for point in points]
    return [seat for _, _, seat in sorted(zip(progress, range(len(seats)), seats, strict=True), key=_first_two)]


def _first_two(entry: tuple[float, int, PlannedSeat]) -> tuple[float, int]:
    return entry[:2]


def _places(seats: Sequence[PlannedSeat], points: Sequence[Point]) -> list[int]:
    steps = [dist(one, other) for one, other in pairwise(points)]
    usual = sorted(steps)[len(steps) // 2] if steps else 0.0
    places = [0]
    for seat, step in zip(seats, steps, strict=False):
        places.append(places[-1] + (2 if seat.aisle_after or step > AISLE * usual else 1))
    return places


def place_zones(zones: Iterable[ZonePlan]) -> list[tuple[ZonePlan, list[PlacedSeat]]]:
    """The zones with their seats; those without positions are one behind the other, in the order of the list."""
    placed, behind = [], 0
    for zone in zones:
        seats = place_seats(zone, behind)
        placed.append((zone, seats))
        if any(seat.plan.x is None for seat in seats):
            behind += 2 + max(seat.row_order for seat in seats)
    return placed


def focus(zone: ZonePlan, seats: Sequence[PlacedSeat], of_plan: Point | None = None) -> Point:
    """What the zone faces: as the layout gives it for the zone or for all of them, else the middle of its first row."""
    given = zone.focus or of_plan
    if given is not None or not seats:
        return given or (0.0, 0.0)
    front = [seat for seat in seats if seat.row_order == 0]
    return sum(seat.x for seat in front) / len(front), sum(seat.y for seat in front) / len(front)
