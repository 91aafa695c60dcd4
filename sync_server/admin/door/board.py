"""What the door looks like now: the counters of an event, and how fast its gates let people in."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from sqlalchemy.orm import Session

from shared.clock import Millis
from sync_server.events import queries as events
from sync_server.live.event_counters import EventCounters, GateCounters, event_counters
from sync_server.scans import throughput
from sync_server.scans.throughput import Stretch

MINUTE: Final = 60_000
SHOWN: Final = 15
"""Minutes of a gate that are drawn, each as a column."""
PACE: Final = 5
"""Whole minutes over which a pace is taken."""
LOOK_AHEAD: Final = 12 * 60
"""An event that fills more slowly than in so many minutes is not said to fill."""


@dataclass(frozen=True, slots=True)
class Bar:
    """What one gate did in one minute."""

    starts: Millis
    value: int


@dataclass(frozen=True, slots=True)
class GateNow:
    """One gate: what it has counted, and what it does just now."""

    counted: GateCounters
    bars: tuple[Bar, ...]  # people let in, by minute, the oldest first
    pace: float  # people let in a minute
    scanned: int  # in the minutes shown, let in and refused
    refused: int  # of them


@dataclass(frozen=True, slots=True)
class Board:
    """An event's door."""

    counters: EventCounters
    gates: tuple[GateNow, ...]
    pace: float  # people let in a minute, at all gates
    full_at: Millis | None  # when the event is full if it goes on like this
    at: Millis

    @property
    def highest(self) -> int:
        """The most that a gate let in within one of the minutes shown."""
        return max((bar.value for gate in self.gates for bar in gate.bars), default=0)

    @property
    def room_left(self) -> int:
        """How many more may be inside."""
        return max(0, self.counters.capacity - self.counters.inside)


def board(session: Session, event: events.Event, now: Millis) -> Board:
    """The door of an event now."""
    counters = event_counters(session, events.head_of(event), event.tickets_issued, now)
    whole = now - now % MINUTE
    stretches = throughput.by_gate(session, event.key, MINUTE, whole - (SHOWN - 1) * MINUTE)
    gates = tuple(_gate(gate, stretches, whole) for gate in counters.gates)
    return Board(counters, gates, sum(gate.pace for gate in gates), _full_at(counters, stretches, whole, now), now)


def _gate(gate: GateCounters, stretches: Iterable[Stretch], whole: Millis) -> GateNow:
    mine = {one.starts: one for one in stretches if one.gate == gate.number}
    starts = [whole - ago * MINUTE for ago in reversed(range(SHOWN))]
    bars = tuple(Bar(at, mine[at].entries if at in mine else 0) for at in starts)
    refused = sum(one.refused for one in mine.values())
    scanned = refused + sum(one.entries for one in mine.values())
    return GateNow(gate, bars, _pace(bar.value for bar in bars[-PACE - 1 : -1]), scanned, refused)


def _pace(values: Iterable[int]) -> float:
    return sum(values) / PACE


def _full_at(counters: EventCounters, stretches: Sequence[Stretch], whole: Millis, now: Millis) -> Millis | None:
    recent = [one for one in stretches if whole - PACE * MINUTE <= one.starts < whole]
    more = _pace(one.entries - one.exits for one in recent)
    left = counters.capacity - counters.inside
    if not counters.capacity or left <= 0 or more <= 0 or left / more > LOOK_AHEAD:
        return None
    return now + round(left / more * MINUTE)
