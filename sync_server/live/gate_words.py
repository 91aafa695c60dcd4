"""The age of each gate's word, and how far off a count may be while gates are silent or hold scans back: pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from shared.attempts import Direction
from shared.clock import Millis
from sync_server.devices.queries import DeviceWord
from sync_server.devices.rules import is_silent

FASTEST_LANE: Final = 30
"""More people a minute than one device ever lets through: one every two seconds, with no pause."""
_MINUTE: Final = 60_000


@dataclass(frozen=True, slots=True)
class GateWord:
    """What is known of one gate's devices."""

    devices: int = 0
    silent: int = 0
    heard_at: Millis | None = None  # the latest word of any of them
    oldest_at: Millis | None = None  # of the device that has been silent longest
    unsent: int = 0  # entries that they said they had not uploaded yet
    entries: int = 0  # at most as many that nobody here knows of yet
    exits: int = 0

    @property
    def sure(self) -> bool:
        """Whether all that happened at this gate is counted."""
        return not self.silent and not self.unsent

    def and_device(self, word: DeviceWord, now: Millis, until: Millis) -> GateWord:
        """With one more device, which admitted nobody after `until`."""
        silent = is_silent(now, word.heard_at)
        unknown = _unknown(word, until, silent=silent)
        return GateWord(
            self.devices + 1,
            self.silent + silent,
            max((at for at in (self.heard_at, word.heard_at) if at is not None), default=None),
            min((at for at in (self.oldest_at, word.heard_at if silent else None) if at is not None), default=None),
            self.unsent + word.unsent,
            self.entries + (unknown if word.direction != Direction.EXIT else 0),
            self.exits + (unknown if word.direction != Direction.ENTRY else 0),
        )


def _unknown(word: DeviceWord, until: Millis, *, silent: bool) -> int:
    """How many people this device may have let pass that are not counted; one that was never heard has no tickets."""
    if word.heard_at is None or not word.counts:
        return 0
    minutes = -(-max(0, until - word.heard_at) // _MINUTE) if silent else 0
    return word.unsent + minutes * FASTEST_LANE


def gate_words(words: Iterable[DeviceWord], now: Millis, until: Millis | None = None) -> dict[int, GateWord]:
    """The word of each gate of an event, by number; 0 is for devices that stand at no gate yet."""
    found: dict[int, GateWord] = {}
    for word in words:
        gate = word.gate or 0
        found[gate] = found.get(gate, GateWord()).and_device(word, now, now if until is None else min(now, until))
    return found


@dataclass(frozen=True, slots=True)
class Bounds:
    """At least and at most as many are inside."""

    least: int
    most: int


def bounds(inside: int, issued: int, words: Iterable[GateWord]) -> Bounds:
    """Between what numbers the true one lies: nobody leaves who is not inside, nobody enters without a ticket."""
    known = list(words)
    entries, exits = sum(word.entries for word in known), sum(word.exits for word in known)
    outside = max(0, issued - inside)
    return Bounds(inside - min(exits, inside), inside + min(entries, outside))
