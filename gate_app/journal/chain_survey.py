"""Checks the entries of one branch in order and finds those that are lost or altered; it does no I/O."""

from __future__ import annotations

from dataclasses import dataclass, field

from shared.errors import Unreadable
from shared.journal.scans import Entry, decode, entry_hash, gap_of

LostRange = tuple[int, int]
"""The first and last number of a range of lost entries."""


@dataclass(slots=True)
class ChainSurvey:
    """Takes entries in order; begins behind entry `seq`, whose hash is `hash` (None: unknown)."""

    device: int
    branch: int
    seq: int
    hash: bytes | None
    entries: int = 0
    broken_at: int | None = None
    _lost: list[LostRange] = field(default_factory=list)
    _suspect: int = 0

    def meet(self, place: int, body: bytes) -> None:
        """Takes the next body that exists, and its number."""
        self.entries += 1
        if place > self.seq + 1:
            self._lose(self.seq + 1, place - 1, broken_at=place)
        entry = entry_at(self.device, self.branch, place, body)
        if entry is None:
            self._lose(place, place, broken_at=place)
        else:
            self._link(place, entry)
            self.seq, self.hash = place, entry_hash(body)

    @property
    def lost(self) -> list[LostRange]:
        """The lost ranges in order, adjacent ones merged."""
        merged: list[LostRange] = []
        for first, last in sorted(self._lost):
            if merged and first <= merged[-1][1] + 1:
                merged[-1] = merged[-1][0], max(last, merged[-1][1])
            else:
                merged.append((first, last))
        return merged

    def _link(self, place: int, entry: Entry) -> None:
        """Compares an entry with the one before; if they contradict, the next one shows which was altered."""
        if gap_of(entry) is not None or self.hash is None:
            # A gap entry names the last entry before the missing range, which need not be its neighbour.
            self._suspect = 0
        elif entry.previous == self.hash:
            if self._suspect:
                self._lost.append((self._suspect, self._suspect))
            self._suspect = 0
        else:
            self.broken_at = self.broken_at or place
            self._suspect = self.seq

    def _lose(self, first: int, last: int, *, broken_at: int) -> None:
        self._lost.append((first, last))
        self.broken_at = self.broken_at or broken_at
        self.seq, self.hash, self._suspect = last, None, 0


def entry_at(device: int, branch: int, place: int, body: bytes) -> Entry | None:
    """The entry at this place; None if the bytes are not an entry, or belong to another place."""
    try:
        entry = decode(body)
    except Unreadable:
        return None
    return entry if (entry.device, entry.branch, entry.seq) == (device, branch, place) else None
