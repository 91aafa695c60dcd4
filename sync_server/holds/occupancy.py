"""The state of an event's seats and places, for seat maps: never who holds them."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from shared.clock import Millis
from sync_server.holds.models import EventSeatRow, HoldRow, HoldStatus, SeatState
from sync_server.holds.taking import places
from sync_server.holds.taking.seats import at_event
from sync_server.plumbing.sql.bulk import among
from sync_server.seating.taken import SOLD, PlaceCounts


def taken_until(
    session: Session, organisation_id: str, event_id: str, numbers: Collection[int] | None
) -> Iterator[tuple[int, Millis]]:
    """The taken seats among these, or all, each with the time until which it is taken; overdue holds until swept."""
    seat = EventSeatRow
    here = at_event(organisation_id, event_id)
    taken = select(seat.seat, seat.held_until).where(*here, seat.state != SeatState.FREE)
    if numbers is not None:
        taken = taken.where(among(session, seat.seat, numbers))
    return ((row.seat, SOLD if row.held_until is None else row.held_until) for row in session.execute(taken))


def place_counts(session: Session, organisation_id: str, event_id: str, now: Millis) -> PlaceCounts:
    """Places held and sold at an event."""
    taken, held = (
        places.taken(session, organisation_id, event_id, now),
        places.held(session, organisation_id, event_id, now),
    )
    here = HoldRow.organisation_id == organisation_id, HoldRow.event_id == event_id
    active = HoldRow.kind == "places", HoldRow.status == HoldStatus.ACTIVE.value, HoldRow.held_until > now
    first = session.execute(select(func.min(HoldRow.held_until)).where(*here, *active)).scalar()
    return PlaceCounts(dict(held), {zone: count - held[zone] for zone, count in taken.items()}, first)
