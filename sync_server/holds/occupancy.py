"""The state of an event's seats and places, for seat maps: never who holds them."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any, Final

from sqlalchemy import ARRAY, Integer, any_, bindparam, func, select
from sqlalchemy.orm import Session

from shared.clock import Millis
from sync_server.holds.models import OPEN_PLACES, EventSeatRow, HoldRow, SeatState
from sync_server.holds.taking import places
from sync_server.plumbing.database import database_of
from sync_server.seating.taken import SOLD, PlaceCounts

# Built once: that costs more than running them.
_SEAT: Final = EventSeatRow.seat
_TAKEN: Final = (
    select(_SEAT, EventSeatRow.day, EventSeatRow.held_until)
    .where(EventSeatRow.organisation_id == bindparam("organisation"), EventSeatRow.event_id == bindparam("event"))
    .where(EventSeatRow.state != SeatState.FREE)
)
_TAKEN_AMONG: Final = _TAKEN.where(any_(bindparam("numbers", type_=ARRAY(Integer))) == _SEAT)
_TAKEN_AMONG_LISTED: Final = _TAKEN.where(_SEAT.in_(bindparam("numbers", expanding=True)))
"""For SQLite, which has no arrays."""


def taken_until(
    session: Session, organisation_id: str, event_id: str, numbers: Collection[int] | None, days: int
) -> Iterable[tuple[int, Millis]]:
    """The seats among these, or all, that are taken on any of these days; overdue holds until swept.

    Each with the time until which it is taken on one of them at least.
    """
    values: dict[str, Any] = {"organisation": organisation_id, "event": event_id}
    taken = _TAKEN
    if numbers is not None:
        values["numbers"] = list(numbers)
        taken = _TAKEN_AMONG_LISTED if database_of(session).embedded else _TAKEN_AMONG
    found: dict[int, Millis] = {}
    for seat, day, held_until in session.execute(taken, values):
        if not days or days >> day & 1:
            found[seat] = max(found.get(seat, 0), SOLD if held_until is None else held_until)
    return found.items()


def place_counts(session: Session, organisation_id: str, event_id: str, now: Millis, days: int) -> PlaceCounts:
    """Places held and sold at an event on these days; of each zone those of its fullest day."""
    counted = places.on(places.by_day(session, organisation_id, event_id, now), days)
    here = HoldRow.organisation_id == organisation_id, HoldRow.event_id == event_id
    active = OPEN_PLACES, HoldRow.status == "active", HoldRow.held_until > now
    first = session.execute(select(func.min(HoldRow.held_until)).where(*here, *active)).scalar()
    return PlaceCounts(counted.held, counted.sold, first)
