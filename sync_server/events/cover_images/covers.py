"""Adds, orders, describes and removes the covers of an event."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from sqlalchemy import Text, cast, select
from sqlalchemy.orm import Session

from shared.errors import Conflict, InvalidRequest, NotFound
from sync_server.events import permissions, queries
from sync_server.events.models import EventRecord
from sync_server.events.permissions import Part
from sync_server.events.service import record_change
from sync_server.images import service as images
from sync_server.images.rendering import RenderedImage
from sync_server.plumbing.requests.principals import ActionContext

MAX_COVERS: Final = 8


def add(
    session: Session,
    organisation_id: str,
    event_id: str,
    image: RenderedImage,
    context: ActionContext,
    *,
    alt: str = "",
) -> EventRecord:
    """Add a cover after the others; one that the event already has only gets the new text."""
    row = _lock_open_event(session, organisation_id, event_id, context)
    id = images.store_image(session, organisation_id, image, context.now)
    ids = row.cover_images if id in row.cover_images else [*row.cover_images, id]
    if len(ids) > MAX_COVERS:
        raise Conflict(f"An event has at most {MAX_COVERS} covers. Remove one first.", code="too_many_covers")
    return _set_covers(session, row, ids, {**row.cover_alts, id: alt}, context)


def arrange(
    session: Session, organisation_id: str, event_id: str, ids: Sequence[str], context: ActionContext
) -> EventRecord:
    """Put the covers in this order; remove those left out."""
    row = _lock_open_event(session, organisation_id, event_id, context)
    if len(set(ids)) != len(ids) or not set(ids) <= set(row.cover_images):
        raise InvalidRequest("ids: list covers of this event, each once.", field="ids", code="unknown_cover")
    return _set_covers(session, row, list(ids), row.cover_alts, context)


def describe(
    session: Session, organisation_id: str, event_id: str, id: str, context: ActionContext, *, alt: str
) -> EventRecord:
    """Change the alternative text of a cover."""
    row = _lock_open_event(session, organisation_id, event_id, context)
    _check_cover(row, id)
    return _set_covers(session, row, row.cover_images, {**row.cover_alts, id: alt}, context)


def remove(session: Session, organisation_id: str, event_id: str, id: str, context: ActionContext) -> EventRecord:
    """Remove a cover from an event."""
    row = _lock_open_event(session, organisation_id, event_id, context)
    _check_cover(row, id)
    return _set_covers(session, row, [other for other in row.cover_images if other != id], row.cover_alts, context)


def release_unused_images(session: Session, organisation_id: str, ids: Sequence[str]) -> None:
    """Delete those images that no event of the organisation uses any more."""
    for id in sorted(ids):  # same lock order everywhere, against deadlocks
        images.lock_image(session, organisation_id, id)
        uses = EventRecord.organisation_id == organisation_id, cast(EventRecord.cover_images, Text).contains(id)
        if session.execute(select(EventRecord.id).where(*uses).limit(1)).first() is None:
            images.delete_image(session, organisation_id, id)


def _lock_open_event(session: Session, organisation_id: str, event_id: str, context: ActionContext) -> EventRecord:
    row = queries.event(session, organisation_id, event_id, lock=True)
    permissions.check_part(row, Part.DETAILS, context)
    return row


def _check_cover(row: EventRecord, id: str) -> None:
    if id not in row.cover_images:
        raise NotFound("This event has no such cover.", code="cover_not_found")


def _set_covers(
    session: Session, row: EventRecord, ids: Sequence[str], alts: dict[str, Any], context: ActionContext
) -> EventRecord:
    before: dict[str, Any] = {"cover_images": row.cover_images, "cover_alts": row.cover_alts}
    after: dict[str, Any] = {"cover_images": list(ids), "cover_alts": {id: alts[id] for id in ids if id in alts}}
    if before != after:
        row.cover_images, row.cover_alts, row.updated_at = after["cover_images"], after["cover_alts"], context.now
        session.flush()
        release_unused_images(session, row.organisation_id, [id for id in before["cover_images"] if id not in ids])
        record_change(session, row, "event_covers_changed", context, before=before, after=after)
    return row
