"""What is sold and held when an event gets more days, or fewer."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from sqlalchemy import Select, SmallInteger, delete, insert, literal, select
from sqlalchemy.orm import Session

from shared.clock import Millis
from sync_server.events.days.chosen_days import ChosenDays
from sync_server.holds.models import EventSeatRow, HoldRow, ZonePlacesRow
from sync_server.holds.taking import places, seats
from sync_server.holds.taking.places import ZoneDays

_FIRST_DAY: Final = 0
_NO_LIMIT: Final = 2**31 - 1


def take_seats_on(
    session: Session, organisation_id: str, event_id: str, tickets: Select[int], days: Iterable[int]
) -> None:
    """Sell the seats of these tickets on further days, which nobody can have taken yet."""
    row = EventSeatRow
    kept = row.organisation_id, row.event_id, row.seat
    owned = row.state, row.ticket_id, row.version, row.locked_at
    here = *seats.at_event(organisation_id, event_id), row.day == _FIRST_DAY, row.ticket_id.in_(tickets)
    names = [column.key for column in (*kept, row.day, *owned)]
    for day in days:
        chosen = select(*kept, literal(day, SmallInteger), *owned).where(*here).order_by(row.seat)
        session.execute(insert(row).from_select(names, chosen, include_defaults=False))


def take_places_on(  # noqa: PLR0917 - the same parameters in the same order as sell_places
    session: Session, organisation_id: str, event_id: str, zone: int, count: int, days: Iterable[int]
) -> None:
    """Sell as many places of a zone on further days; no day can have more of these guests than the days before."""
    places.sell(session, _further_days(organisation_id, event_id, zone, days), count, capacity=_NO_LIMIT)


def hold_also_on(session: Session, hold: HoldRow, days: Sequence[int], now: Millis) -> None:
    """Let an open hold for every day have further days, which nobody can have taken yet."""
    where = hold.organisation_id, hold.event_id
    if hold.seat is None:
        places.hold(session, _further_days(*where, hold.zone, days), hold.quantity, capacity=_NO_LIMIT)
    else:
        cells = {(hold.seat, day): hold.id for day in days}
        seats.hold(session, *where, cells, until=hold.held_until, now=now)


def _further_days(organisation_id: str, event_id: str, zone: int, days: Iterable[int]) -> ZoneDays:
    bits = sum(1 << day for day in days)
    return ZoneDays(organisation_id, event_id, zone, ChosenDays(("",) * bits.bit_length(), bits))


def forget_days(session: Session, organisation_id: str, event_id: str, first: int) -> None:
    """Delete what is taken on this day and later ones, which are no days of the event any more."""
    for row in (EventSeatRow, ZonePlacesRow):
        here = row.organisation_id == organisation_id, row.event_id == event_id, row.day >= first
        session.execute(delete(row).where(*here).execution_options(synchronize_session=False))
