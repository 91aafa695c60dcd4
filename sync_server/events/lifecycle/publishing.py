"""Checks that an event has what visitors need before it is shown: a description and a location."""

from __future__ import annotations

from typing import Final

from sqlalchemy.orm import Session

from shared.clock import Millis
from shared.errors import Conflict
from sync_server.events import rules
from sync_server.events.derived_columns import set_derived_columns
from sync_server.events.models import EventRecord
from sync_server.venues import queries as venues
from sync_server.venues.queries import Venue

LOCATION_COLUMNS: Final = ("city", "country", "address")


def prepare_to_publish(session: Session, row: EventRecord, now: Millis) -> None:
    """Fill gaps in a draft's location from its venue; Conflict for a draft that cannot be published yet."""
    if row.end_at <= now:
        raise Conflict("The event is already over. Change its times before you publish it.", code="event_over")
    rules.check_description(row.description)
    venue = venues.venue(session, row.organisation_id, row.venue_id)
    for name in LOCATION_COLUMNS:  # only gaps: what the event copied stays, even if the venue has changed
        setattr(row, name, getattr(row, name) or getattr(venue, name))
    set_derived_columns(row)
    check_location(row, venue)


def check_location(row: EventRecord, venue: Venue) -> None:
    """Conflict `event_incomplete` where part of the location is missing; virtual venues need none."""
    missing = [] if venue.kind == "virtual" else [name for name in LOCATION_COLUMNS if not getattr(row, name)]
    if missing:
        raise Conflict(
            f"The event needs a location before it is shown. The venue lacks: {', '.join(missing)}.",
            code="event_incomplete",
            missing=missing,
        )
