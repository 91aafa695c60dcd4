"""Counts an event's tickets against its capacity, for each of its days, and gives them their numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from sqlalchemy import Integer, func, update
from sqlalchemy.orm import Session

from shared.errors import Conflict
from sync_server.events import rules
from sync_server.events.days import day_counts
from sync_server.events.days.chosen_days import ChosenDays
from sync_server.events.models import EventRecord
from sync_server.events.signals import SoldOutChanged
from sync_server.events.snapshot_rows import days as days_of
from sync_server.plumbing.event_key import EventKey
from sync_server.plumbing.signals import send
from sync_server.plumbing.sql.asked_together import Question
from sync_server.plumbing.sql.prepared import placeholder
from sync_server.plumbing.sql.prepared_changes import PreparedChange

_COUNTER_COLUMNS: Final = (
    EventRecord.ticket_sequence,
    EventRecord.tickets_issued,
    EventRecord.least_issued,
    EventRecord.capacity,
    EventRecord.venue_capacity,
    EventRecord.layout_capacity,
)


def _counting(*, numbered: bool, several_days: bool) -> PreparedChange:
    """Counts so many tickets more, in one update; within the capacity where they get numbers, for a single day."""
    row, count = EventRecord, placeholder("count", Integer())
    values = {"tickets_issued": row.tickets_issued + count}
    values |= {"ticket_sequence": row.ticket_sequence + count} if numbered else {}
    values |= {} if several_days else {"least_issued": row.least_issued + count}
    limit = func.coalesce(func.nullif(row.capacity, 0), func.nullif(row.venue_capacity, 0))
    within = (limit.is_(None) | (row.tickets_issued + count <= limit),) if numbered and not several_days else ()
    here = row.organisation_id == placeholder("organisation"), row.id == placeholder("event"), *within
    return PreparedChange(lambda _: update(row).where(*here).values(values).returning(*_COUNTER_COLUMNS))


class _Counted(NamedTuple):
    """An event's counters as an update has left them."""

    organisation_id: str
    id: str
    ticket_sequence: int
    tickets_issued: int
    least_issued: int
    capacity: int
    venue_capacity: int
    layout_capacity: int


def _counted(session: Session, counting: PreparedChange, event: EventKey, count: int) -> _Counted | None:
    statement, values = _asks(counting, event, count)
    found = statement.rows(session, **values)
    return _Counted(*event, *found[0]) if found else None


_NUMBER: Final = _counting(numbered=True, several_days=False)
_NUMBER_EACH_DAY: Final = _counting(numbered=True, several_days=True)
_RELEASE: Final = _counting(numbered=False, several_days=False)
_RELEASE_EACH_DAY: Final = _counting(numbered=False, several_days=True)


def allocate_ticket_numbers(
    session: Session, organisation_id: str, event_id: str, count: int, days: Sequence[ChosenDays]
) -> int:
    """The first of `count` consecutive ticket numbers, counted against the capacity; Conflict when that is exceeded.

    `days` has those of each ticket: capacity counts for each day. At an event of one day this is a single conditional
    update: a concurrent caller waits for the row lock, then sees what is left.
    """
    of_several = len(days[0].dates) > 1
    row = _counted(session, _NUMBER_EACH_DAY if of_several else _NUMBER, EventKey(organisation_id, event_id), count)
    full = _count_days(session, row, days) if row is not None and of_several else ()
    if row is None or full:
        raise _no_capacity(days[0].names_of(full))
    if not of_several:
        _send_if_sold_out_changed(session, row, row.least_issued - count, row.least_issued)
    return int(row.ticket_sequence) - count + 1


def asks_ticket_numbers(event: EventKey, count: int) -> Question:
    """What `allocate_ticket_numbers` asks at an event of one day."""
    return _asks(_NUMBER, event, count)


def _asks(counting: PreparedChange, event: EventKey, count: int) -> tuple[PreparedChange, dict[str, Any]]:
    return counting, {"organisation": event.organisation_id, "event": event.event_id, "count": count}


def release_capacity(session: Session, organisation_id: str, event_id: str, days: ChosenDays) -> None:
    """Take a cancelled ticket off the event's counts."""
    of_several = len(days.dates) > 1
    row = _counted(session, _RELEASE_EACH_DAY if of_several else _RELEASE, EventKey(organisation_id, event_id), -1)
    if row is not None and of_several:
        key = EventKey(organisation_id, event_id)
        day_counts.remove(session, key, day_counts.ALL_TYPES, dict.fromkeys(days.numbers, 1))
        _store_least(session, row, len(days.dates))
    elif row is not None:
        _send_if_sold_out_changed(session, row, row.least_issued + 1, row.least_issued)


def _count_days(session: Session, row: Any, days: Sequence[ChosenDays]) -> Sequence[int]:
    """Count tickets for each of their days; returns the days that are full."""
    key, more = EventKey(row.organisation_id, row.id), Counter(day for each in days for day in each.numbers)
    full = day_counts.add(session, key, day_counts.ALL_TYPES, more, row.capacity or row.venue_capacity)
    if not full:
        _store_least(session, row, len(days[0].dates))
    return full


def _store_least(session: Session, row: Any, count: int) -> None:
    """Store how many tickets the day with the fewest has: all days are sold out once that is the capacity."""
    issued = day_counts.issued(session, EventKey(row.organisation_id, row.id))
    least = min(issued.get(day, 0) for day in range(count))
    if least != row.least_issued:
        here = EventRecord.organisation_id == row.organisation_id, EventRecord.id == row.id
        change = update(EventRecord).where(*here).values(least_issued=least)
        session.execute(change.execution_options(synchronize_session=False))
        _send_if_sold_out_changed(session, row, row.least_issued, least)


def _no_capacity(dates: Sequence[str]) -> Conflict:
    on = f" on {', '.join(dates)}" if dates else ""
    details = {"days": list(dates)} if dates else {}
    return Conflict(f"The event does not have capacity for that many tickets{on}.", code="capacity_exceeded", **details)


def set_least_issued(session: Session, row: EventRecord, least: int) -> None:
    """Store how many tickets the day with the fewest has, once the event has other days."""
    before, row.least_issued = row.least_issued, least
    session.flush()
    _send_if_sold_out_changed(session, row, before, least)


def most_issued(session: Session, row: EventRecord) -> int:
    """How many tickets the fullest day has; of an event of one day, all of them."""
    if len(days_of(row)) == 1:
        return row.tickets_issued
    return max(day_counts.issued(session, row.key).values(), default=0)


def _send_if_sold_out_changed(session: Session, row: Any, before: int, after: int) -> None:
    """Public listings need to know; only at the change, because sales are frequent."""
    limit = rules.effective_capacity(row.capacity, row.venue_capacity, row.layout_capacity)
    if limit and (before >= limit) != (after >= limit):
        send(session, SoldOutChanged(row.organisation_id, row.id))
