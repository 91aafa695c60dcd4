"""Announces facts inside the installation: notifies bus topics and invalidates cached lists of events."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from sync_server.outbox.catalogue import kind_of
from sync_server.outbox.fact_kinds import Topic
from sync_server.plumbing.caching.cache import Cache, organisation_key
from sync_server.plumbing.jobs import Announcer, Message
from sync_server.plumbing.messaging.bus import Bus, Notification, event_topic, occupancy_topic, organisation_topic


def changes_lists(name: str) -> bool:
    """Whether a fact changes what lists of events show: it is about an event itself, or its venue."""
    return Topic.ORGANISATION in kind_of(name).topics


def bus_publisher(bus: Bus) -> Announcer:
    """An announcer that notifies the topics of the event, of its organisation and of its occupancy."""

    def publish(messages: Sequence[Message]) -> None:
        bus.publish_all([notification for message in messages for notification in bus_notes(message)])

    return publish


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


def cache_invalidator(cache: Cache) -> Announcer:
    """An announcer that drops cached lists of events once an event or a venue has changed."""

    def invalidate(messages: Sequence[Message]) -> None:
        changed = {fact.organisation_id for fact in messages if changes_lists(fact.name)}
        for organisation_id in changed:
            invalidate_lists(cache, organisation_id)

    return invalidate


def invalidate_lists(cache: Cache, organisation_id: str) -> None:
    """Drop the organisation's cached lists of events; public pages invalidate their own caches."""
    cache.invalidate_family(organisation_key(organisation_id, "", "").scope, "events")
