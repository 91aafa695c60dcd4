"""Keeps what follows from an event's own words: how it is found, and the key by which a double is noticed."""

from __future__ import annotations

from typing import Final

from sqlalchemy import select
from sqlalchemy.orm import Session

from shared.errors import Conflict
from sync_server.events.models import STANDS, EventRecord
from sync_server.plumbing.folding import fold
from sync_server.plumbing.slugs import slug_of

DOUBLE: Final = (
    "You have an event of this name at this venue and time already. Open that one, or give this one another name or "
    "time."
)


def derive(row: EventRecord) -> None:
    """Bring folded words and key in step with the rest of the row; call it before every flush that changed words."""
    row.search_text = fold(" ".join((row.name, row.venue_name, row.city, row.category)))
    row.city_norm = fold(row.city)
    row.dedupe_key = f"{row.owner_id}:{row.venue_id}:{row.start_at}:{slug_of(row.name, lambda _slug: False)}"


def refuse_double(session: Session, row: EventRecord) -> None:
    """Conflict, with the id of the other, where the same owner has the same evening already.

    The unique index is the guard; this says it in words first.
    """
    same = EventRecord.organisation_id == row.organisation_id, EventRecord.dedupe_key == row.dedupe_key
    with session.no_autoflush:
        other = session.execute(select(EventRecord.id).where(*same, EventRecord.id != row.id, STANDS)).scalar()
    if other is not None:
        raise Conflict(DOUBLE, code="duplicate_event", event_id=other)
