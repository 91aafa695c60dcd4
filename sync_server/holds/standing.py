"""How it stands with an event's seats and places, for rooms that show it: never who holds them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from shared.clock import Millis
from sync_server.holds import places
from sync_server.holds.models import HoldRow, HoldStatus, SeatOfEventRow, SeatState
from sync_server.plumbing.many import among

__all__ = ["PlacesNow", "Seat", "SeatState", "places_now", "seats"]

Seat = tuple[int, SeatState, Millis | None]
"""Its number, its state, and until when it is held: a hold that is over is still written as one for a moment."""


@dataclass(frozen=True, slots=True)
class PlacesNow:
    """Places of zones without seats, by the zone's number; what is overdue is free."""

    held: Mapping[int, int]
    sold: Mapping[int, int]
    until: Millis | None  # when the first of these holds is over


def seats(session: Session, event_id: str, numbers: Collection[int] | None = None) -> list[Seat]:
    """Those of an event's seats (or of these) that were ever taken; all others are free."""
    seat = SeatOfEventRow
    here = select(seat.seat, seat.state, seat.held_until).where(seat.event_id == event_id)
    if numbers is not None:
        here = here.where(among(session, seat.seat, numbers))
    return [(row.seat, SeatState(row.state), row.held_until) for row in session.execute(here)]


def places_now(session: Session, event_id: str, now: Millis) -> PlacesNow:
    """Places held and sold at an event."""
    gone, held = places.gone(session, event_id, now), places.held(session, event_id, now)
    mine = HoldRow.event_id == event_id, HoldRow.kind == "places", HoldRow.status == HoldStatus.ACTIVE.value
    first = session.execute(select(func.min(HoldRow.held_until)).where(*mine, HoldRow.held_until > now)).scalar()
    return PlacesNow(dict(held), {zone: count - held[zone] for zone, count in gone.items()}, first)
