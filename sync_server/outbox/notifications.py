"""What the bus is told of a fact, and the cached lists of events that it makes stale."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from sqlalchemy.orm import Session

from sync_server.outbox.catalogue import kind_of
from sync_server.outbox.fact_kinds import Topic
from sync_server.plumbing.caching.cache import Cache, organisation_key
from sync_server.plumbing.jobs import Message, Subscriber
from sync_server.plumbing.messaging.bus import Notification, event_topic, occupancy_topic, organisation_topic


def changes_lists(name: str) -> bool:
    """Whether a fact changes what lists of events show: it is about an event itself, or its venue."""
    return Topic.ORGANISATION in kind_of(name).topics


def bus_notes(message: Message) -> Iterator[Notification]:
    """The notifications that a fact causes, one for each topic it concerns."""
    body, organisation_id = change_notice(message), message.organisation_id
    event, number = message.subjects.get("event"), message.subjects.get("event_number")
    topics = kind_of(message.name).topics
    if event is not None and Topic.EVENT in topics:
        yield Notification(event_topic(event), body)
    if Topic.ORGANISATION in topics:
        yield Notification(organisation_topic(organisation_id), body)
    if number is not None and Topic.OCCUPANCY in topics:
        yield Notification(occupancy_topic(organisation_id, number), body)


def change_notice(message: Message) -> dict[str, Any]:
    """What listeners learn of a fact: enough to know what to read again."""
    before, after = message.payload.get("before") or {}, message.payload.get("after") or {}
    status = {
        "old_status": before.get("status"),
        "new_status": after.get("status"),
        "mark": after.get("mark"),
        "rescheduled_at": after.get("rescheduled_at"),
        "replaced_by_event_id": after.get("replaced_by_event_id"),
    }
    shown = kind_of(message.name).organisers
    return {
        "fact": message.name,
        "message_id": message.message_id,
        "order": message.order,
        "at": message.at,
        "event_id": message.subjects.get("event"),
        "event_number": message.subjects.get("event_number"),
        "venue_id": message.subjects.get("venue"),
        **{field: value if field in shown else None for field, value in status.items()},
    }


def list_invalidator(cache: Cache) -> Subscriber:
    """Drops cached lists of events: for a process that has died between its commit and its own invalidation."""

    def invalidate(_session: Session, facts: Sequence[Message]) -> Iterator[Notification]:
        for organisation_id in {fact.organisation_id for fact in facts}:
            invalidate_lists(cache, organisation_id)
        return iter(())

    return Subscriber("event_lists", lambda fact: changes_lists(fact.name), invalidate)


def invalidate_lists(cache: Cache, organisation_id: str) -> None:
    """Drop the organisation's cached lists of events; public pages invalidate their own caches."""
    cache.invalidate_family(organisation_key(organisation_id, "", "").scope, "events")
