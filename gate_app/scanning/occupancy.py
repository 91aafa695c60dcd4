"""Counts who is inside, by zone and gate, and this gate's share of the free places while it is offline."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from shared.attempts import Passage, Room
from shared.movements import inside_by, span_of_today
from shared.wire.snapshot import EventRow

STALE_AFTER_MS = 60_000
"""After this long without news from the server, a gate admits only up to its own share."""


@dataclass(frozen=True, slots=True)
class Share:
    """One device's rank among those that admit people without hearing of each other."""

    rank: int
    sharers: int

    def of(self, left: int) -> int:
        """This device's part of the free places; the parts of all devices add up to exactly `left`."""
        whole, over = divmod(left, max(1, self.sharers))
        return whole + (1 if self.rank < over else 0)


@dataclass(frozen=True, slots=True)
class Correction:
    """How many more or fewer people a supervisor counted at this gate than were scanned."""

    at: int
    change: int
    gate: int
    zone: int

    def counts(self, event: EventRow, now: int) -> bool:
        """Whether it still does: it ends with the event day, and when the venue is emptied, as entries do."""
        start, until = span_of_today(event.days, now)
        today = not event.cutover_empties or start <= self.at < until
        return today and (event.counts_from is None or self.at >= event.counts_from)


@dataclass(slots=True)
class Occupancy:
    """Who is inside at one event, as far as this gate knows."""

    inside: dict[int, Passage] = field(default_factory=dict)
    zones: Counter[int] = field(default_factory=Counter)
    gates: Counter[int] = field(default_factory=Counter)
    zones_when_heard: Counter[int] = field(default_factory=Counter)
    gates_when_heard: Counter[int] = field(default_factory=Counter)
    heard_at: int = -STALE_AFTER_MS  # monotonic ms
    span: tuple[int, int] = (0, 0)
    counts_from: int | None = None
    corrections: list[Correction] = field(default_factory=list)

    @property
    def count(self) -> int:
        """How many are inside, as far as was scanned or counted."""
        return max(0, self._balance)

    @property
    def below(self) -> int:
        """How many more were taken away than are known to be inside: so many may come in before the count rises."""
        return max(0, -self._balance)

    @property
    def _balance(self) -> int:
        return len(self.inside) + sum(one.change for one in self.corrections)

    def correct(self, correction: Correction, event: EventRow, now: int) -> None:
        """Takes a supervisor's count into account."""
        if correction.counts(event, now):
            self.corrections.append(correction)
            self._shift(correction, correction.change)

    def fill(
        self,
        tickets: Iterable[tuple[int, tuple[Passage, ...]]],
        event: EventRow,
        now: int,
        corrections: Iterable[Correction] = (),
    ) -> None:
        """Counts everybody from scratch."""
        self.inside.clear()
        self.zones.clear()
        self.gates.clear()
        self.corrections.clear()
        for ticket, history in tickets:
            self.note(ticket, history, event, now)
        for correction in corrections:
            self.correct(correction, event, now)
        self.span, self.counts_from = span_of_today(event.days, now), event.counts_from
        self.zones_when_heard, self.gates_when_heard = self.zones.copy(), self.gates.copy()

    def note(self, ticket: int, history: tuple[Passage, ...], event: EventRow, now: int) -> None:
        """Replaces one ticket's history."""
        self._leave(ticket)
        entry = inside_by(history, event, now)
        if entry is not None:
            self.inside[ticket] = entry
            self.zones[entry.zone] += 1
            self.gates[entry.gate] += 1

    def roll_over_day(self, event: EventRow, now: int) -> None:
        """Drops those whom a new event day or a later `counts_from` no longer counts, without reading them again."""
        span = span_of_today(event.days, now)
        if (span, event.counts_from) == (self.span, self.counts_from):
            return
        self.span, self.counts_from = span, event.counts_from
        for correction in [one for one in self.corrections if not one.counts(event, now)]:
            self.corrections.remove(correction)
            self._shift(correction, -correction.change)
        for ticket, entry in list(self.inside.items()):
            if inside_by((entry,), event, now) is None:
                self._leave(ticket)

    def heard(self, monotonic: int) -> None:
        """Remembers the counts as of news from the server; the time without news is measured from here."""
        self.heard_at = monotonic
        self.zones_when_heard, self.gates_when_heard = self.zones.copy(), self.gates.copy()

    def zone_room(self, zone: int, capacity: int, monotonic: int, share: Share) -> Room:
        """How full a zone is."""
        return self._room(self.zones[zone], self.zones_when_heard[zone], capacity, monotonic, share)

    def gate_room(self, gate: int, capacity: int, monotonic: int, share: Share) -> Room:
        """How many who entered through this gate are still inside."""
        return self._room(self.gates[gate], self.gates_when_heard[gate], capacity, monotonic, share)

    def _room(self, inside: int, then: int, capacity: int, monotonic: int, share: Share) -> Room:
        if monotonic - self.heard_at <= STALE_AFTER_MS:
            return Room(inside, capacity)
        return Room(inside, then + share.of(max(0, capacity - then)), estimated=True)

    def _shift(self, correction: Correction, change: int) -> None:
        self.gates[correction.gate] += change
        if correction.zone:
            self.zones[correction.zone] += change

    def _leave(self, ticket: int) -> None:
        entry = self.inside.pop(ticket, None)
        if entry is not None:
            self.zones[entry.zone] -= 1
            self.gates[entry.gate] -= 1
