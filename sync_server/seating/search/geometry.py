"""Where seats are: which seats of a row are neighbours, where the aisles are, and what a zone faces."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from math import dist
from typing import Final

from sync_server.seating.layouts.plan import SeatPlan, ZonePlan
from sync_server.seating.search.allocation_grid import Point, Row

AISLE: Final = 1.6
"""A gap this many times the usual one of its row is an aisle."""


@dataclass(frozen=True, slots=True)
class PlacedSeat:
    """A seat with its place in its row; places without a seat are aisles."""

    plan: SeatPlan
    row_order: int  # of its zone, from the front
    place: int
    x: float
    y: float


def place_seats(zone: ZonePlan) -> list[PlacedSeat]:
    """The seats of a zone, row by row, each from one end to the other."""
    rows: dict[tuple[str, str], list[SeatPlan]] = {}
    for seat in zone.seats:
        rows.setdefault((seat.section, seat.row), []).append(seat)
    sections = sorted({section for section, _ in rows}, key=[section for section, _ in rows].index)
    ordered = [(key, seats) for section in sections for key, seats in rows.items() if key[0] == section]
    return [each for order, (_, seats) in enumerate(ordered) for each in _placed_row(seats, order)]


def _placed_row(seats: Sequence[SeatPlan], order: int) -> list[PlacedSeat]:
    drawn = all(seat.x is not None for seat in seats)
    lined_up = along(seats) if drawn else list(seats)
    points = [_point(seat, at, order, drawn) for at, seat in enumerate(lined_up)]
    places = _places(lined_up, points)
    return [PlacedSeat(seat, order, place, *point) for seat, place, point in zip(lined_up, places, points, strict=True)]


def _point(seat: SeatPlan, at: int, order: int, drawn: bool) -> Point:
    if drawn and seat.x is not None and seat.y is not None:
        return seat.x, seat.y
    return float(at), float(order)


def along(seats: Sequence[SeatPlan]) -> list[SeatPlan]:
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


def _first_two(entry: tuple[float, int, SeatPlan]) -> tuple[float, int]:
    return entry[:2]


def _places(seats: Sequence[SeatPlan], points: Sequence[Point]) -> list[int]:
    steps = [dist(one, other) for one, other in pairwise(points)]
    usual = sorted(steps)[len(steps) // 2] if steps else 0.0
    places = [0]
    for seat, step in zip(seats, steps, strict=False):
        places.append(places[-1] + (2 if seat.aisle_after or step > AISLE * usual else 1))
    return places


def focus(zone: ZonePlan, seats: Sequence[PlacedSeat]) -> Point:
    """What the zone faces: as given by the layout, else the middle of its first row."""
    if zone.focus is not None or not seats:
        return zone.focus or (0.0, 0.0)
    front = [seat for seat in seats if seat.row_order == 0]
    return sum(seat.x for seat in front) / len(front), sum(seat.y for seat in front) / len(front)


@dataclass(frozen=True, slots=True)
class NumberedSeat:
    """A seat as stored, by its number in the layout."""

    number: int
    zone: int
    section: str
    row: str
    row_order: int
    place: int
    name: str
    x: float
    y: float


def grid_rows(seats: Iterable[NumberedSeat], zones: dict[int, tuple[str, Point]]) -> list[Row]:
    """The rows of a grid from seats in order of zone, row and place; `zones` gives name and focus by number."""
    rows = groupby(seats, key=lambda seat: (seat.zone, seat.section, seat.row, seat.row_order))
    return [_hall_row(list(some), *zones[key[0]]) for key, some in rows]


def _hall_row(seats: Sequence[NumberedSeat], zone_name: str, focus_of_zone: Point) -> Row:
    by_place = {seat.place: seat for seat in seats}
    filled = [by_place.get(place) for place in range(max(by_place) + 1)]
    nearest = seats[0]
    points = []
    for seat in filled:
        nearest = seat or nearest
        points.append((nearest.x, nearest.y))
    names = tuple(seat.name if seat else "" for seat in filled)
    numbers = tuple(seat.number if seat else None for seat in filled)
    first = seats[0]
    return Row(first.zone, first.section, first.row, numbers, tuple(points), focus_of_zone, names, zone_name)
