"""Collects what is sold or held at an event from the layers above: seating never writes holds or sales.

A higher layer registers `database.on(COLLECT_TAKEN, handler)`; its handler adds to the `Taken` passed to it.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Final

from sqlalchemy.orm import Session

from shared.clock import Millis
from sync_server.plumbing.database import emit

COLLECT_TAKEN: Final = "event_inventory_asked"


@dataclass(slots=True)
class Taken:
    """The seats, by number, and places of zones without seats, by zone number, that are taken at an event."""

    event_id: str
    seats: set[int] = field(default_factory=set)  # sold, or held and not expired
    places: Counter[int] = field(default_factory=Counter)
    sold: bool = False  # whether a ticket was ever sold, which freezes the layout


def taken(session: Session, event_id: str, now: Millis) -> Taken:
    """What is sold or held at an event at `now`."""
    found = Taken(event_id)
    emit(session, COLLECT_TAKEN, found, now)
    return found
