"""What supervisors decided at gates, and how far it reaches: doors on their own device, an emptied house everywhere."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from shared.clock import Millis
from shared.scans import Entry, EntryKind


@dataclass(frozen=True, slots=True)
class Decision:
    """One supervisor's decision, named by the entry that tells of it."""

    entry: Entry
    hash: bytes
    at: Millis  # corrected
    uncertainty: int

    @property
    def house(self) -> bool:
        """Nobody is inside any more; else doors were opened or closed."""
        return self.entry.kind == EntryKind.COUNT_CORRECTION

    @property
    def opened(self) -> bool:
        """Doors or gate were opened; else that was taken back."""
        return self.entry.details.get("opened") is True

    @property
    def what(self) -> str:
        """In one word of the API."""
        if self.house:
            return "house_emptied"
        return "doors_opened" if self.opened else "doors_closed"

    @property
    def place(self) -> tuple[int, int, bytes]:
        """Where it stands in its device's journal; a new branch goes on with what the device had decided before."""
        return self.entry.branch, self.entry.seq, self.hash


def is_decision(entry: Entry, supervisors: Collection[int]) -> bool:
    """Whether an entry tells of one, by somebody whom the organisation made a supervisor."""
    if entry.override_by not in supervisors or not entry.event:
        return False
    if entry.kind == EntryKind.DOORS:
        return isinstance(entry.details.get("opened"), bool)
    return entry.kind == EntryKind.COUNT_CORRECTION and "counts_from" in entry.details


class Decisions:
    """All of one event; every answer depends on their set alone."""

    def __init__(self, decisions: Iterable[Decision]) -> None:
        """In any order."""
        known = sorted(decisions, key=lambda one: one.place)
        self._doors = [one for one in known if not one.house]
        self._houses = [one for one in known if one.house]

    def opened(self, entry: Entry, gate: int) -> bool:
        """Whether the event's doors (gate 0) or a closed gate stood open on this entry's device, by its journal."""
        before = [one.opened for one in self._doors if one.entry.gate == gate and _goes_before(one, entry)]
        return before[-1] if before else False

    def emptied(self, at: Millis) -> Millis:
        """When the house was emptied last, up to this moment, by whoever; 0: never."""
        return max((one.at for one in self._houses if one.at <= at), default=0)

    def emptied_on(self, entry: Entry) -> Millis:
        """The same as far as this entry's own device knew of itself."""
        return max((one.at for one in self._houses if _goes_before(one, entry)), default=0)


def _goes_before(one: Decision, entry: Entry) -> bool:
    return one.entry.device == entry.device and (one.entry.branch, one.entry.seq) < (entry.branch, entry.seq)
