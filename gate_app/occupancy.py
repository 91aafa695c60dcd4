"""How many are inside, by zone and gate, and this gate's share of what is left when it hears nobody."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from shared.attempts import Passage, Room
from shared.movements import inside_by, span_of_today
from shared.snapshot import EventRow

DEAF_AFTER_MS = 60_000
"""A gate that heard neither server nor peers for so long counts against its own share."""


@dataclass(frozen=True, slots=True)
class Share:
    """One device's place among those that give places away without hearing of each other."""

    rank: int
    sharers: int

    def of(self, left: int) -> int:
        """All shares together are exactly what is left, never more."""
        whole, over = divmod(left, max(1, self.sharers))
        return whole + (1 if self.rank < over else 0)


@dataclass(slots=True)
class House:
    """Who is inside at one event, as far as this gate knows."""

    inside: dict[int, Passage] = field(default_factory=dict)
    zones: Counter[int] = field(default_factory=Counter)
    gates: Counter[int] = field(default_factory=Counter)
    zones_when_heard: Counter[int] = field(default_factory=Counter)
    gates_when_heard: Counter[int] = field(default_factory=Counter)
    heard_at: int = -DEAF_AFTER_MS  # monotonic ms
    span: tuple[int, int] = (0, 0)
    counts_from: int | None = None

    def fill(self, tickets: Iterable[tuple[int, tuple[Passage, ...]]], event: EventRow, now: int) -> None:
        """Counts everybody from the beginning."""
        self.inside.clear()
        self.zones.clear()
        self.gates.clear()
        for ticket, history in tickets:
            self.note(ticket, history, event, now)
        self.span, self.counts_from = span_of_today(event.days, now), event.counts_from
        self.zones_when_heard, self.gates_when_heard = self.zones.copy(), self.gates.copy()

    def note(self, ticket: int, history: tuple[Passage, ...], event: EventRow, now: int) -> None:
        """This ticket's history is now this."""
        self._leave(ticket)
        came = inside_by(history, event, now)
        if came is not None:
            self.inside[ticket] = came
            self.zones[came.zone] += 1
            self.gates[came.gate] += 1

    def turn_day(self, event: EventRow, now: int) -> None:
        """The cut-over and `counts_from` empty the house; nobody needs to be read again for that."""
        span = span_of_today(event.days, now)
        if (span, event.counts_from) == (self.span, self.counts_from):
            return
        self.span, self.counts_from = span, event.counts_from
        for ticket, came in list(self.inside.items()):
            if inside_by((came,), event, now) is None:
                self._leave(ticket)

    def heard(self, monotonic: int) -> None:
        """Server or peers told what they know: from here on a silence is measured."""
        self.heard_at = monotonic
        self.zones_when_heard, self.gates_when_heard = self.zones.copy(), self.gates.copy()

    def zone_room(self, zone: int, capacity: int, monotonic: int, share: Share) -> Room:
        """How full a zone is."""
        return self._room(self.zones[zone], self.zones_when_heard[zone], capacity, monotonic, share)

    def gate_room(self, gate: int, capacity: int, monotonic: int, share: Share) -> Room:
        """How many are inside by this gate."""
        return self._room(self.gates[gate], self.gates_when_heard[gate], capacity, monotonic, share)

    def _room(self, inside: int, then: int, capacity: int, monotonic: int, share: Share) -> Room:
        if monotonic - self.heard_at <= DEAF_AFTER_MS:
            return Room(inside, capacity)
        return Room(inside, then + share.of(max(0, capacity - then)), estimated=True)

    def _leave(self, ticket: int) -> None:
        came = self.inside.pop(ticket, None)
        if came is not None:
            self.zones[came.zone] -= 1
            self.gates[came.gate] -= 1
