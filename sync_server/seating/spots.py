"""Every seat of an event as whoever holds it needs it: what it is called, and who its neighbours are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Final

from sqlalchemy import select
from sqlalchemy.orm import Session

from shared.clock import Millis
from sync_server.seating import queries
from sync_server.seating.clusters import tidy_enough
from sync_server.seating.geometry import NumberedSeat, hall_rows
from sync_server.seating.hall import Hall, Row
from sync_server.seating.models import EventLayoutRecord, PolicyRecord, SeatRecord
from sync_server.seating.offers import clusters_of
from sync_server.seating.overlay import EventZone
from sync_server.seating.rules import Policy

Beside = tuple[int, int, int, int]
"""The seats two and one to the left, one and two to the right, by number; 0 where there is a wall."""
WALL: Final = 0
_BITS: Final = (1, 2, 4, 8)
EVERY_PATTERN: Final = 0xFFFF


@dataclass(frozen=True, slots=True)
class Spot:
    """One seat of an event."""

    number: int
    id: str
    name: str  # its seat_id: A-12
    zone: int
    section: str
    row: str
    seat_number: str
    beside: Beside
    special: bool  # a wheelchair place, or the seat of a companion: kept for some, by rules of their own
    blocked: bool

    @property
    def walls(self) -> int:
        """Which of its neighbours are walls, as a pattern."""
        return sum(bit for bit, seat in zip(_BITS, self.beside, strict=True) if seat == WALL)


def spots(session: Session, row: EventLayoutRecord, zones: Mapping[int, EventZone], policy: Policy) -> dict[str, Spot]:
    """The seats of the event's open zones with numbered seats, by their ids."""
    deltas, numbered = queries.deltas(row), {number for number, zone in zones.items() if zone.zone_type.numbered}
    special = _special(session, row.layout_id) if policy.enforce_accessibility_rules else frozenset()
    seats = [seat for seat in queries.numbered_seats(session, row.layout_id) if seat.zone in numbered]
    beside = _neighbours(seats, zones, special | deltas.blocked)
    names = _names(session, row.layout_id)
    made = (
        Spot(
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
    return {spot.id: spot for spot in made}


def policy_changed_at(session: Session, organisation_id: str) -> Millis | None:
    """When the organisation's policy last changed; None: it never said any."""
    row = select(PolicyRecord.updated_at).where(PolicyRecord.organisation_id == organisation_id)
    return session.execute(row).scalar_one_or_none()


def ids_of(session: Session, organisation_id: str, event_id: str, numbers: Iterable[int]) -> dict[int, str]:
    """The ids of seats of an event's layout, by their numbers."""
    layout, wanted = queries.maybe_event_layout(session, organisation_id, event_id), sorted(set(numbers))
    if layout is None:
        return {}
    found: dict[int, str] = {}
    for start in range(0, len(wanted), queries.FEW):
        some = SeatRecord.number.in_(wanted[start : start + queries.FEW])
        rows = session.execute(select(SeatRecord).where(SeatRecord.layout_id == layout.layout_id, some)).scalars()
        found |= {row.number: row.id for row in rows}
    return found


def _special(session: Session, layout_id: str) -> frozenset[int]:
    pairings = queries.pairings(session, layout_id)
    return frozenset({seat for each in pairings for seat in (each.wheelchair, *each.companions)})


def _names(session: Session, layout_id: str) -> dict[int, tuple[str, str]]:
    here = select(SeatRecord.number, SeatRecord.id, SeatRecord.seat_id).where(SeatRecord.layout_id == layout_id)
    return {number: (id, name) for number, id, name in session.execute(here)}


def _neighbours(
    seats: Iterable[NumberedSeat], zones: Mapping[int, EventZone], walls: frozenset[int]
) -> dict[int, Beside]:
    rows = hall_rows(seats, {zone.number: (zone.name, zone.focus) for zone in zones.values()})
    found: dict[int, Beside] = {}
    for row in rows:
        line = [WALL, WALL, *(WALL if seat is None or seat in walls else seat for seat in row.seats), WALL, WALL]
        for place, seat in enumerate(row.seats, start=2):
            if seat is not None:
                found[seat] = (line[place - 2], line[place - 1], line[place + 1], line[place + 2])
    return found


@cache
def tidy_patterns() -> int:
    """For which patterns of taken neighbours a single seat may be taken without leaving another: a bit each.

    Asked of the rule itself, once: whoever has only the pattern at hand looks it up, and decides nothing.
    """
    return sum(1 << pattern for pattern in range(16) if _tidy(pattern))


def _tidy(pattern: int) -> bool:
    left_far, left, seat, right, right_far = range(1, 6)
    row = Row(1, "", "", (left_far, left, seat, right, right_far), tuple((float(x), 0.0) for x in range(5)), (0.0, 0.0))
    hall = Hall.of([row], sizes=())
    around = zip(_BITS, (left_far, left, right, right_far), strict=True)
    hall.take(number for bit, number in around if pattern & bit)
    return tidy_enough(clusters_of(hall, [seat]))
