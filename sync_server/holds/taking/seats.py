"""Takes and frees rows of `event_seats`, for holds and for tickets."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from sqlalchemy import ColumnElement, func, select, update
from sqlalchemy.orm import Session

from shared.clock import Millis
from sync_server.holds.models import ALL_DAYS, EventSeatRow, SeatState
from sync_server.holds.taking.seat_claims import claim

BATCH_SIZE: Final = 500
_FREED: Final[Mapping[str, Any]] = {
    "state": SeatState.FREE.value,
    "hold_id": None,
    "held_until": None,
    "ticket_id": None,
    "locked_at": None,
}


def at_event(organisation_id: str, event_id: str, day: int = ALL_DAYS) -> tuple[ColumnElement[bool], ...]:
    """The condition for the seats of an event day."""
    row = EventSeatRow
    return row.organisation_id == organisation_id, row.event_id == event_id, row.day == day


def locked(session: Session, organisation_id: str, event_id: str, seats: Iterable[int]) -> dict[int, EventSeatRow]:
    """The rows of these seats, where they have one; locked in ascending order, so that nobody deadlocks."""
    wanted = sorted(seats)
    found: dict[int, EventSeatRow] = {}
    for batch in _batches(wanted):
        here = *at_event(organisation_id, event_id), EventSeatRow.seat.in_(batch)
        chosen = select(EventSeatRow).where(*here).order_by(EventSeatRow.seat).with_for_update()
        rows = session.execute(chosen.execution_options(populate_existing=True)).scalars()
        found.update((row.seat, row) for row in rows)
    return found


def lock(session: Session, organisation_id: str, event_id: str, seats: Iterable[int]) -> Iterator[Any]:
    """Lock the rows of very many seats in the same order; yields seat, state, hold_id and held_until of each."""
    row = EventSeatRow
    for batch in _batches(sorted(seats)):
        wanted = select(row.seat, row.state, row.hold_id, row.held_until).where(*at_event(organisation_id, event_id))
        yield from session.execute(wanted.where(row.seat.in_(batch)).order_by(row.seat).with_for_update()).all()


def locked_free_of_others(session: Session, organisation_id: str, event_id: str, seats: Iterable[int]) -> set[int]:
    """Lock these seats, except those that another transaction has locked; returns those locked."""
    found: set[int] = set()
    for batch in _batches(sorted(seats)):
        here = *at_event(organisation_id, event_id), EventSeatRow.seat.in_(batch)
        chosen = select(EventSeatRow.seat).where(*here).order_by(EventSeatRow.seat)
        found.update(session.execute(chosen.with_for_update(skip_locked=True)).scalars())
    return found


def is_available(row: EventSeatRow | None, now: Millis, mine: Collection[str] = ()) -> bool:
    """Whether a seat may be taken: free, held by one of `mine`, or by a hold that ran out."""
    if row is None or row.state == SeatState.FREE:
        return True
    return row.state == SeatState.HELD and (row.hold_id in mine or (row.held_until or 0) <= now)


def hold(
    session: Session,
    organisation_id: str,
    event_id: str,
    holds: Mapping[int, str],
    *,
    until: Millis,
    now: Millis,
    day: int = ALL_DAYS,
) -> set[int]:
    """Take seats of an event day for these holds; returns those that could be taken."""
    shared = {
        "organisation_id": organisation_id,
        "event_id": event_id,
        "day": day,
        "state": SeatState.HELD.value,
        "held_until": until,
        "now": now,
    }
    return claim(session, shared, [(seat, holds[seat], None) for seat in sorted(holds)], ())


def sell(
    session: Session,
    organisation_id: str,
    event_id: str,
    tickets: Mapping[int, int],
    *,
    now: Millis,
    mine: Collection[str] = (),
) -> set[int]:
    """Take seats for these tickets, free or held by `mine`; returns those that could be taken."""
    shared = {
        "organisation_id": organisation_id,
        "event_id": event_id,
        "day": ALL_DAYS,
        "state": SeatState.SOLD.value,
        "held_until": None,
        "now": now,
    }
    return claim(session, shared, [(seat, None, tickets[seat]) for seat in sorted(tickets)], mine)


def release(session: Session, organisation_id: str, event_id: str, holds: Mapping[int, str]) -> int:
    """Free the seats these holds still have; returns how many."""
    freed = 0
    for batch in _batches(sorted(holds)):
        there = *at_event(organisation_id, event_id), EventSeatRow.seat.in_(batch)
        ids = [holds[seat] for seat in batch]
        freed += len(_freed(session, *there, EventSeatRow.hold_id.in_(ids)))
    return freed


def free_sold(session: Session, organisation_id: str, event_id: str, tickets: Collection[int]) -> list[int]:
    """Free the seats of these tickets; returns the seats."""
    seats: list[int] = []
    for batch in _batches(sorted(tickets)):
        mine = *at_event(organisation_id, event_id), EventSeatRow.ticket_id.in_(batch)
        seats += session.execute(select(EventSeatRow.seat).where(*mine)).scalars()
    for _ in lock(session, organisation_id, event_id, seats):
        pass
    return sorted(vacate(session, organisation_id, event_id, tickets))


def vacate(session: Session, organisation_id: str, event_id: str, tickets: Collection[int]) -> set[int]:
    """Free the seats of these tickets, which the caller has locked; returns the seats."""
    seats: set[int] = set()
    for batch in _batches(sorted(tickets)):
        seats |= _freed(session, *at_event(organisation_id, event_id), EventSeatRow.ticket_id.in_(batch))
    return seats


def _freed(session: Session, *where: ColumnElement[bool]) -> set[int]:
    change = update(EventSeatRow).where(*where).values(**_FREED, version=EventSeatRow.version + 1)
    freed = session.execute(change.returning(EventSeatRow.seat).execution_options(synchronize_session=False))
    return set(freed.scalars())


def extend(session: Session, organisation_id: str, event_id: str, seat: int, hold_id: str, *, until: Millis) -> bool:
    """Let a hold keep its seat for longer; False where it no longer has it."""
    mine = *at_event(organisation_id, event_id), EventSeatRow.seat == seat, EventSeatRow.hold_id == hold_id
    change = update(EventSeatRow).where(*mine).values(held_until=until, version=EventSeatRow.version + 1)
    extended = session.execute(change.returning(EventSeatRow.seat).execution_options(synchronize_session=False))
    return extended.first() is not None


def count_held(session: Session, organisation_id: str, event_id: str, now: Millis) -> int:
    """How many seats of an event are held."""
    held = EventSeatRow.state == SeatState.HELD, EventSeatRow.held_until > now
    return session.execute(select(func.count()).where(*at_event(organisation_id, event_id), *held)).scalar_one()


def _batches(values: Sequence[Any]) -> Iterable[Sequence[Any]]:
    # A statement takes a limited number of parameters.
    return (values[start : start + BATCH_SIZE] for start in range(0, len(values), BATCH_SIZE))
