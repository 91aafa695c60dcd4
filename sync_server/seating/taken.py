"""Asks higher floors what is sold or held at an event: seating reads holds and sales, and never writes them.

A higher floor answers by `database.when(ASKED, handler)`: its handler adds to the `Taken` that it is handed.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Final

from sqlalchemy.orm import Session

from shared.clock import Millis
from sync_server.plumbing.database import announce

ASKED: Final = "event_inventory_asked"


@dataclass(slots=True)
class Taken:
    """What is gone at one event: seats by number, places of zones without seats by zone, both of its layout."""

    event_id: str
    seats: set[int] = field(default_factory=set)  # sold, or held and not expired
    places: Counter[int] = field(default_factory=Counter)
    sold: bool = False  # whether a ticket was ever sold: from then on the layout is frozen


def taken(session: Session, event_id: str, now: Millis) -> Taken:
    """What everybody who sells or holds says is gone."""
    answer = Taken(event_id)
    announce(session, ASKED, answer, now)
    return answer
