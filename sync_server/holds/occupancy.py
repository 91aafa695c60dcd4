"""The state of an event's seats and places, for seat maps: never who holds them."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any, Final

from sqlalchemy import ARRAY, Integer, any_, bindparam, func, select
from sqlalchemy.orm import Session

from shared.clock import Millis
from sync_server.holds.models import ALL_DAYS, EventSeatRow, HoldRow, HoldStatus, SeatState
from sync_server.holds.taking import places
from sync_server.plumbing.database import database_of
from sync_server.seating.taken import SOLD, PlaceCounts

# Built once: that costs more than running them.
_SEAT: Final = EventSeatRow.seat
_TAKEN: Final = (
    select(_SEAT, EventSeatRow.held_until)
    .where(EventSeatRow.organisation_id == bindparam("organisation"), EventSeatRow.event_id == bindparam("event"))
    .where(EventSeatRow.day == ALL_DAYS, EventSeatRow.state != SeatState.FREE)
)
_TAKEN_AMONG: Final = _TAKEN.where(any_(bindparam("numbers", type_=ARRAY(Integer))) == _SEAT)
_TAKEN_AMONG_LISTED: Final = _TAKEN.where(_SEAT.in_(bindparam("numbers", expanding=True)))
"""For SQLite, which has no arrays."""


def taken_until(
    session: Session, organisation_id: str, event_id: str, numbers: Collection[int] | None
) -> Iterator[tuple[int, Millis]]:
    """The taken seats among these, or all, each with the time until which it is taken; overdue holds until swept."""
    values: dict[str, Any] = {"organisation": organisation_id, "event": event_id}
    taken = _TAKEN
    if numbers is not None:
        values["numbers"] = list(numbers)
        taken = _TAKEN_AMONG_LISTED if database_of(session).embedded else _TAKEN_AMONG
    rows = session.execute(taken, values)
    return ((row.seat, SOLD if row.held_until is None else row.held_until) for row in rows)


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
