"""Who came on one day of an event: ticket by ticket for those that are named, and sums of all others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from shared.wire.rows import EventDay
from sync_server.plumbing.event_key import EventKey
from sync_server.plumbing.sql.bulk import among
from sync_server.scans.attendance import basis as bases
from sync_server.scans.attendance.basis import Basis
from sync_server.scans.attendance.flows import Came, came_on
from sync_server.scans.attendance.steps import unpack
from sync_server.scans.models import DaySum, Presence


@dataclass(frozen=True, slots=True)
class DayAttendance:
    """Who came: each of the named tickets, and how many others by zone."""

    named: dict[int, Came] = field(default_factory=dict)
    others: Counter[Came] = field(default_factory=Counter)


def on_day(session: Session, event: EventKey, day: EventDay, named: Collection[int]) -> DayAttendance:
    """The attendance of one day, as far as gates have delivered it."""
    wanted, summed = bases.current_rules(session, event), bases.stored(session, event)
    if summed is None:
        return DayAttendance()
    if summed.rules != wanted:  # not counted anew yet: ticket by ticket
        everybody = dict(_came(session, event, wanted, day))
        others = Counter(came for ticket, came in everybody.items() if ticket not in set(named))
        return DayAttendance({ticket: everybody[ticket] for ticket in named if ticket in everybody}, others)
    here = dict(_came(session, event, wanted, day, named)) if named else {}
    others = Counter(_sums(session, event, day))
    others.subtract(here.values())
    return DayAttendance(here, +others)


def counts(session: Session, event: EventKey, days: Sequence[EventDay]) -> Counter[str]:
    """How many tickets came on each of these days, by its date."""
    summed = bases.stored(session, event)
    if summed is None or summed.rules != bases.current_rules(session, event):
        return Counter({day.date: on_day(session, event, day, ()).others.total() for day in days if summed})
    dates = {day.start: day.date for day in days}
    wanted = select(DaySum.day, func.sum(DaySum.n)).where(event.of(DaySum)).group_by(DaySum.day)
    return Counter({dates[start]: int(n) for start, n in session.execute(wanted) if start in dates})


def _sums(session: Session, event: EventKey, day: EventDay) -> dict[Came, int]:
    row = DaySum
    wanted = select(row.zone, row.stayed, row.n).where(event.of(row), row.day == day.start)
    return {Came(zone, stayed): n for zone, stayed, n in session.execute(wanted)}


def _came(
    session: Session, event: EventKey, basis: Basis, day: EventDay, named: Collection[int] | None = None
) -> Iterator[tuple[int, Came]]:
    row = Presence
    these = row.at >= day.start if named is None else among(session, row.ticket, named)
    wanted = select(row.ticket, row.steps).where(event.of(row), these)
    for ticket, steps in session.execute(wanted.execution_options(yield_per=2_000)):
        came = came_on(unpack(ticket, steps), basis, day)
        if came is not None:
            yield ticket, came
