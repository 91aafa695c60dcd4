"""Supervisors' decisions at gates, and their scope: doors on one device, an emptied venue everywhere."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Final

from shared.clock import Millis
from shared.journal.scans import Entry, EntryKind

MOST_CORRECTED: Final = 100_000


@dataclass(frozen=True, slots=True)
class Decision:
    """One supervisor's decision, identified by its journal entry."""

    entry: Entry
    hash: bytes
    at: Millis  # corrected
    uncertainty: int

    @property
    def empties_venue(self) -> bool:
        """Whether the venue was emptied."""
        return self.entry.kind == EntryKind.COUNT_CORRECTION and "counts_from" in self.entry.details

    @property
    def change(self) -> int:
        """By how many the count of people inside was corrected; 0 for any other decision."""
        return change_of(self.entry)

    @property
    def opened(self) -> bool:
        """Whether doors or a gate were opened; otherwise they were closed again."""
        return self.entry.details.get("opened") is True

    @property
    def what(self) -> str:
        """The name of the decision in the API."""
        if self.empties_venue:
            return "house_emptied"
        if self.change:
            return "count_corrected"
        return "doors_opened" if self.opened else "doors_closed"

    @property
    def place(self) -> tuple[int, int, bytes]:
        """Its position in the device's journal; a new branch continues the decisions of the one before."""
        return self.entry.branch, self.entry.seq, self.hash


def is_decision(entry: Entry, supervisors: Collection[int]) -> bool:
    """Whether an entry is a decision of one of the organisation's supervisors."""
    if entry.override_by not in supervisors or not entry.event:
        return False
    if entry.kind == EntryKind.DOORS:
        return isinstance(entry.details.get("opened"), bool)
    return entry.kind == EntryKind.COUNT_CORRECTION and ("counts_from" in entry.details or change_of(entry) != 0)


def change_of(entry: Entry) -> int:
    """By how many an entry corrects the count of people inside; 0 for any other, and for what cannot be meant."""
    change = entry.details.get("change") if entry.kind == EntryKind.COUNT_CORRECTION else None
    return change if type(change) is int and abs(change) <= MOST_CORRECTED else 0


class Decisions:
    """All decisions of one event; results depend on their set, not their order."""

    def __init__(self, decisions: Iterable[Decision]) -> None:
        """Takes them in any order."""
        in_order = sorted(decisions, key=lambda one: one.place)
        self._doors = [one for one in in_order if one.entry.kind == EntryKind.DOORS]
        self._emptyings = [one for one in in_order if one.empties_venue]

    def opened(self, entry: Entry, gate: int) -> bool:
        """Whether the event's doors (gate 0) or a closed gate were open on the entry's device at that point."""
        if not self._doors:
            return False
        before = [one.opened for one in self._doors if one.entry.gate == gate and _precedes(one, entry)]
        return before[-1] if before else False

    def emptied(self, at: Millis) -> Millis:
        """When the venue was last emptied up to this time, by anybody; 0 where never."""
        return max([one.at for one in self._emptyings if one.at <= at], default=0)

    def emptied_on(self, entry: Entry) -> Millis:
        """When the entry's own device last emptied the venue before this entry; 0 where never."""
        return max([one.at for one in self._emptyings if _precedes(one, entry)], default=0)


def _precedes(one: Decision, entry: Entry) -> bool:
    return one.entry.device == entry.device and (one.entry.branch, one.entry.seq) < (entry.branch, entry.seq)
