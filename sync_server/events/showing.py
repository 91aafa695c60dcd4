"""What visitors must be able to read of an event before it is shown to them: what takes place, and where."""

from __future__ import annotations

from typing import Final

from sqlalchemy.orm import Session

from shared.clock import Millis
from shared.errors import Conflict
from sync_server.events import rules
from sync_server.events.derived import derive
from sync_server.events.models import EventRecord
from sync_server.venues import queries as venues
from sync_server.venues.queries import Place

PLACE: Final = ("city", "country", "address")


def make_ready(session: Session, row: EventRecord, now: Millis) -> None:
    """A draft that may be shown, with what its house has said of its place since; Conflict for one that may not."""
    if row.end_at <= now:
        raise Conflict("The event is over already. Give it another time first, then publish it.", code="event_over")
    rules.check_described(row.description)
    house = venues.venue(session, row.organisation_id, row.venue_id)
    for name in PLACE:  # what the event has copied stays, whatever has become of the house
        setattr(row, name, getattr(row, name) or getattr(house, name))
    derive(row)
    check_findable(row, house)


def check_findable(row: EventRecord, house: Place) -> None:
    """Conflict `event_incomplete` where visitors could not tell where it takes place; a stream has no such place."""
    missing = [] if house.kind == "virtual" else [name for name in PLACE if not getattr(row, name)]
    if missing:
        raise Conflict(
            f"Visitors must know where it takes place. The venue lacks: {', '.join(missing)}.",
            code="event_incomplete",
            missing=missing,
        )
