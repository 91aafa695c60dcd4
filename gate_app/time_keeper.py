"""What time it is at this gate, and how surely: signed server time plus monotonic time, never the wall clock alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

import msgspec

from shared.clock import Clock, Millis, MonotonicClock

DRIFT_PPM = 100
UNSYNCED_MS = 24 * 3_600_000
"""The least uncertainty of a clock that heard no server since this machine started."""
IMPLAUSIBLE_MS = 400 * 24 * 3_600_000
"""A wall clock so far beyond the last signed time is not believed at all."""
BY_HAND_MS = 60_000
FLOOR_EVERY_MS = 30_000
_ANCHOR = "time_anchor"
_FLOOR = "time_floor"


class Source(StrEnum):
    """Where the time comes from, best first."""

    SERVER = "server"
    BY_HAND = "by hand"
    FLOOR = "last signed time"
    WALL = "wall clock"


class Reckoning(msgspec.Struct, frozen=True):
    """One moment at which the true time was told: by the server's signature, or by a person."""

    boot: bytes
    monotonic: int  # ms, when it was told
    true: int  # ms
    uncertainty: int
    source: Source


@dataclass(frozen=True, slots=True)
class Moment:
    """Now, as this gate knows it."""

    at: Millis
    uncertainty: int
    wall: Millis
    monotonic: int
    source: Source

    @property
    def offset(self) -> int:
        """How far the wall clock is behind."""
        return self.at - self.wall


class Marks(Protocol):
    """Where a few facts survive a power cut."""

    def mark(self, name: str, value: str | int | bytes) -> None:
        """Keeps it durably."""
        ...

    def marked(self, name: str) -> str | int | bytes | None:
        """What was kept."""
        ...


class TimeKeeper:
    """The gate's one clock."""

    def __init__(self, marks: Marks, wall: Clock, monotonic: MonotonicClock, boot: bytes) -> None:
        """Reads what was kept; `boot` names this run of the machine, within which monotonic time holds."""
        self._marks = marks
        self._wall = wall
        self._monotonic = monotonic
        self.boot = boot
        self._reckoning = _kept(marks.marked(_ANCHOR), boot)
        floor = marks.marked(_FLOOR)
        self._floor = floor if isinstance(floor, int) else 0
        self._begun = self.monotonic_ms()

    @property
    def floor(self) -> Millis:
        """A time that is surely over, by the server's signed word; 0 where it was never heard."""
        return self._floor

    def monotonic_ms(self) -> int:
        """Milliseconds since the machine started."""
        return self._monotonic() // 1_000_000

    def now(self) -> Moment:
        """The time, and how far the truth may be from it."""
        wall, monotonic = self._wall(), self.monotonic_ms()
        if self._reckoning is None:
            return self._unsynced(wall, monotonic)
        return _since(self._reckoning, wall, monotonic)

    def hear(self, server_time: Millis, sent: int, received: int) -> Moment:
        """Takes the server's signed time; `sent` and `received` are the monotonic ms of the very request it answers."""
        half = (received - sent) // 2
        told = Reckoning(self.boot, received, server_time + half, half + 1, Source.SERVER)
        if self._better(told):
            self._reckoning = told
            self._marks.mark(_ANCHOR, msgspec.msgpack.encode(told))
        self.raise_floor()
        return self.now()

    def set_by_hand(self, true: Millis) -> Moment:
        """An operator's word. It moves no floor: a typing mistake must not lock the clock in the future."""
        self._reckoning = Reckoning(self.boot, self.monotonic_ms(), true, BY_HAND_MS, Source.BY_HAND)
        self._marks.mark(_ANCHOR, msgspec.msgpack.encode(self._reckoning))
        return self.now()

    def raise_floor(self) -> None:
        """Keeps, now and then, a time before which this gate will never again believe to be."""
        moment = self.now()
        sure = moment.at - moment.uncertainty
        if moment.source is Source.SERVER and sure >= self._floor + FLOOR_EVERY_MS:
            self._floor = sure
            self._marks.mark(_FLOOR, sure)

    def _better(self, told: Reckoning) -> bool:
        present = self._reckoning
        if present is None or present.source is not Source.SERVER:
            return True
        expected = _since(present, 0, told.monotonic)
        # A quick answer beats an old one; one that contradicts what was known is the server's word and wins.
        return (
            told.uncertainty <= expected.uncertainty
            or abs(told.true - expected.at) > told.uncertainty + expected.uncertainty
        )

    def _unsynced(self, wall: Millis, monotonic: int) -> Moment:
        """Never before the floor, however wrong the wall clock is, and never sure."""
        at_least = self._floor + monotonic - self._begun
        if self._floor and (wall < at_least or wall > self._floor + IMPLAUSIBLE_MS):
            uncertainty = max(UNSYNCED_MS, min(abs(wall - at_least), IMPLAUSIBLE_MS))
            return Moment(at_least, uncertainty, wall, monotonic, Source.FLOOR)
        return Moment(wall, max(UNSYNCED_MS, wall - at_least if self._floor else 0), wall, monotonic, Source.WALL)


def drift(elapsed_ms: int) -> int:
    """By how much a quartz may have strayed in that time, rounded up."""
    return (elapsed_ms * DRIFT_PPM + 999_999) // 1_000_000


def _since(told: Reckoning, wall: Millis, monotonic: int) -> Moment:
    elapsed = max(0, monotonic - told.monotonic)
    return Moment(told.true + elapsed, told.uncertainty + drift(elapsed), wall, monotonic, told.source)


def _kept(value: str | int | bytes | None, boot: bytes) -> Reckoning | None:
    """What was told counts only within the run of the machine in which it was told."""
    if not isinstance(value, bytes):
        return None
    told = msgspec.msgpack.decode(value, type=Reckoning)
    return told if told.boot == boot else None


TimeTeller = Callable[[], Moment]
