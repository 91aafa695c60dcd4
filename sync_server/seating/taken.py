"""What is sold or held at an event, asked of the package that sells: seating never writes holds or sales."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from sqlalchemy.orm import Session

from shared.clock import Millis
from sync_server.events.days.chosen_days import EVERY_DAY
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
class SeatChanges:
    """The version of an event's seats, and every seat touched by a commit since another; None for any seat."""

    version: int
    touched: Collection[int] | None
    unversioned: frozenset[str] = frozenset()  # ids of commits that are reported once more, under a version


@dataclass(frozen=True, slots=True)
class SeatingPorts:
    """What seating asks of higher packages about an event of an organisation; the last number is a bitmap of days.

    A seat is taken if it is on any of these days; of places the fullest day counts.
    """

    taken: Callable[[Session, str, str, Millis, int], Taken]
    taken_seats: Callable[[Session, str, str, Collection[int] | None, int], Iterable[tuple[int, Millis]]]
    """The taken seats among some, or all, each with the time until which it is taken (`SOLD`: for good)."""
    taken_places: Callable[[Session, str, str, Millis, int], PlaceCounts]
    seat_changes: Callable[[Session, str, str, int | None, Collection[str]], SeatChanges]
    """What has changed since a version; the last are the ids of what was reported before it had one."""


def taken(session: Session, organisation_id: str, event_id: str, now: Millis, days: int = EVERY_DAY) -> Taken:
    """What is sold or held at an event at `now`, on any of these days."""
    return ports_of(session, SeatingPorts).taken(session, organisation_id, event_id, now, days)


def sold_among(
    session: Session, organisation_id: str, event_id: str, seats: Collection[int], days: int = EVERY_DAY
) -> set[int]:
    """Those of some seats that are sold on any of these days."""
    found = ports_of(session, SeatingPorts).taken_seats(session, organisation_id, event_id, seats, days)
    return {seat for seat, until in found if until == SOLD}


def count_taken(session: Session, organisation_id: str, event_id: str, now: Millis) -> int:
    """How many seats and places are sold or held at `now`."""
    found = taken(session, organisation_id, event_id, now)
    return len(found.seats) + found.places.total()
