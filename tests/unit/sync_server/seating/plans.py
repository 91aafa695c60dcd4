"""Builds plans of seats from drawings: a dot is a seat, w a wheelchair place, c its companion, a space an aisle.

An r has a restricted view; f and b are seats of price categories of these names.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from uuid import UUID

from sync_server.seating.layout_rows import stable_id
from sync_server.seating.layouts.overlay import Deltas, LayoutZone
from sync_server.seating.layouts.plan import AccessMode, GroupPlan, GroupType, ZoneType
from sync_server.seating.plans.layout_seats import LayoutSeats
from sync_server.seating.plans.seat_plan import SeatPlan
from sync_server.seating.queries import StoredSeat
from sync_server.seating.rules import Policy

FAMILY = str(UUID(int=7))
CATEGORIES = {"w": "wheelchair", "c": "companion", "r": "restricted_view"}
PRICES = {"f", "b"}


def a_plan(
    *zones: Iterable[str],
    blocked: Iterable[int] = (),
    policy: Policy | None = None,
    groups: Sequence[GroupPlan] = (),
    depths: Sequence[float] = (),
    focus: tuple[float, float] = (0.0, -2.0),
) -> SeatPlan:
    """Zones with a row for each line, the stage above the first; the companions of a row belong to its wheelchairs.

    `depths` says how far back each zone is; what a zone faces is as far in front of it as the stage is of the first.
    """
    seats, behind = list[StoredSeat](), depths or (0.0,) * len(zones)
    for zone, lines in enumerate(zones, start=1):
        for depth, line in enumerate(lines):
            seats += _row(len(seats), zone, depth, line, behind[zone - 1])
    pairs = [
        GroupPlan(GroupType.WHEELCHAIR_PAIR, tuple(seat.seat_id for seat in seats if seat.row_order == order))
        for order in {seat.row_order for seat in seats if seat.category == "wheelchair"}
    ]
    sizes = [sum(len(line.replace(" ", "")) for line in lines) for lines in zones]
    return SeatPlan(
        LayoutSeats.of(
            "layout",
            FAMILY,
            [_zone(number, size, behind[number - 1]) for number, size in enumerate(sizes, 1)],
            [*pairs, *groups],
            seats,
            focus=focus,
        ),
        Deltas(frozenset(blocked)),
        policy or Policy(),
    )


def _zone(number: int, seats: int, behind: float) -> LayoutZone:
    kind, mode = ZoneType.RESERVED_SEATING, AccessMode.PUBLIC
    return LayoutZone(number, f"z{number}", f"Zone {number}", kind, seats, mode, None, (), (0.0, behind - 2.0))


def _row(before: int, zone: int, depth: int, line: str, behind: float) -> Iterable[StoredSeat]:
    row, count = chr(ord("A") + depth), 0
    for place, mark in enumerate(line):
        if mark != " ":
            count += 1
            label = str(place + 1)
            name, at = f"{zone}{row}-{label}", (float(place) - (len(line) - 1) / 2, behind + depth)
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
                CATEGORIES.get(mark, "standard"),
                None,
                mark if mark in PRICES else "",
                False,
            )
