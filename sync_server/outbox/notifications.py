"""Announces facts inside the installation: notifies bus topics and invalidates cached lists of events."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from sync_server.plumbing.caching.cache import Cache, organisation_key
from sync_server.plumbing.jobs import Announcer, Message
from sync_server.plumbing.messaging.bus import Bus, Notification, event_topic, occupancy_topic, organisation_topic

_EVENT_CHANGES: Final = ("event_", "house_")
_VENUE_CHANGES: Final = ("venue_", "gate_c")  # gate_created, gate_changed; gate_doors_opened belongs to an event
_OCCUPANCY_CHANGES: Final = frozenset({"scans_arrived", "house_emptied", "conflict_resolved"})


def is_event_change(name: str) -> bool:
    """Whether a fact is about the event itself, and not only about its tickets."""
    return name.startswith(_EVENT_CHANGES)


def is_venue_change(name: str) -> bool:
    """Whether a fact is about a venue or its gates, and about no event."""
    return name.startswith(_VENUE_CHANGES)


def bus_publisher(bus: Bus) -> Announcer:
    """An announcer that notifies the topics of the event, of its organisation and of its occupancy."""

    def publish(messages: Sequence[Message]) -> None:
        bus.publish_all([notification for message in messages for notification in bus_notes(message)])

    return publish


def bus_notes(message: Message) -> Iterator[Notification]:
    """The notifications that a fact causes, one for each topic it concerns."""
    body, organisation_id = change_notice(message), message.organisation_id
    event, number = message.subjects.get("event"), message.subjects.get("event_number")
    if event is not None:
        yield Notification(event_topic(event), body)
    if is_venue_change(message.name) or (event is not None and is_event_change(message.name)):
        yield Notification(organisation_topic(organisation_id), body)
    if number is not None and message.name in _OCCUPANCY_CHANGES:
        yield Notification(occupancy_topic(organisation_id, number), body)


def change_notice(message: Message) -> dict[str, Any]:
    """What listeners learn of a fact: enough to know what to read again."""
    before, after = message.payload.get("before") or {}, message.payload.get("after") or {}
    if is_venue_change(message.name):
        before = after = {}  # the status of a gate: no event has changed its own
    return {
        "fact": message.name,
        "message_id": message.message_id,
        "order": message.order,
        "at": message.at,
        "event_id": message.subjects.get("event"),
        "event_number": message.subjects.get("event_number"),
        "venue_id": message.subjects.get("venue"),
        "old_status": before.get("status"),
        "new_status": after.get("status"),
        "rescheduled_at": after.get("rescheduled_at"),
        "replaced_by_event_id": after.get("replaced_by_event_id"),
    }


def cache_invalidator(cache: Cache) -> Announcer:
    """An announcer that drops cached lists of events once an event or a venue has changed."""

    def invalidate(messages: Sequence[Message]) -> None:
        changed = [fact for fact in messages if is_event_change(fact.name) or is_venue_change(fact.name)]
        for organisation_id in {fact.organisation_id for fact in changed}:
            invalidate_lists(cache, organisation_id)

    return invalidate


def invalidate_lists(cache: Cache, organisation_id: str) -> None:
    """Drop the organisation's cached lists of events; public pages invalidate their own caches."""
    cache.invalidate_family(organisation_key(organisation_id, "", "").scope, "events")
