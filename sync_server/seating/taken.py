"""What is sold or held at an event, asked of the package that sells: seating never writes holds or sales."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from sqlalchemy.orm import Session

from shared.clock import Millis
from sync_server.plumbing.ports import ports_of

SOLD: Final[Millis] = 1 << 62
"""Until when a sold seat is taken."""


@dataclass(slots=True)
class Taken:
    """The seats, by number, and places of zones without seats, by zone number, that are taken at an event."""

    event_id: str
    seats: set[int] = field(default_factory=set)  # sold, or held and not expired
    places: Counter[int] = field(default_factory=Counter)
    sold: bool = False  # whether a ticket was ever sold, which freezes the layout


@dataclass(frozen=True, slots=True)
class PlaceCounts:
    """Places of zones without seats, by zone number; overdue holds count as free."""

    held: Mapping[int, int] = field(default_factory=dict)
    sold: Mapping[int, int] = field(default_factory=dict)
    until: Millis | None = None  # when the first of these holds runs out

    def total(self) -> int:
        """How many are held or sold."""
        return sum(self.held.values()) + sum(self.sold.values())


@dataclass(frozen=True, slots=True)
class SeatingPorts:
    """What seating asks of higher packages about an event of an organisation."""

    taken: Callable[[Session, str, str, Millis], Taken]
    taken_seats: Callable[[Session, str, str, Collection[int] | None], Iterable[tuple[int, Millis]]]
    """The taken seats among some, or all, each with the time until which it is taken (`SOLD`: for good)."""
    taken_places: Callable[[Session, str, str, Millis], PlaceCounts]
    seat_changes: Callable[[Session, str, str, int | None], tuple[int, Collection[int] | None]]
    """The version of an event's seats, and every seat touched by a commit since another version; None for any seat."""


def taken(session: Session, organisation_id: str, event_id: str, now: Millis) -> Taken:
    """What is sold or held at an event at `now`."""
    return ports_of(session, SeatingPorts).taken(session, organisation_id, event_id, now)


def count_taken(session: Session, organisation_id: str, event_id: str, now: Millis) -> int:
    """How many seats and places are sold or held at `now`."""
    found = taken(session, organisation_id, event_id, now)
    return len(found.seats) + found.places.total()
