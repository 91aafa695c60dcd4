"""Who goes into a zone or gate and who leaves it, person by person; and the entries made when it was full."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from shared.admission import Direction, Passage
from shared.clock import Millis
from sync_server.scans.attendance.basis import Basis
from sync_server.scans.attendance.steps import Step, in_order


class Move(NamedTuple):
    """One person who goes in (1) or leaves (-1); in order of time, then device, branch, number and ticket."""

    day: Millis
    at: Millis
    device: int
    branch: int
    seq: int
    ticket: int
    change: int
    gate: int
    zone: int

    @property
    def identity(self) -> tuple[int, int, int]:
        """The movement that it follows from."""
        return self.device, self.branch, self.seq


@dataclass(frozen=True, slots=True)
class Crowd:
    """How many are in each place, and the entries made when it was full."""

    inside: Mapping[int, int] = field(default_factory=dict)  # by place
    too_many: tuple[Move, ...] = ()


def by_zone(move: Move) -> int:
    """The zone that somebody goes into or leaves."""
    return move.zone


def by_gate(move: Move) -> int:
    """The gate that somebody came through."""
    return move.gate


def crowd(
    steps: Iterable[Step], place: Callable[[Move], int], limits: Mapping[int, int], basis: Basis, now: Millis
) -> Crowd:
    """People by place at `now`; a function of the set of steps, whatever their order."""
    by_ticket: dict[int, list[Step]] = defaultdict(list)
    for step in steps:
        by_ticket[step.ticket_id].append(step)
    found = sorted(move for some in by_ticket.values() for move in moves(some, basis))
    inside, today = Counter[tuple[Millis, int]](), basis.day_of(now)
    too_many = tuple(entries_beyond(found, lambda move: (move.day, place(move)), inside, limits.get))
    return Crowd({place: n for (day, place), n in sorted(inside.items()) if n and day == today}, too_many)


def entries_beyond(
    found: Iterable[Move],
    place: Callable[[Move], tuple[Millis, int]],
    inside: Counter[tuple[Millis, int]],
    limit: Callable[[int], int | None],
) -> Iterator[Move]:
    """Follow moves in their order, and tell those who go into a full place; `inside` is how many are there."""
    for move in found:
        where = place(move)
        most = limit(where[1])
        if move.change > 0 and most is not None and inside[where] >= most:
            yield move
        inside[where] += move.change


def moves(steps: Iterable[Step], basis: Basis) -> Iterator[Move]:
    """The moves of one ticket's people. At the cut-over everybody has left, unless the event says otherwise."""
    bodies: list[Passage] = []
    today: Millis | None = None
    for step in in_order(steps):
        if not basis.counts(step.passage.at):
            continue
        day = basis.day_of(step.passage.at)
        if day != today:
            bodies.clear()
        today = day
        yield from _followed(step, bodies, day)


def _followed(step: Step, bodies: list[Passage], day: Millis) -> Iterator[Move]:
    if step.passage.direction is Direction.EXIT:
        if bodies:
            yield _move(step, bodies.pop(), day, -1)
        return
    if bodies and not step.duplicate:  # the holder enters again: the same person, perhaps elsewhere
        yield _move(step, bodies.pop(0), day, -1)
    bodies.insert(len(bodies) if step.duplicate else 0, step.passage)
    yield _move(step, step.passage, day, 1)


def _move(step: Step, where: Passage, day: Millis, change: int) -> Move:
    one = step.passage
    return Move(day, one.at, one.device, one.branch, one.seq, step.ticket_id, change, where.gate, where.zone)
