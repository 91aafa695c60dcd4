"""The state of an event's seats and places, for seat maps: never who holds them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from shared.clock import Millis
from sync_server.holds import places
from sync_server.holds.models import EventSeatRow, HoldRow, HoldStatus, SeatState
from sync_server.holds.seats import at_event
from sync_server.plumbing.sql.bulk import among
from sync_server.seating.taken import SOLD

__all__ = ["PlaceCounts", "SeatOccupancy", "SeatState", "place_counts", "seats", "taken_until"]

SeatOccupancy = tuple[int, SeatState, Millis | None]
"""Number, state, and until when it is held; a hold that ran out is still listed until it is swept."""


@dataclass(frozen=True, slots=True)
class PlaceCounts:
    """Places of zones without seats, by zone number; overdue holds count as free."""

    held: Mapping[int, int]
    sold: Mapping[int, int]
    until: Millis | None  # when the first of these holds runs out


def seats(
    session: Session, organisation_id: str, event_id: str, numbers: Collection[int] | None = None
) -> list[SeatOccupancy]:
    """The seats of an event (or those of `numbers`) that were ever taken; all others are free."""
    seat = EventSeatRow
    here = select(seat.seat, seat.state, seat.held_until).where(*at_event(organisation_id, event_id))
    if numbers is not None:
        here = here.where(among(session, seat.seat, numbers))
    return [(row.seat, SeatState(row.state), row.held_until) for row in session.execute(here)]


def taken_until(
    session: Session, organisation_id: str, event_id: str, numbers: Collection[int] | None
) -> Iterator[tuple[int, Millis]]:
    """The taken seats among these, or all, each with the time until which it is taken."""
    for seat, state, until in seats(session, organisation_id, event_id, numbers):
        if state is not SeatState.FREE:
            yield seat, SOLD if until is None else until


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
