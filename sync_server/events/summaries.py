"""Events in a few words, for dashboards and dropdowns that are looked at all the time: remembered, never the truth."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import orjson
from sqlalchemy import select
from sqlalchemy.orm import Session

from sync_server.events.models import EventRecord
from sync_server.events.queries import SHOWN, takes_place_at
from sync_server.plumbing.cache import SUMMARY, of_organisation
from sync_server.plumbing.parts import Parts
from sync_server.plumbing.shapes import iso_or_none

FAMILY: Final = "events"
MOST: Final = 500
"""Whoever has more events at once pages through `GET /api/events`."""
_PLAIN: Final = ("id", "number", "code", "slug", "name", "status", "venue_id", "venue_name", "timezone")
_TIMES: Final = ("start_at", "end_at", "sale_start_at", "sale_end_at", "rescheduled_at")
_COLUMNS: Final = tuple(getattr(EventRecord, name) for name in (*_PLAIN, *_TIMES, "replaced_by_event_id"))


def remembered(parts: Parts, organisation_id: str, venue_id: str | None = None) -> bytes:
    """The organisation's events that are published, live or postponed, by the date on which they take place, as JSON.

    Whoever has just changed an event in this process gets it changed; other processes hear of it through Redis, and
    without one within half a minute.
    """
    name = of_organisation(organisation_id, FAMILY, f"venue:{venue_id}" if venue_id else "list")

    def load() -> bytes:
        with parts.database.reading() as session:
            return orjson.dumps({"items": _listed(session, organisation_id, venue_id)})

    return parts.cache.fetch(name, SUMMARY, load)


def _listed(session: Session, organisation_id: str, venue_id: str | None) -> list[dict[str, Any]]:
    wanted = select(*_COLUMNS).where(EventRecord.organisation_id == organisation_id, EventRecord.status.in_(SHOWN))
    if venue_id is not None:
        wanted = wanted.where(EventRecord.venue_id == venue_id)
    rows = session.execute(wanted.order_by(takes_place_at(), EventRecord.id).limit(MOST)).mappings()
    return [_told(row) for row in rows]


def _told(row: Mapping[Any, Any]) -> dict[str, Any]:
    return {name: iso_or_none(value) if name in _TIMES else value for name, value in row.items()}
