"""The gate's clock and its uncertainty: signed server time plus monotonic time, never the wall clock alone."""

from __future__ import annotations

from enum import StrEnum
from typing import Protocol

import msgspec

from shared.clock import Clock, Millis, MonotonicClock

DRIFT_PPM = 100
UNSYNCED_MS = 24 * 3_600_000
"""The least uncertainty of a clock that has not heard the server since this machine started."""
IMPLAUSIBLE_MS = 400 * 24 * 3_600_000
"""A wall clock this far beyond the last signed time is ignored."""
BY_HAND_MS = 60_000
FLOOR_EVERY_MS = 30_000
_ANCHOR = "time_anchor"
_FLOOR = "time_floor"


class TimeSource(StrEnum):
    """Where the time comes from, most reliable first."""

    SERVER = "server"
    BY_HAND = "by hand"
    FLOOR = "last signed time"
    WALL = "wall clock"


class TimeAnchor(msgspec.Struct, frozen=True):
    """A moment at which the true time was known: signed by the server, or set by a person."""

    boot: bytes
    monotonic: int  # ms, when it was received
    true: int  # ms
    uncertainty: int
    source: TimeSource


class Moment(msgspec.Struct, frozen=True):
    """The time as this gate knows it."""

    at: Millis
    uncertainty: int
    wall: Millis
    monotonic: int
    source: TimeSource

    @property
    def offset(self) -> int:
        """How far the wall clock is behind the true time."""
        return self.at - self.wall


class KeyValueStore(Protocol):
    """Storage for a few values that must survive a power cut."""

    def put(self, name: str, value: str | int | bytes) -> None:
        """Stores a value durably."""
        ...

    def get(self, name: str) -> str | int | bytes | None:
        """The stored value; None if there is none."""
        ...


class TimeKeeper:
    """The gate's clock."""

    def __init__(self, store: KeyValueStore, wall: Clock, monotonic: MonotonicClock, boot: bytes) -> None:
        """Loads the last anchor. `boot` identifies this run of the machine; monotonic times of others mean nothing."""
        self._store = store
        self._wall = wall
        self._monotonic = monotonic
        self.boot = boot
        self._anchor = _load_anchor(store.get(_ANCHOR), boot)
        floor = store.get(_FLOOR)
        self._floor = floor if isinstance(floor, int) else 0
        self._started = self.monotonic_ms()

    @property
    def floor(self) -> Millis:
        """A time that has certainly passed, by the server's signature; 0 if the server was never heard."""
        return self._floor

    def monotonic_ms(self) -> int:
        """Milliseconds since the machine started."""
        return self._monotonic() // 1_000_000

    def now(self) -> Moment:
        """The time and its uncertainty."""
        wall, monotonic = self._wall(), self.monotonic_ms()
        if self._anchor is None:
            return self._unsynced(wall, monotonic)
        return _since(self._anchor, wall, monotonic)

    def hear(self, server_time: Millis, sent: int, received: int) -> Moment:
        """Takes the server's signed time; `sent` and `received` are the monotonic ms of the request it belongs to."""
        half = (received - sent) // 2
        anchor = TimeAnchor(self.boot, received, server_time + half, half + 1, TimeSource.SERVER)
        if self._better(anchor):
            self._anchor = anchor
            self._store.put(_ANCHOR, msgspec.msgpack.encode(anchor))
        self.raise_floor()
        return self.now()

    def set_by_hand(self, true: Millis) -> Moment:
        """Sets the time by hand. The floor stays: a typing mistake must not lock the clock in the future."""
        self._anchor = TimeAnchor(self.boot, self.monotonic_ms(), true, BY_HAND_MS, TimeSource.BY_HAND)
        self._store.put(_ANCHOR, msgspec.msgpack.encode(self._anchor))
        return self.now()

    def raise_floor(self) -> None:
        """Stores, now and then, a time that has certainly passed; the clock never goes back before it."""
        moment = self.now()
        sure = moment.at - moment.uncertainty
        if moment.source is TimeSource.SERVER and sure >= self._floor + FLOOR_EVERY_MS:
            self._floor = sure
            self._store.put(_FLOOR, sure)

    def _better(self, anchor: TimeAnchor) -> bool:
        present = self._anchor
        if present is None or present.source is not TimeSource.SERVER:
            return True
        expected = _since(present, 0, anchor.monotonic)
        # A more precise time wins; so does one that contradicts the old anchor, because the server is right.
        return (
            anchor.uncertainty <= expected.uncertainty
            or abs(anchor.true - expected.at) > anchor.uncertainty + expected.uncertainty
        )

    def _unsynced(self, wall: Millis, monotonic: int) -> Moment:
        """The time without an anchor: never before the floor however wrong the wall clock is, and always uncertain."""
        at_least = self._floor + monotonic - self._started
        if self._floor and (wall < at_least or wall > self._floor + IMPLAUSIBLE_MS):
            uncertainty = max(UNSYNCED_MS, min(abs(wall - at_least), IMPLAUSIBLE_MS))
            return Moment(at_least, uncertainty, wall, monotonic, TimeSource.FLOOR)
        return Moment(wall, max(UNSYNCED_MS, wall - at_least if self._floor else 0), wall, monotonic, TimeSource.WALL)


def drift(elapsed_ms: int) -> int:
    """How far a quartz clock may have drifted in that time, rounded up."""
    return (elapsed_ms * DRIFT_PPM + 999_999) // 1_000_000


def _since(anchor: TimeAnchor, wall: Millis, monotonic: int) -> Moment:
    elapsed = max(0, monotonic - anchor.monotonic)
    return Moment(anchor.true + elapsed, anchor.uncertainty + drift(elapsed), wall, monotonic, anchor.source)


def _load_anchor(value: str | int | bytes | None, boot: bytes) -> TimeAnchor | None:
    """The stored anchor, if it belongs to this run of the machine."""
    if not isinstance(value, bytes):
        return None
    anchor = msgspec.msgpack.decode(value, type=TimeAnchor)
    return anchor if anchor.boot == boot else None
