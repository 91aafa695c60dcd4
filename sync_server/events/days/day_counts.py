"""Counts the tickets for each day of an event that has several; one of a single day counts them in its own row."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from sqlalchemy import delete, insert, select, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from sync_server.events.models import DayCountRecord
from sync_server.plumbing.database import database_of
from sync_server.plumbing.event_key import EventKey

ALL_TYPES: Final = 0
"""Instead of the number of a ticket type: tickets of any type."""


def add(session: Session, event: EventKey, ticket_type: int, more: Mapping[int, int], limit: int) -> list[int]:
    """Count tickets for these days, {day: how many}; 0 is no limit.

    Returns the days that would have more than the limit; where there are any, the caller must not commit.
    """
    fits = {day: count for day, count in more.items() if not limit or count <= limit}
    if not fits:
        return sorted(more)
    row = DayCountRecord
    dialect = sqlite if database_of(session).embedded else postgresql
    new = dialect.insert(row).values([_values(event, ticket_type, day, fits[day]) for day in sorted(fits)])
    total = row.issued + new.excluded.issued
    upsert = new.on_conflict_do_update(
        index_elements=["organisation_id", "event_id", "ticket_type", "day"],
        set_={"issued": total},
        where=total <= limit if limit else None,
    )
    counted = session.execute(upsert.returning(row.day).execution_options(synchronize_session=False)).scalars()
    return sorted(more.keys() - set(counted))


def remove(session: Session, event: EventKey, ticket_type: int, less: Mapping[int, int]) -> None:
    """Take cancelled tickets off the counts of their days."""
    row = DayCountRecord
    for day, count in sorted(less.items()):
        here = event.of(row), row.ticket_type == ticket_type, row.day == day
        change = update(row).where(*here).values(issued=row.issued - count)
        session.execute(change.execution_options(synchronize_session=False))


def issued(session: Session, event: EventKey, ticket_type: int = ALL_TYPES) -> dict[int, int]:
    """How many tickets there are, by day; days without any may be left out."""
    row = DayCountRecord
    counted = select(row.day, row.issued).where(event.of(row), row.ticket_type == ticket_type)
    return dict(session.execute(counted).all())


def by_type(session: Session, event: EventKey) -> dict[int, dict[int, int]]:
    """How many tickets of each type there are, by its number and by day; what there is none of may be left out."""
    row = DayCountRecord
    found: dict[int, dict[int, int]] = {}
    for number, day, count in session.execute(select(row.ticket_type, row.day, row.issued).where(event.of(row))):
        found.setdefault(number, {})[day] = count
    return found


def replace_all(session: Session, event: EventKey, counts: Mapping[tuple[int, int], int]) -> None:
    """Write the counts anew, {(ticket type, day): how many}, once the event has other days."""
    session.execute(delete(DayCountRecord).where(event.of(DayCountRecord)))
    rows = [_values(event, ticket_type, day, count) for (ticket_type, day), count in sorted(counts.items())]
    if rows:
        session.execute(insert(DayCountRecord), rows)


def _values(event: EventKey, ticket_type: int, day: int, count: int) -> dict[str, object]:
    key = {"organisation_id": event.organisation_id, "event_id": event.event_id}
    return {**key, "ticket_type": ticket_type, "day": day, "issued": count}
