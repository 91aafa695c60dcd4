"""Reads of archives: of one event, of an organisation, and what the worker has to do."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import select
from sqlalchemy.orm import Session

from shared.clock import Millis
from shared.errors import NotFound
from sync_server.archives.models import AT_WORK, EventArchiveRow
from sync_server.archives.rules import State
from sync_server.plumbing.api.pagination import AnId, Page, decode_cursor, paginate
from sync_server.plumbing.due import next_due
from sync_server.plumbing.event_key import EventKey

Archive = EventArchiveRow
"""An archive, as commands may read it within their transaction."""


def find(session: Session, event: EventKey, *, lock: bool = False) -> EventArchiveRow | None:
    """The archive of an event, if it was ever asked for."""
    return session.get(EventArchiveRow, tuple(event), with_for_update=lock or None, populate_existing=lock)


def archive(session: Session, event: EventKey, *, lock: bool = False) -> EventArchiveRow:
    """The archive of an event, or NotFound."""
    row = find(session, event, lock=lock)
    if row is None:
        raise NotFound("The event has no archive: nobody has put it away.", code="archive_not_found")
    return row


def archives(session: Session, organisation_id: str, *, limit: int, after: str | None) -> Page[EventArchiveRow]:
    """A page of an organisation's archives, by the id of the event."""
    start = decode_cursor(after, AnId)
    wanted = select(EventArchiveRow).where(EventArchiveRow.organisation_id == organisation_id)
    if start is not None:
        wanted = wanted.where(EventArchiveRow.event_id > start[0])
    rows = session.scalars(wanted.order_by(EventArchiveRow.event_id).limit(limit + 1)).all()
    return paginate(rows, limit, lambda row: (row.event_id,))


def next_at(session: Session, _now: Millis) -> Millis | None:
    """When the next archive waits for a worker."""
    return next_due(session, EventArchiveRow.leased_until, AT_WORK)


def to_do(session: Session, now: Millis) -> Sequence[EventKey]:
    """The events whose archives wait for a worker, of all organisations."""
    named = select(EventArchiveRow.organisation_id, EventArchiveRow.event_id)
    free = named.where(AT_WORK, EventArchiveRow.leased_until <= now)
    return [EventKey(*row) for row in session.execute(free.order_by(EventArchiveRow.asked_at).limit(100))]


def put_away_before(session: Session, organisation_id: str, before: Millis) -> list[tuple[EventKey, str]]:
    """The events that an organisation has put away before then, with their files."""
    row = EventArchiveRow
    due = row.organisation_id == organisation_id, row.state == State.PUT_AWAY, row.done_at < before
    rows = session.execute(select(row.event_id, row.file).where(*due).order_by(row.event_id)).all()
    return [(EventKey(organisation_id, event_id), file) for event_id, file in rows]
