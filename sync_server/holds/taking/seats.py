"""Takes and frees rows of `event_seats`, for holds and for tickets."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from sqlalchemy import ColumnElement, func, select, update
from sqlalchemy.orm import Session

from shared.clock import Millis
from sync_server.holds.models import EventSeatRow, SeatState
from sync_server.holds.taking import seat_claims
from sync_server.holds.taking.seat_claims import SeatDay, claim
from sync_server.plumbing.event_key import EventKey
from sync_server.plumbing.sql.asked_together import Question

BATCH_SIZE: Final = 500
_FREED: Final[Mapping[str, Any]] = {
    "state": SeatState.FREE.value,
    "hold_id": None,
    "held_until": None,
    "ticket_id": None,
    "locked_at": None,
}


def at_event(organisation_id: str, event_id: str) -> tuple[ColumnElement[bool], ...]:
    """The condition for the seats of an event, on all its days."""
    row = EventSeatRow
    return row.organisation_id == organisation_id, row.event_id == event_id


def locked(session: Session, organisation_id: str, event_id: str, seats: Iterable[int]) -> dict[SeatDay, EventSeatRow]:
    """The rows of these seats, where they have one; locked in one order, so that nobody deadlocks.

    Those of all days: whoever takes over from an overdue hold frees it on its other days, too.
    """
    found: dict[SeatDay, EventSeatRow] = {}
    for batch in _batches(sorted(seats)):
        here = *at_event(organisation_id, event_id), EventSeatRow.seat.in_(batch)
        chosen = select(EventSeatRow).where(*here).order_by(EventSeatRow.seat, EventSeatRow.day).with_for_update()
        rows = session.execute(chosen.execution_options(populate_existing=True)).scalars()
        found.update(((row.seat, row.day), row) for row in rows)
    return found


def lock(session: Session, organisation_id: str, event_id: str, seats: Iterable[int]) -> Iterator[Any]:
    """Lock the rows of very many seats, on all days, in the same order; yields what each holds.

    That is its seat, day, state, hold_id, held_until and ticket_id.
    """
    row = EventSeatRow
    columns = row.seat, row.day, row.state, row.hold_id, row.held_until, row.ticket_id
    for batch in _batches(sorted(seats)):
        wanted = select(*columns).where(*at_event(organisation_id, event_id), row.seat.in_(batch))
        yield from session.execute(wanted.order_by(row.seat, row.day).with_for_update()).all()


def locked_free_of_others(session: Session, organisation_id: str, event_id: str, seats: Iterable[int]) -> set[SeatDay]:
    """Lock these seats, on all days, except rows that another transaction has locked; returns those locked."""
    row, found = EventSeatRow, set[SeatDay]()
    for batch in _batches(sorted(seats)):
        here = *at_event(organisation_id, event_id), row.seat.in_(batch)
        chosen = select(row.seat, row.day).where(*here).order_by(row.seat, row.day)
        found.update((seat, day) for seat, day in session.execute(chosen.with_for_update(skip_locked=True)))
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
    holds: Mapping[SeatDay, str],
    *,
    until: Millis,
    now: Millis,
) -> set[SeatDay]:
    """Take seats for these holds; returns those that could be taken."""
    shared = {
        "organisation_id": organisation_id,
        "event_id": event_id,
        "state": SeatState.HELD.value,
        "held_until": until,
        "now": now,
    }
    return claim(session, shared, [(cell, holds[cell], None) for cell in sorted(holds)], ())


def sell(
    session: Session,
    organisation_id: str,
    event_id: str,
    tickets: Mapping[SeatDay, int],
    *,
    now: Millis,
    mine: Collection[str] = (),
) -> set[SeatDay]:
    """Take seats for these tickets, free or held by `mine`; returns those that could be taken."""
    shared = _to_sell(EventKey(organisation_id, event_id), now)
    return claim(session, shared, [(cell, None, tickets[cell]) for cell in sorted(tickets)], mine)


def asks_to_sell(
    session: Session, event: EventKey, tickets: Mapping[SeatDay, int], *, now: Millis, mine: Collection[str]
) -> Question:
    """What `sell` asks."""
    return seat_claims.asks(
        session, _to_sell(event, now), [(cell, None, tickets[cell]) for cell in sorted(tickets)], mine
    )


def _to_sell(event: EventKey, now: Millis) -> dict[str, Any]:
    sold = {"state": SeatState.SOLD.value, "held_until": None, "now": now}
    return {"organisation_id": event.organisation_id, "event_id": event.event_id, **sold}


def release(session: Session, organisation_id: str, event_id: str, holds: Iterable[tuple[int, str]]) -> int:
    """Free what these holds still have of their seats, on whichever days; returns how many rows that was."""
    freed = 0
    for batch in _batches(sorted(holds)):
        there = *at_event(organisation_id, event_id), EventSeatRow.seat.in_({seat for seat, _ in batch})
        freed += len(_freed(session, *there, EventSeatRow.hold_id.in_([hold for _, hold in batch])))
    return freed


def free_sold(session: Session, organisation_id: str, event_id: str, tickets: Collection[int]) -> list[SeatDay]:
    """Free the seats of these tickets on all their days; returns them."""
    seats: set[int] = set()
    for batch in _batches(sorted(tickets)):
        mine = *at_event(organisation_id, event_id), EventSeatRow.ticket_id.in_(batch)
        seats.update(session.execute(select(EventSeatRow.seat).where(*mine)).scalars())
    for _ in lock(session, organisation_id, event_id, seats):
        pass
    return sorted(vacate(session, organisation_id, event_id, tickets))


def vacate(session: Session, organisation_id: str, event_id: str, tickets: Collection[int]) -> set[SeatDay]:
    """Free the seats of these tickets, which the caller has locked; returns them."""
    freed: set[SeatDay] = set()
    for batch in _batches(sorted(tickets)):
        freed |= _freed(session, *at_event(organisation_id, event_id), EventSeatRow.ticket_id.in_(batch))
    return freed


def _freed(session: Session, *where: ColumnElement[bool]) -> set[SeatDay]:
    change = update(EventSeatRow).where(*where).values(**_FREED, version=EventSeatRow.version + 1)
    returned = change.returning(EventSeatRow.seat, EventSeatRow.day)
    rows = session.execute(returned.execution_options(synchronize_session=False))
    return {(seat, day) for seat, day in rows}


def extend(session: Session, organisation_id: str, event_id: str, seat: int, hold_id: str, *, until: Millis) -> bool:
    """Let a hold keep its seat for longer, on all its days; False where it no longer has it."""
    mine = *at_event(organisation_id, event_id), EventSeatRow.seat == seat, EventSeatRow.hold_id == hold_id
    change = update(EventSeatRow).where(*mine).values(held_until=until, version=EventSeatRow.version + 1)
    extended = session.execute(change.returning(EventSeatRow.seat).execution_options(synchronize_session=False))
    return extended.first() is not None


def extend_all(
    session: Session, organisation_id: str, event_id: str, holds: Mapping[int, str], *, until: Millis
) -> None:
    """Let these holds, by seat, keep their seats for longer; their rows are locked."""
    for batch in _batches(sorted(holds)):
        mine = EventSeatRow.seat.in_(batch), EventSeatRow.hold_id.in_([holds[seat] for seat in batch])
        change = update(EventSeatRow).where(*at_event(organisation_id, event_id), *mine)
        change = change.values(held_until=until, version=EventSeatRow.version + 1)
        session.execute(change.execution_options(synchronize_session=False))


def count_held(session: Session, organisation_id: str, event_id: str, now: Millis) -> dict[int, int]:
    """How many seats of an event are held, by day."""
    held = EventSeatRow.state == SeatState.HELD, EventSeatRow.held_until > now
    counted = select(EventSeatRow.day, func.count()).where(*at_event(organisation_id, event_id), *held)
    return dict(session.execute(counted.group_by(EventSeatRow.day)).all())


def _batches(values: Sequence[Any]) -> Iterable[Sequence[Any]]:
    # A statement takes a limited number of parameters.
    return (values[start : start + BATCH_SIZE] for start in range(0, len(values), BATCH_SIZE))
