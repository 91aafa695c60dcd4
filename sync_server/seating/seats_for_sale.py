"""Every seat of an event as holds need it: its names and its neighbours."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Final

from sqlalchemy import select
from sqlalchemy.orm import Session

from shared.clock import Millis
from sync_server.seating import queries
from sync_server.seating.layouts.overlay import EventZone
from sync_server.seating.models import EventLayoutRecord, PolicyRecord, SeatRecord
from sync_server.seating.rules import Policy
from sync_server.seating.search.allocation_grid import AllocationGrid, Row
from sync_server.seating.search.clusters import leaves_no_singles
from sync_server.seating.search.geometry import NumberedSeat, grid_rows
from sync_server.seating.search.offers import clusters_of

Neighbours = tuple[int, int, int, int]
"""The numbers of the seats two and one to the left, and one and two to the right; WALL where there is none."""
WALL: Final = 0
_BITS: Final = (1, 2, 4, 8)
EVERY_PATTERN: Final = 0xFFFF


@dataclass(frozen=True, slots=True)
class SeatForSale:
    """One seat of an event."""

    number: int
    id: str
    name: str  # its seat_id: A-12
    zone: int
    section: str
    row: str
    seat_number: str
    beside: Neighbours
    special: bool  # a wheelchair place or companion seat, which has rules of its own
    blocked: bool

    @property
    def walls(self) -> int:
        """Which neighbours are walls, as a bit pattern."""
        return sum(bit for bit, seat in zip(_BITS, self.beside, strict=True) if seat == WALL)


def seats_for_sale(
    session: Session, row: EventLayoutRecord, zones: Mapping[int, EventZone], policy: Policy
) -> dict[str, SeatForSale]:
    """The seats of the event's open zones with numbered seats, by id."""
    deltas, numbered = queries.deltas(row), {number for number, zone in zones.items() if zone.zone_type.numbered}
    special = _special(session, row.layout_id) if policy.enforce_accessibility_rules else frozenset()
    seats = [seat for seat in queries.numbered_seats(session, row.layout_id) if seat.zone in numbered]
    beside = _neighbours(seats, zones, special | deltas.blocked)
    names = _names(session, row.layout_id)
    seats_of_event = (
        SeatForSale(
            seat.number,
            *names[seat.number],
            seat.zone,
            seat.section,
            seat.row,
            seat.name,
            beside[seat.number],
            seat.number in special,
            seat.number in deltas.blocked,
        )
        for seat in seats
    )
    return {seat.id: seat for seat in seats_of_event}


def policy_changed_at(session: Session, organisation_id: str) -> Millis | None:
    """When the organisation's policy last changed; None if it uses the defaults."""
    row = select(PolicyRecord.updated_at).where(PolicyRecord.organisation_id == organisation_id)
    return session.execute(row).scalar_one_or_none()


def seat_ids_by_number(session: Session, organisation_id: str, event_id: str, numbers: Iterable[int]) -> dict[int, str]:
    """The ids of these seats of an event's layout, by number."""
    layout, wanted = queries.find_event_layout(session, organisation_id, event_id), sorted(set(numbers))
    if layout is None:
        return {}
    found: dict[int, str] = {}
    for start in range(0, len(wanted), queries.IN_LIST_LIMIT):
        some = SeatRecord.number.in_(wanted[start : start + queries.IN_LIST_LIMIT])
        rows = session.execute(select(SeatRecord).where(SeatRecord.layout_id == layout.layout_id, some)).scalars()
        found |= {row.number: row.id for row in rows}
    return found


def _special(session: Session, layout_id: str) -> frozenset[int]:
    pairings = queries.pairings(session, layout_id)
    return frozenset({seat for pairing in pairings for seat in (pairing.wheelchair, *pairing.companions)})


def _names(session: Session, layout_id: str) -> dict[int, tuple[str, str]]:
    statement = select(SeatRecord.number, SeatRecord.id, SeatRecord.seat_id).where(SeatRecord.layout_id == layout_id)
    return {number: (id, name) for number, id, name in session.execute(statement)}


def _neighbours(
    seats: Iterable[NumberedSeat], zones: Mapping[int, EventZone], walls: frozenset[int]
) -> dict[int, Neighbours]:
    rows = grid_rows(seats, {zone.number: (zone.name, zone.focus) for zone in zones.values()})
    found: dict[int, Neighbours] = {}
    for row in rows:
        padded = [WALL, WALL, *(WALL if seat is None or seat in walls else seat for seat in row.seats), WALL, WALL]
        for place, seat in enumerate(row.seats, start=2):
            if seat is not None:
                found[seat] = (padded[place - 2], padded[place - 1], padded[place + 1], padded[place + 2])
    return found


@cache
def tidy_patterns() -> int:
    """The patterns of taken neighbours with which one seat may be taken without leaving a single seat; one bit each.

    Computed once from the rule itself, so that callers with only the pattern at hand need not repeat the rule.
    """
    return sum(1 << pattern for pattern in range(16) if _tidy(pattern))


def _tidy(pattern: int) -> bool:
    left_far, left, seat, right, right_far = range(1, 6)
    row = Row(1, "", "", (left_far, left, seat, right, right_far), tuple((float(x), 0.0) for x in range(5)), (0.0, 0.0))
    grid = AllocationGrid.of([row], sizes=())
    around = zip(_BITS, (left_far, left, right, right_far), strict=True)
    grid.take(number for bit, number in around if pattern & bit)
    return leaves_no_singles(clusters_of(grid, [seat]))
