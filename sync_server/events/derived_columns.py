"""Columns derived from the others of an event: folded text for searching, and the key that finds duplicates."""

from __future__ import annotations

from typing import Final

from sqlalchemy import select
from sqlalchemy.orm import Session

from shared.errors import Conflict
from sync_server.events.models import NOT_CALLED_OFF, EventRecord
from sync_server.plumbing.language.folding import fold
from sync_server.plumbing.language.slugs import slug_of

DUPLICATE_MESSAGE: Final = (
    "You already have an event with this name, venue and time. Open that one, or change the name or time of this one."
)


def set_derived_columns(row: EventRecord) -> None:
    """Recompute the derived columns; call it before flushing changes to the columns that they depend on."""
    row.search_text = fold(" ".join((row.name, row.venue_name, row.city, row.category)))
    row.city_norm = fold(row.city)
    row.dedupe_key = f"{row.owner_id}:{row.venue_id}:{row.start_at}:{slug_of(row.name, lambda _slug: False)}"


def require_unique(session: Session, row: EventRecord) -> None:
    """Conflict, with the id of the other event, where this one is a duplicate.

    The unique index is the guard; this check gives the better message.
    """
    duplicate = EventRecord.organisation_id == row.organisation_id, EventRecord.dedupe_key == row.dedupe_key
    with session.no_autoflush:
        other = session.execute(
            select(EventRecord.id).where(*duplicate, EventRecord.id != row.id, NOT_CALLED_OFF)
        ).scalar()
    if other is not None:
        raise Conflict(DUPLICATE_MESSAGE, code="duplicate_event", event_id=other)
