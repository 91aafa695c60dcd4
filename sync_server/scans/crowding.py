"""Counts people inside each zone or gate, and finds entries made when it was full."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from shared.admission import Direction, Passage
from shared.movements import span_of_today
from shared.rows import EventRow


@dataclass(frozen=True, slots=True)
class Step:
    """One counted movement of one ticket; a duplicate is another person with the same ticket."""

    ticket_id: int
    passage: Passage
    duplicate: bool = False


@dataclass(frozen=True, slots=True)
class Crowd:
    """How many are in each place, and the entries made when it was full."""

    inside: Mapping[int, int] = field(default_factory=dict)  # by place
    too_many: tuple[Step, ...] = ()


def by_zone(passage: Passage) -> int:
    """The zone that a passage leads to."""
    return passage.zone


def by_gate(passage: Passage) -> int:
    """The gate that a passage goes through."""
    return passage.gate


def crowd(
    steps: Iterable[Step], place: Callable[[Passage], int], limits: Mapping[int, int], event: EventRow, now: int
) -> Crowd:
    """People by place at `now`; a function of the set of steps, whatever their order."""
    occupancy = Occupancy(place, limits, event)
    for step in sorted(steps, key=_order):
        occupancy.take(step)
    occupancy.empty_until(now)
    return Crowd(occupancy.inside(), tuple(occupancy.too_many))


def _order(step: Step) -> tuple[int, int, int, int, int]:
    one = step.passage
    return one.at, one.device, one.branch, one.seq, step.ticket_id


@dataclass(slots=True)
class Occupancy:
    """Occupancy while movements are applied in order of time, then device, branch, number and ticket."""

    place: Callable[[Passage], int]
    limits: Mapping[int, int]
    event: EventRow
    bodies: dict[int, list[int]] = field(default_factory=lambda: defaultdict(list))  # ticket: the place of each person
    count: Counter[int] = field(default_factory=Counter)
    too_many: list[Step] = field(default_factory=list)
    today: tuple[int, int] | None = None

    def take(self, step: Step) -> None:
        """Apply one movement, not earlier than the one before."""
        if self.event.counts_from is not None and step.passage.at < self.event.counts_from:
            return
        self.empty_until(step.passage.at)
        bodies = self.bodies[step.ticket_id]
        if step.passage.direction is Direction.EXIT:
            self._leave(bodies)
        else:
            self._enter(bodies, step)

    def empty_until(self, now: int) -> None:
        """At the cut-over everybody has left, unless the event says otherwise."""
        today = span_of_today(self.event.days, now) if self.event.cutover_empties else None
        if today != self.today:
            self.bodies.clear()
            self.count.clear()
        self.today = today

    def inside(self) -> dict[int, int]:
        """Places with somebody in them."""
        return {place: bodies for place, bodies in sorted(self.count.items()) if bodies}

    def _enter(self, bodies: list[int], step: Step) -> None:
        if bodies and not step.duplicate:  # the holder enters again: the same person, perhaps elsewhere
            self._leave(bodies, 0)
        place = self.place(step.passage)
        if self.count[place] >= self.limits.get(place, self.count[place] + 1):
            self.too_many.append(step)
        bodies.insert(len(bodies) if step.duplicate else 0, place)
        self.count[place] += 1

    def _leave(self, bodies: list[int], which: int = -1) -> None:
        if bodies:
            self.count[bodies.pop(which)] -= 1
