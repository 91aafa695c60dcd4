"""Evenings that sell out: halls, the parties that ask one after the other, and what becomes of the seats."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from random import Random
from typing import Final

from scripts.selling_out.exactly import most_seats
from sync_server.seating import bits
from sync_server.seating.allocation import best_available
from sync_server.seating.hall import Hall, Row
from sync_server.seating.offers import Manners, Offer, Wish

PARTIES: Final = {1: 10, 2: 45, 3: 12, 4: 22, 5: 6, 6: 5}
"""How many of a hundred parties have that many people: mostly pairs, as at any box office."""

Seller = Callable[[Hall, int], Iterable[int] | None]
"""Seats for a party of that size, or None."""


@dataclass(frozen=True, slots=True)
class Evening:
    """A hall of three rows, and who asks for seats in which order."""

    rows: tuple[Row, ...]
    parties: tuple[int, ...]

    def hall(self) -> Hall:
        """The hall with every seat free."""
        return Hall.of(self.rows)

    def most(self) -> int:
        """The most seats that could be sold by somebody who knew all parties beforehand."""
        return most_seats([length for row in self.hall().rows for _, length in bits.runs(row.open)], self.parties)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of an evening's seats."""

    seats: int
    sold: int
    orphans: int  # seats that were made single and stayed so


def evening(random: Random, demand: float) -> Evening:
    """A hall of three rows, with aisles and pillars, and parties that ask for `demand` times its seats in all."""
    width, gap = random.randint(10, 24), random.choice([None, None, 2, 3])
    rows, seats = [], 0
    for depth in range(3):
        kinds = [_is_wall(random, place, width, gap) for place in range(width + random.choice([0, 0, depth]))]
        rows.append(_row(kinds, depth, seats))
        seats += kinds.count(False)
    return Evening(tuple(rows), tuple(_parties(random, demand * seats)))


def _is_wall(random: Random, place: int, width: int, gap: int | None) -> bool:
    return (gap is not None and place == width // gap) or random.random() < 0.02


def _row(walls: Sequence[bool], depth: int, before: int) -> Row:
    numbers = iter(range(before + 1, before + len(walls) + 1))
    seats = tuple(None if wall else next(numbers) for wall in walls)
    points = tuple((place - len(walls) / 2, depth * 1.2) for place in range(len(walls)))
    return Row(1, "stalls", chr(ord("A") + depth), seats, points, (0.0, -3.0))


def _parties(random: Random, people: float) -> Iterable[int]:
    asked = 0
    while asked < people:
        (size,) = random.choices(list(PARTIES), list(PARTIES.values()))
        asked += size
        yield size


def sell(evening: Evening, seller: Seller) -> Outcome:
    """Serve the parties one after the other; whoever gets nothing leaves."""
    hall, sold = evening.hall(), 0
    seats = sum(row.open.bit_count() for row in hall.rows)
    born_single = [bits.lone(row.open) for row in hall.rows]
    for size in evening.parties:
        given = seller(hall, size)
        if given is not None:
            hall.take(given)
            sold += size
    left = (bits.lone(row.open) & ~single for row, single in zip(hall.rows, born_single, strict=True))
    return Outcome(seats, sold, sum(mask.bit_count() for mask in left))


def by_the_house(manners: Manners) -> Seller:
    """The seats that the house gives."""

    def seller(hall: Hall, size: int) -> Iterable[int] | None:
        answer = best_available(hall, Wish(size), manners)
        return answer.seats if isinstance(answer, Offer) else None

    return seller


def nearest_only(hall: Hall, size: int) -> Iterable[int] | None:
    """For comparison: the nearest seats together, whatever is left beside them."""
    places = (
        (row.away(start, size), row.rank, start)
        for row in hall.rows
        for start in bits.places(bits.starts(row.open, size))
    )
    _, rank, start = min(places, default=(0.0, None, 0))
    if rank is None:
        return None
    return [seat for seat in hall.by_rank[rank].row.seats[start : start + size] if seat is not None]
