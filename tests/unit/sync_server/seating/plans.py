"""Builds plans of seats from drawings: a dot is a seat, w a wheelchair place, c its companion, a space an aisle."""

from __future__ import annotations

from collections.abc import Iterable
from uuid import UUID

from sync_server.seating.layout_rows import stable_id
from sync_server.seating.layouts.overlay import Deltas, LayoutZone
from sync_server.seating.layouts.plan import AccessMode, GroupPlan, GroupType, ZoneType
from sync_server.seating.plans.layout_seats import LayoutSeats
from sync_server.seating.plans.seat_plan import SeatPlan
from sync_server.seating.queries import StoredSeat
from sync_server.seating.rules import Policy

FAMILY = str(UUID(int=7))
CATEGORIES = {".": "standard", "w": "wheelchair", "c": "companion"}


def a_plan(*zones: Iterable[str], blocked: Iterable[int] = (), policy: Policy | None = None) -> SeatPlan:
    """Zones with a row for each line, the stage above the first; the companions of a row belong to its wheelchairs."""
    seats = list[StoredSeat]()
    for zone, lines in enumerate(zones, start=1):
        for depth, line in enumerate(lines):
            seats += _row(len(seats), zone, depth, line)
    pairs = [
        GroupPlan(GroupType.WHEELCHAIR_PAIR, tuple(seat.seat_id for seat in seats if seat.row_order == order))
        for order in {seat.row_order for seat in seats if seat.category == "wheelchair"}
    ]
    sizes = [sum(len(line.replace(" ", "")) for line in lines) for lines in zones]
    return SeatPlan(
        LayoutSeats.of("layout", FAMILY, [_zone(number, size) for number, size in enumerate(sizes, 1)], pairs, seats),
        Deltas(frozenset(blocked)),
        policy or Policy(),
    )


def _zone(number: int, seats: int) -> LayoutZone:
    kind, mode = ZoneType.RESERVED_SEATING, AccessMode.PUBLIC
    return LayoutZone(number, f"z{number}", f"Zone {number}", kind, seats, mode, None, (), (0.0, -2.0))


def _row(before: int, zone: int, depth: int, line: str) -> Iterable[StoredSeat]:
    row, count = chr(ord("A") + depth), 0
    for place, mark in enumerate(line):
        if mark != " ":
            count += 1
            label = str(place + 1)
            name, at = f"{zone}{row}-{label}", (float(place) - (len(line) - 1) / 2, float(depth))
            yield StoredSeat(
                before + count,
                stable_id(FAMILY, "seat", name),
                name,
                zone,
                "",
                row,
                depth,
                place,
                label,
                *at,
                True,
                CATEGORIES[mark],
                None,
                "",
                False,
            )
