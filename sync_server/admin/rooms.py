"""How many tickets an event has in all, wherever a page says so many of how many are sold: one rule for all of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy.orm import Session

from sync_server.admin import display
from sync_server.events.queries import Event
from sync_server.events.snapshot_rows import days
from sync_server.tickets import queries as tickets


@dataclass(frozen=True, slots=True)
class Room:
    """What is sold of how many; of several days the one that has the most left, since its tickets are on sale still."""

    sold: int
    of: int  # 0: nothing limits them
    several_days: bool

    @property
    def full(self) -> bool:
        """Whether nothing is left."""
        return 0 < self.of <= self.sold


def rooms(session: Session, events: Sequence[Event]) -> Mapping[str, Room]:
    """The room of each of these events: its capacity, or what its ticket types offer where that is less."""
    offered = tickets.offered(session, events[0].organisation_id, [event.id for event in events]) if events else {}
    return {event.id: room(event, offered.get(event.id, 0)) for event in events}


def room(event: Event, offered: int) -> Room:
    """The room of one event whose ticket types offer so many."""
    several = len(days(event)) > 1
    limits = [each for each in (display.room(event), 0 if several else offered) if each]
    return Room(event.least_issued, min(limits, default=0), several)
