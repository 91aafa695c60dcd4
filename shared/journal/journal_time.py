"""Corrects the times of journal entries, using only the server times recorded in the same journal."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from shared.journal.journal_entries import Entry, EntryKind

DRIFT_PPM = 100
"""The largest drift of a gate's clock."""
UNKNOWN_MS = 2**42
"""The uncertainty of an unbounded time (139 years)."""


class Span(NamedTuple):
    """Bounds for a moment: it lies in [low, high]."""

    low: int
    high: int


@dataclass(frozen=True, slots=True, order=True)
class Anchor:
    """The server's signed time and the monotonic time of this boot at that moment, accurate to half the round trip."""

    monotonic: int
    server: int
    rtt: int

    def reach(self, monotonic: int) -> Span:
        """Bounds for another moment of the same boot, derived from this anchor."""
        away = monotonic - self.monotonic
        slack = -(-self.rtt // 2) + -(-abs(away) * DRIFT_PPM // 1_000_000)
        return Span(self.server + away - slack, self.server + away + slack)


@dataclass(frozen=True, slots=True)
class Boot:
    """One run of a device: its anchors, and the first and last monotonic time it recorded."""

    id: bytes
    first: int
    last: int
    anchors: tuple[Anchor, ...] = ()


def anchor_of(entry: Entry) -> Anchor | None:
    """The anchor in an entry; None for other entries and invalid values."""
    if entry.kind != EntryKind.TIME_ANCHOR:
        return None
    values = [entry.details.get(name) for name in ("monotonic", "server", "rtt")]
    monotonic, server, rtt = (value if type(value) is int and 0 <= value <= 2**51 else None for value in values)
    if monotonic is None or server is None or rtt is None:
        return None
    return Anchor(monotonic, server, rtt)


def boots_of(entries: Iterable[Entry]) -> tuple[Boot, ...]:
    """The boots in the entries of one device and branch, given in order."""
    boots: dict[bytes, Boot] = {}
    for entry in entries:
        known = boots.get(entry.boot) or Boot(entry.boot, entry.monotonic, entry.monotonic)
        anchor = anchor_of(entry)
        boots[entry.boot] = Boot(
            known.id,
            min(known.first, entry.monotonic),
            max(known.last, entry.monotonic),
            known.anchors + ((anchor,) if anchor else ()),
        )
    return tuple(boots.values())


class Timeline:
    """Corrected times for one device's branch."""

    def __init__(self, boots: Sequence[Boot]) -> None:
        """Takes the boots in chronological order."""
        self._boots = {boot.id: boot for boot in boots}
        self._anchors = {boot.id: sorted(boot.anchors) for boot in boots}
        self._earliest = _earliest_starts(boots)
        self._latest = _latest_ends(boots)

    @classmethod
    def of(cls, entries: Iterable[Entry]) -> Timeline:
        """Builds it from all entries of the branch, in order."""
        return cls(boots_of(entries))

    def at(self, entry: Entry) -> tuple[int, int]:
        """The corrected time and its uncertainty, in ms."""
        boot = self._boots[entry.boot]
        if boot.anchors:
            return _between_anchors(self._anchors[boot.id], entry.monotonic)
        return _between_boots(
            _later(self._earliest.get(boot.id), entry.monotonic - boot.first),
            _earlier(self._latest.get(boot.id), boot.last - entry.monotonic),
            entry.wall + entry.offset,
        )


def correct(entries: Iterable[Entry]) -> Iterator[tuple[Entry, int, int]]:
    """Each entry of one device and branch, given in order, with its corrected time and uncertainty."""
    kept = list(entries)
    timeline = Timeline.of(kept)
    for entry in kept:
        yield entry, *timeline.at(entry)


def _between_anchors(anchors: Sequence[Anchor], monotonic: int) -> tuple[int, int]:
    """Interpolates between the anchors before and after, within the bounds of both."""
    place = bisect_right(anchors, monotonic, key=lambda anchor: anchor.monotonic)
    if place == 0:
        return _middle(anchors[0].reach(monotonic))
    if place == len(anchors) or anchors[place - 1].monotonic == monotonic:
        return _middle(anchors[place - 1].reach(monotonic))
    before, after = anchors[place - 1], anchors[place]
    span = _both(before.reach(monotonic), after.reach(monotonic))
    guess = min(max(_on_line(before, after, monotonic), span.low), span.high)
    return guess, max(span.high - guess, guess - span.low)


def _on_line(before: Anchor, after: Anchor, monotonic: int) -> int:
    width = after.monotonic - before.monotonic
    return before.server + (monotonic - before.monotonic) * (after.server - before.server) // width


def _both(one: Span, other: Span) -> Span:
    """The intersection of both bounds; their union if they contradict each other."""
    low, high = max(one.low, other.low), min(one.high, other.high)
    return Span(low, high) if low <= high else Span(min(one.low, other.low), max(one.high, other.high))


def _middle(span: Span) -> tuple[int, int]:
    middle = (span.low + span.high) // 2
    return middle, span.high - middle


def _between_boots(low: int | None, high: int | None, claimed: int) -> tuple[int, int]:
    """Bounds for a moment in a boot without an anchor: from the boots around it, or none."""
    if low is not None and high is not None:
        return _middle(Span(min(low, high), max(low, high)))
    known = low if low is not None else high
    return (claimed if known is None else known), UNKNOWN_MS


def _earliest_starts(boots: Sequence[Boot]) -> dict[bytes, int]:
    """The earliest possible start of each boot: the last time known in the boots before it."""
    low: int | None = None
    starts: dict[bytes, int] = {}
    for boot in boots:
        if low is not None:
            starts[boot.id] = low
        anchor = max(boot.anchors, default=None)
        low = anchor.reach(max(boot.last, anchor.monotonic)).low if anchor else _later(low, boot.last - boot.first)
    return starts


def _latest_ends(boots: Sequence[Boot]) -> dict[bytes, int]:
    """The latest possible end of each boot: the first time known in the boots after it."""
    high: int | None = None
    ends: dict[bytes, int] = {}
    for boot in reversed(boots):
        if high is not None:
            ends[boot.id] = high
        anchor = min(boot.anchors, default=None)
        high = (
            anchor.reach(min(boot.first, anchor.monotonic)).high if anchor else _earlier(high, boot.last - boot.first)
        )
    return ends


def _later(moment: int | None, by: int) -> int | None:
    return None if moment is None else moment + by - by * DRIFT_PPM // 1_000_000


def _earlier(moment: int | None, by: int) -> int | None:
    return None if moment is None else moment - by + by * DRIFT_PPM // 1_000_000
