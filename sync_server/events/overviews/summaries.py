"""Cached short lists of events, for dashboards and dropdowns that poll."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import orjson
from sqlalchemy import select
from sqlalchemy.orm import Session

from sync_server.events.models import EventRecord
from sync_server.events.queries import VISIBLE_STATUSES, takes_place_at
from sync_server.events.rules import mark
from sync_server.outbox.notifications import changes_lists
from sync_server.plumbing.api.schemas import iso_or_none
from sync_server.plumbing.caching.cache import SUMMARY, CacheKey, CacheLifetime, organisation_key
from sync_server.plumbing.jobs import Message, Subscriber
from sync_server.plumbing.messaging.bus import Notification
from sync_server.plumbing.parts import Parts

if TYPE_CHECKING:
    from sync_server.plumbing.caching.redis_records import Record, RedisRecords

FAMILY: Final = "events"
MAX_EVENTS: Final = 500
"""Organisations with more events use the pages of `GET /api/events`."""
_FIELDS: Final = ("id", "number", "code", "slug", "name", "status", "venue_id", "venue_name", "timezone")
_TIMES: Final = ("start_at", "end_at", "sale_start_at", "sale_end_at", "rescheduled_at")
_OTHERS: Final = ("replaced_by_event_id", "organisation_id")
_COLUMNS: Final = tuple(getattr(EventRecord, name) for name in (*_FIELDS, *_TIMES, *_OTHERS))
NEAR: Final = CacheLifetime(SUMMARY.local_s)
"""In this process; in Redis the events are kept one by one."""


def cached_summaries(parts: Parts, organisation_id: str, venue_id: str | None = None) -> bytes:
    """The organisation's published, live and postponed events by the date on which they take place, as JSON.

    A change made in this process shows at once. Other processes learn of it through Redis, or without Redis within half
    a minute. In Redis each event is a hash, and each list has their ids, under names that other programs may read.
    """
    key = list_key(organisation_id, venue_id)

    def load() -> Sequence[Record]:
        with parts.database.reading() as session:
            return _listed(session, organisation_id, venue_id)

    def fetch() -> bytes:
        records = parts.backends.records
        of_event = partial(summary_key, organisation_id)
        found = load() if records is None else records.fetch(key, of_event, load)
        return orjson.dumps({"items": [_item(record) for record in found], "next": None})

    return parts.cache.fetch(key, NEAR, fetch)


def list_key(organisation_id: str, venue_id: str | None = None) -> CacheKey:
    """The key of the ids of an organisation's events, or of those at a venue."""
    rest = f"list:venue:{venue_id}" if venue_id else f"list:org:{organisation_id}"
    return organisation_key(organisation_id, FAMILY, rest)


def summary_key(organisation_id: str, event_id: str) -> CacheKey:
    """The key of the summary of an event."""
    return organisation_key(organisation_id, FAMILY, f"summary:{event_id}")


def dropper(records: RedisRecords) -> Subscriber:
    """Removes from Redis what facts have made stale: programs that read there look at nothing else."""

    def drop(_session: Session, facts: Sequence[Message]) -> Sequence[Notification]:
        keys = {key for fact in facts for key in _keys_of(fact)}
        records.drop(*keys)
        return ()

    return Subscriber("event_summaries", lambda fact: changes_lists(fact.name), drop)


def _keys_of(fact: Message) -> Iterator[CacheKey]:
    yield list_key(fact.organisation_id)
    if "event" in fact.subjects:
        yield summary_key(fact.organisation_id, str(fact.subjects["event"]))
    # Of an event that moves to another venue, both lists.
    states = fact.subjects, fact.payload.get("before") or {}, fact.payload.get("after") or {}
    for venue_id in {state[name] for state in states for name in ("venue", "venue_id") if state.get(name)}:
        yield list_key(fact.organisation_id, str(venue_id))


def _listed(session: Session, organisation_id: str, venue_id: str | None) -> list[Record]:
    statement = select(*_COLUMNS).where(
        EventRecord.organisation_id == organisation_id, EventRecord.status.in_(VISIBLE_STATUSES)
    )
    if venue_id is not None:
        statement = statement.where(EventRecord.venue_id == venue_id)
    rows = session.execute(statement.order_by(takes_place_at(), EventRecord.id).limit(MAX_EVENTS)).all()
    return [_record(row) for row in rows]


def _record(row: Any) -> Record:
    """As a hash in Redis has it: text, and no field for what has no value."""
    values = {name: getattr(row, name) for name in (*_FIELDS, "replaced_by_event_id")}
    values |= {name: iso_or_none(getattr(row, name)) for name in _TIMES}
    values |= {"org_id": row.organisation_id, "mark": mark(row)}
    return {name: str(value) for name, value in values.items() if value is not None}


def _item(record: Record) -> dict[str, Any]:
    """As the API shows it."""
    item = {name: record.get(name) for name in (*_FIELDS, *_TIMES, "replaced_by_event_id", "mark")}
    return item | {"number": int(record["number"])}
