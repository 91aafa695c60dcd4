"""Cached short lists of events, for dashboards and dropdowns that poll."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import orjson
from sqlalchemy import select
from sqlalchemy.orm import Session

from sync_server.events.models import EventRecord
from sync_server.events.queries import VISIBLE_STATUSES, takes_place_at
from sync_server.plumbing.api.schemas import iso_or_none
from sync_server.plumbing.caching.cache import SUMMARY, organisation_key
from sync_server.plumbing.parts import Parts

FAMILY: Final = "events"
MAX_EVENTS: Final = 500
"""Organisations with more events use the pages of `GET /api/events`."""
_FIELDS: Final = ("id", "number", "code", "slug", "name", "status", "venue_id", "venue_name", "timezone")
_TIMES: Final = ("start_at", "end_at", "sale_start_at", "sale_end_at", "rescheduled_at")
_COLUMNS: Final = tuple(getattr(EventRecord, name) for name in (*_FIELDS, *_TIMES, "replaced_by_event_id"))


def cached_summaries(parts: Parts, organisation_id: str, venue_id: str | None = None) -> bytes:
    """The organisation's published, live and postponed events by the date on which they take place, as JSON.

    A change made in this process shows at once. Other processes learn of it through Redis, or without Redis within half
    a minute.
    """
    key = organisation_key(organisation_id, FAMILY, f"venue:{venue_id}" if venue_id else "list")

    def load() -> bytes:
        with parts.database.reading() as session:
            return orjson.dumps({"items": _listed(session, organisation_id, venue_id)})

    return parts.cache.fetch(key, SUMMARY, load)


def _listed(session: Session, organisation_id: str, venue_id: str | None) -> list[dict[str, Any]]:
    statement = select(*_COLUMNS).where(
        EventRecord.organisation_id == organisation_id, EventRecord.status.in_(VISIBLE_STATUSES)
    )
    if venue_id is not None:
        statement = statement.where(EventRecord.venue_id == venue_id)
    rows = session.execute(statement.order_by(takes_place_at(), EventRecord.id).limit(MAX_EVENTS)).mappings()
    return [_item(row) for row in rows]


def _item(row: Mapping[Any, Any]) -> dict[str, Any]:
    return {name: iso_or_none(value) if name in _TIMES else value for name, value in row.items()}
