"""Hangs up the pictures that an event is shown with, in order, and takes them off."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from sqlalchemy import Text, cast, select
from sqlalchemy.orm import Session

from shared.errors import Conflict, InvalidRequest, NotFound
from shared.lifecycle import EventStatus
from sync_server.events import queries, rules
from sync_server.events.models import EventRecord
from sync_server.events.service import tell
from sync_server.pictures import service as pictures
from sync_server.pictures.drawing import Drawn
from sync_server.plumbing.principals import Deed

AT_MOST: Final = 8


def add(
    session: Session, organisation_id: str, event_id: str, drawn: Drawn, deed: Deed, *, alt: str = ""
) -> EventRecord:
    """One more cover, behind the others; one that hangs there already only gets its words."""
    row = _open(session, organisation_id, event_id)
    id = pictures.keep(session, organisation_id, drawn, deed.now)
    ids = row.cover_images if id in row.cover_images else [*row.cover_images, id]
    if len(ids) > AT_MOST:
        raise Conflict(f"An event has at most {AT_MOST} covers. Take one off first.", code="too_many_covers")
    return _hang(session, row, ids, {**row.cover_alts, id: alt}, deed)


def arrange(session: Session, organisation_id: str, event_id: str, ids: Sequence[str], deed: Deed) -> EventRecord:
    """These covers in this order; those that are left out are taken off."""
    row = _open(session, organisation_id, event_id)
    if len(set(ids)) != len(ids) or not set(ids) <= set(row.cover_images):
        raise InvalidRequest("ids: name covers of this event, each once.", field="ids", code="unknown_cover")
    return _hang(session, row, list(ids), row.cover_alts, deed)


def describe(session: Session, organisation_id: str, event_id: str, id: str, deed: Deed, *, alt: str) -> EventRecord:
    """Other words for a cover, for those who cannot see it."""
    row = _open(session, organisation_id, event_id)
    _require(row, id)
    return _hang(session, row, row.cover_images, {**row.cover_alts, id: alt}, deed)


def remove(session: Session, organisation_id: str, event_id: str, id: str, deed: Deed) -> EventRecord:
    """An event without this cover."""
    row = _open(session, organisation_id, event_id)
    _require(row, id)
    return _hang(session, row, [other for other in row.cover_images if other != id], row.cover_alts, deed)


def let_go(session: Session, organisation_id: str, ids: Sequence[str]) -> None:
    """Drop those of the pictures that no event of the organisation shows any more."""
    for id in sorted(ids):  # one order for everybody, so that no two wait for each other
        pictures.lock(session, organisation_id, id)
        here = EventRecord.organisation_id == organisation_id, cast(EventRecord.cover_images, Text).contains(id)
        if session.execute(select(EventRecord.id).where(*here).limit(1)).first() is None:
            pictures.let_go(session, organisation_id, id)


def _open(session: Session, organisation_id: str, event_id: str) -> EventRecord:
    row = queries.event(session, organisation_id, event_id, lock=True)
    rules.changed_status(EventStatus(row.status))
    return row


def _require(row: EventRecord, id: str) -> None:
    if id not in row.cover_images:
        raise NotFound("The event has no such cover.", code="cover_not_found")


def _hang(session: Session, row: EventRecord, ids: Sequence[str], alts: dict[str, Any], deed: Deed) -> EventRecord:
    before: dict[str, Any] = {"cover_images": row.cover_images, "cover_alts": row.cover_alts}
    after: dict[str, Any] = {"cover_images": list(ids), "cover_alts": {id: alts[id] for id in ids if id in alts}}
    if before != after:
        row.cover_images, row.cover_alts, row.updated_at = after["cover_images"], after["cover_alts"], deed.now
        session.flush()
        let_go(session, row.organisation_id, [id for id in before["cover_images"] if id not in ids])
        tell(session, row, "event_covers_changed", deed, before=before, after=after)
    return row
