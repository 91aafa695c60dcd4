"""Takes rows of `event_seats`, for holds and for tickets: what is free, or held by somebody whose time is over."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from sqlalchemy import ColumnElement, and_, func, select, update
from sqlalchemy.orm import Session

from shared.clock import Millis
from sync_server.holds.claiming import claim
from sync_server.holds.models import SeatOfEventRow, SeatState

AT_ONCE: Final = 500
_FREED: Final[Mapping[str, Any]] = {
    "state": SeatState.FREE.value,
    "hold_id": None,
    "held_until": None,
    "ticket_id": None,
    "locked_at": None,
}


def locked(session: Session, event_id: str, seats: Iterable[int]) -> dict[int, SeatOfEventRow]:
    """The rows of these seats that are there, locked in the one order that keeps people from waiting in a circle."""
    wanted = sorted(seats)
    found: dict[int, SeatOfEventRow] = {}
    for some in _some(wanted):
        here = SeatOfEventRow.event_id == event_id, SeatOfEventRow.seat.in_(some)
        chosen = select(SeatOfEventRow).where(*here).order_by(SeatOfEventRow.seat).with_for_update()
        rows = session.execute(chosen.execution_options(populate_existing=True)).scalars()
        found.update((row.seat, row) for row in rows)
    return found


def lock(session: Session, event_id: str, seats: Iterable[int]) -> Iterator[Any]:
    """Lock the same rows in the same order: seat, state, hold_id and held_until of each, for whoever has very many."""
    row = SeatOfEventRow
    for some in _some(sorted(seats)):
        wanted = select(row.seat, row.state, row.hold_id, row.held_until).where(row.event_id == event_id)
        yield from session.execute(wanted.where(row.seat.in_(some)).order_by(row.seat).with_for_update()).all()


def locked_free_of_others(session: Session, event_id: str, seats: Iterable[int]) -> set[int]:
    """Those of these seats whose rows nobody else has locked; they are locked now."""
    found: set[int] = set()
    for some in _some(sorted(seats)):
        here = SeatOfEventRow.event_id == event_id, SeatOfEventRow.seat.in_(some)
        chosen = select(SeatOfEventRow.seat).where(*here).order_by(SeatOfEventRow.seat)
        found.update(session.execute(chosen.with_for_update(skip_locked=True)).scalars())
    return found


def obtainable(row: SeatOfEventRow | None, now: Millis, mine: Collection[str] = ()) -> bool:
    """Whether a seat may be taken: free, held by one of `mine`, or by somebody whose time is over."""
    if row is None or row.state == SeatState.FREE:
        return True
    return row.state == SeatState.HELD and (row.hold_id in mine or (row.held_until or 0) <= now)


def hold(
    session: Session, organisation_id: str, event_id: str, holds: Mapping[int, str], *, until: Millis, now: Millis
) -> set[int]:
    """Let these holds have their seats; which of them could be had."""
    shared = {
        "event_id": event_id,
        "organisation_id": organisation_id,
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
    """Let these tickets have their seats, which may be held by `mine`; which of them could be had."""
    shared = {
        "event_id": event_id,
        "organisation_id": organisation_id,
        "state": SeatState.SOLD.value,
        "held_until": None,
        "now": now,
    }
    return claim(session, shared, [(seat, None, tickets[seat]) for seat in sorted(tickets)], mine)


def let_go(session: Session, event_id: str, holds: Mapping[int, str]) -> int:
    """Free seats that these holds still have; how many there were."""
    freed = 0
    for some in _some(sorted(holds)):
        there = SeatOfEventRow.event_id == event_id, SeatOfEventRow.seat.in_(some)
        ids = [holds[seat] for seat in some]
        freed += len(_freed(session, *there, SeatOfEventRow.hold_id.in_(ids)))
    return freed


def unsell(session: Session, event_id: str, tickets: Collection[int]) -> list[int]:
    """Free the seats of these tickets; which seats they had."""
    seats: list[int] = []
    for some in _some(sorted(tickets)):
        mine = SeatOfEventRow.event_id == event_id, SeatOfEventRow.ticket_id.in_(some)
        seats += session.execute(select(SeatOfEventRow.seat).where(*mine)).scalars()
    for _ in lock(session, event_id, seats):
        pass
    return sorted(vacate(session, event_id, tickets))


def vacate(session: Session, event_id: str, tickets: Collection[int]) -> set[int]:
    """The same for whoever has locked the seats of these tickets."""
    seats: set[int] = set()
    for some in _some(sorted(tickets)):
        seats |= _freed(session, SeatOfEventRow.event_id == event_id, SeatOfEventRow.ticket_id.in_(some))
    return seats


def _freed(session: Session, *where: ColumnElement[bool]) -> set[int]:
    change = update(SeatOfEventRow).where(*where).values(**_FREED, version=SeatOfEventRow.version + 1)
    gone = session.execute(change.returning(SeatOfEventRow.seat).execution_options(synchronize_session=False))
    return set(gone.scalars())


def extend(session: Session, event_id: str, seat: int, hold_id: str, until: Millis) -> bool:
    """Let a hold keep its seat for longer; False where it has it no more."""
    mine = SeatOfEventRow.event_id == event_id, SeatOfEventRow.seat == seat, SeatOfEventRow.hold_id == hold_id
    change = update(SeatOfEventRow).where(*mine).values(held_until=until, version=SeatOfEventRow.version + 1)
    kept = session.execute(change.returning(SeatOfEventRow.seat).execution_options(synchronize_session=False))
    return kept.first() is not None


def counted(session: Session, event_id: str, now: Millis) -> tuple[int, int]:
    """How many seats are held and how many are sold."""
    held = and_(SeatOfEventRow.state == SeatState.HELD, SeatOfEventRow.held_until > now)
    sold = SeatOfEventRow.state == SeatState.SOLD
    counts = select(func.count().filter(held), func.count().filter(sold)).where(SeatOfEventRow.event_id == event_id)
    row = session.execute(counts).one()
    return row[0], row[1]


def _some(values: Sequence[Any]) -> Iterable[Sequence[Any]]:
    # A statement takes only so many parameters.
    return (values[start : start + AT_ONCE] for start in range(0, len(values), AT_ONCE))
