"""Writes the log of touched seats, and deletes its old entries."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Final, cast

from sqlalchemy import ColumnElement, Table, delete, func, insert, select, update
from sqlalchemy.orm import Session

from shared.clock import Millis
from sync_server.plumbing.due import organisations_due
from sync_server.plumbing.requests.principals import ActionContext
from sync_server.plumbing.sql import writes
from sync_server.seat_maps.models import SeatMapChange, SeatMapHead

RETENTION_MS: Final = 30 * 60_000
"""Readers who were away for longer fetch the whole state again: a few kilobytes."""
HEADS_RETENTION_MS: Final = 90 * 24 * 3_600_000
_EVENT: Final = (SeatMapChange.organisation_id, SeatMapChange.event_id)
_HEADS, _CHANGES = cast(Table, SeatMapHead.__table__), cast(Table, SeatMapChange.__table__)


def record_change(
    session: Session, organisation_id: str, event_id: str, seats: Collection[int] | None, now: Millis
) -> int:
    """Record that these seats (None: any) may have changed; the new version.

    Call it only after the change is committed: a reader of the new version must find the change in the database.
    """
    return record_changes(session, {(event_id, organisation_id): seats}, now)[event_id]


def record_changes(
    session: Session, touched: Mapping[tuple[str, str], Collection[int] | None], now: Millis
) -> dict[str, int]:
    """Record changes to many events, by event and organisation, in two statements; the new version of each."""
    if not touched:  # another thread has flushed them already
        return {}
    keys = sorted(touched)  # locked in one order, so that two writers cannot deadlock
    heads = [
        {"event_id": event_id, "organisation_id": organisation_id, "version": 1, "oldest": 0, "changed_at": now}
        for event_id, organisation_id in keys
    ]
    added = writes.insert(session, _HEADS)
    increment = {"version": _HEADS.c.version + 1, "changed_at": added.excluded.changed_at}
    upsert = added.on_conflict_do_update(index_elements=["organisation_id", "event_id"], set_=increment)
    rows = session.connection().execute(upsert.returning(_HEADS.c.event_id, _HEADS.c.version), heads)
    versions = {row.event_id: row.version for row in rows}
    changes = [
        {
            "organisation_id": organisation_id,
            "event_id": event_id,
            "version": versions[event_id],
            "at": now,
            "seats": None if seats is None else sorted(seats),
        }
        for (event_id, organisation_id), seats in ((key, touched[key]) for key in keys)
    ]
    # With something to return, all rows are one statement.
    session.connection().execute(insert(_CHANGES).returning(_CHANGES.c.version), changes)
    return versions


def delete_old_changes(session: Session, context: ActionContext) -> int:
    """Job: delete old entries of the log; the number of events that had any."""
    old = SeatMapChange.at < context.now - RETENTION_MS
    organisations = organisations_due(session, SeatMapChange.organisation_id, old)
    newest = [row for each in organisations for row in _newest_by_event(session, each, old)]
    for organisation_id, event_id, version in newest:
        head = SeatMapHead.organisation_id == organisation_id, SeatMapHead.event_id == event_id
        session.execute(update(SeatMapHead).where(*head, SeatMapHead.oldest < version).values(oldest=version))
        changes = SeatMapChange.organisation_id == organisation_id, SeatMapChange.event_id == event_id
        session.execute(delete(SeatMapChange).where(*changes, SeatMapChange.version <= version))
    owner, unchanged = SeatMapHead.organisation_id, SeatMapHead.changed_at < context.now - HEADS_RETENTION_MS
    for organisation_id in organisations_due(session, owner, unchanged):
        session.execute(delete(SeatMapHead).where(owner == organisation_id, unchanged))
    return len(newest)


def _newest_by_event(session: Session, organisation_id: str, old: ColumnElement[bool]) -> list[tuple[str, str, int]]:
    newest = select(*_EVENT, func.max(SeatMapChange.version)).where(
        SeatMapChange.organisation_id == organisation_id, old
    )
    return [(row[0], row[1], row[2]) for row in session.execute(newest.group_by(*_EVENT).order_by(*_EVENT))]
