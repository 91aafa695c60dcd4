"""Reads in one query everything that decides about a map: may it be seen, what is it built from, how new is its log."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from sqlalchemy import text
from sqlalchemy.orm import Session

from shared.clock import Millis, MonotonicClock
from shared.errors import NotFound
from shared.lifecycle import EventStatus
from sync_server.events.days.chosen_days import ChosenDays, on_date
from sync_server.events.snapshot_rows import days_between
from sync_server.plumbing.caching.shared_loads import SharedLoads
from sync_server.plumbing.database import Database
from sync_server.plumbing.sql.autocommit import numbered
from sync_server.seat_maps.queries import Head

# Tables of lower layers are named here: asking each layer in turn took ten times as long as the rest of a response.
_STATEMENT: Final = """
SELECT e.organisation_id, e.status, l.layout_id, l.revision, l.updated_at, p.updated_at, n.value,
  COALESCE(h.version, 0), COALESCE(h.oldest, 0), e.start_at, e.end_at, e.rescheduled_at, e.timezone, e.cutover_hour,
  e.cancelled_at
FROM events e
CROSS JOIN lineage n
LEFT JOIN event_layouts l ON l.organisation_id = e.organisation_id AND l.event_id = e.id
LEFT JOIN seating_policies p ON p.organisation_id = e.organisation_id
LEFT JOIN seat_map_heads h ON h.organisation_id = e.organisation_id AND h.event_id = e.id
WHERE e.id = :event
"""
_AUTOCOMMIT: Final = numbered(_STATEMENT)
_IN_SESSION: Final = text(_STATEMENT)
MAX_EVENTS: Final = 1_024


@dataclass(frozen=True, slots=True)
class MapSource:
    """What an event's map is built from; unequal whenever any part of it has changed."""

    layout_id: str | None
    revision: int | None
    changed_at: Millis | None
    policy_at: Millis | None
    lineage: bytes  # after a restore version numbers repeat: those from before must not be mistaken for them


@dataclass(frozen=True, slots=True)
class MapInputs:
    """The result of the query."""

    event_id: str
    organisation_id: str
    status: EventStatus
    source: MapSource
    head: Head
    dates: tuple[str, ...]  # of the event's days
    rescheduled_at: Millis | None
    cancelled_at: Millis | None

    def days(self, date: str) -> ChosenDays:
        """The day with this date, or every day for ""; NotFound for a date that is no day of the event."""
        return on_date(self.dates, date)


def load_inputs(session: Session, event_id: str) -> MapInputs:
    """Query within a transaction; NotFound if there is no such event."""
    row = session.execute(_IN_SESSION, {"event": event_id}).one_or_none()
    return _from_row(event_id, row)


def _from_row(event_id: str, row: Sequence[Any] | None) -> MapInputs:
    if row is None:
        raise NotFound("There is no such event.", code="event_not_found")
    organisation_id, status, layout_id, revision, changed_at, policy_at, lineage, version, oldest, *times = row
    source = MapSource(layout_id, revision, changed_at, policy_at, bytes(lineage))
    dates = tuple(day.date for day in days_between(*times[:5]))
    head = Head(version, oldest)
    return MapInputs(event_id, organisation_id, EventStatus(status), source, head, dates, times[2], times[5])


class MapInputsLoader:
    """Coalesces queries: one serves everybody who asked before it started, so a crowd costs as much as one reader."""

    def __init__(self, database: Database, monotonic: MonotonicClock) -> None:
        self._database = database
        self._loads: SharedLoads[str, MapInputs] = SharedLoads(MAX_EVENTS, monotonic)

    def load(self, event_id: str, asked_at: int | None = None) -> MapInputs:
        """The inputs at `asked_at` of the monotonic clock (None: now) or later; NotFound if there is no such event."""
        since = self._loads.now() if asked_at is None else asked_at
        return self._loads.get(event_id, partial(self._query, event_id), since=since)

    def started_at(self, event_id: str) -> int:
        """When the latest query started."""
        return self._loads.started_at(event_id) or 0

    def _query(self, event_id: str) -> MapInputs:
        autocommit = self._database.autocommit
        if autocommit is not None:
            return _from_row(event_id, autocommit.row(_AUTOCOMMIT, {"event": event_id}))
        with self._database.reading() as session:
            return load_inputs(session, event_id)
