"""A stadium of 60,000 seats, and people in it."""

from __future__ import annotations

from collections.abc import Iterator
from math import cos, pi, sin
from random import Random
from typing import Final

from scripts.selling_out.evenings import PARTIES
from sync_server.seating.allocation import best_available
from sync_server.seating.hall import Hall, Row
from sync_server.seating.offers import Manners, Offer, Wish

SECTIONS: Final = 60
ROWS: Final = 40
SEATS_A_ROW: Final = 25
SEATS: Final = SECTIONS * ROWS * SEATS_A_ROW


def stadium() -> Hall:
    """Sections all around a pitch, with the stage at its northern end."""
    return Hall.of(_row(section, depth) for section in range(SECTIONS) for depth in range(ROWS))


def _row(section: int, depth: int) -> Row:
    first = (section * ROWS + depth) * SEATS_A_ROW + 1
    radius, begins = 40 + 0.9 * depth, 2 * pi * section / SECTIONS
    angles = (begins + 0.0040 * place * pi for place in range(SEATS_A_ROW))
    points = tuple((radius * cos(angle), radius * sin(angle)) for angle in angles)
    return Row(1, f"block {section}", str(depth), tuple(range(first, first + SEATS_A_ROW)), points, (0.0, 30.0))


def scatter(hall: Hall, random: Random, share: float) -> None:
    """Take seats here and there until that share is taken: worse than any real evening."""
    hall.take(random.sample(range(1, SEATS + 1), round(share * SEATS)))


def sell_up_to(hall: Hall, random: Random, share: float) -> None:
    """Sell to parties, as the house does, until that share is taken or it has nothing left to give them."""
    taken = SEATS - sum(row.open.bit_count() for row in hall.rows)
    for size in _parties(random):
        answer = best_available(hall, Wish(size), Manners())
        if taken >= share * SEATS or not isinstance(answer, Offer):
            return
        hall.take(answer.seats)
        taken += size


def _parties(random: Random) -> Iterator[int]:
    while True:
        yield from random.choices(list(PARTIES), list(PARTIES.values()), k=100)
