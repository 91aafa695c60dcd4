"""A layout as it was read from a file: with the mistakes found so far, and where in the file its parts stand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from sync_server.seating.layouts.mistakes import Mistakes
from sync_server.seating.layouts.plan import LayoutPlan


@dataclass(slots=True)
class Places:
    """Where the zones and seats of a plan stand; by default, in our own JSON."""

    names: Mapping[str, str] = field(default_factory=dict)  # of fields, where the file calls them something else
    joint: str = "."  # between a place and a field there
    zones: list[str] = field(default_factory=list)
    seats: list[list[str]] = field(default_factory=list)

    def zone(self, at: int, name: str = "") -> str:
        """Where a zone stands, or a field of it."""
        return self._named(self.zones[at] if self.zones else f"zones[{at}]", name)

    def seat(self, zone: int, at: int, name: str = "") -> str:
        """Where a seat stands, or a field of it."""
        return self._named(self.seats[zone][at] if self.seats else f"zones[{zone}].seats[{at}]", name)

    def _named(self, place: str, name: str) -> str:
        return f"{place}{self.joint}{self.names.get(name, name)}" if name else place


@dataclass(frozen=True, slots=True)
class ReadPlan:
    """What a reader makes of a file; it may only be used once it was checked."""

    plan: LayoutPlan
    mistakes: Mistakes = field(default_factory=Mistakes)
    places: Places = field(default_factory=Places)
