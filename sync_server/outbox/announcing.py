"""What the house does with every fact: tells the topics that pages listen to, and forgets what it remembered."""

from __future__ import annotations

from typing import Any, Final

from sync_server.plumbing import bus, cache
from sync_server.plumbing.bus import Bus
from sync_server.plumbing.cache import Cache
from sync_server.plumbing.work import Message, Subscriber

_NEWS: Final = ("event_", "house_")
_CROWD: Final = frozenset({"scans_arrived", "house_emptied", "conflict_resolved"})


def teller(to: Bus) -> Subscriber:
    """A subscriber that tells the topics of an event, of its organisation and of who is inside."""

    def tell(message: Message) -> None:
        told = _told(message)
        event, number = message.subjects.get("event"), message.subjects.get("event_number")
        if event is not None:
            to.tell(bus.of_event(event), told)
            if message.name.startswith(_NEWS):
                to.tell(bus.of_organisation(message.organisation_id), told)
        if number is not None and message.name in _CROWD:
            to.tell(bus.of_occupancy(message.organisation_id, number), told)

    return tell


def _told(message: Message) -> dict[str, Any]:
    before, after = message.payload.get("before") or {}, message.payload.get("after") or {}
    return {
        "fact": message.name,
        "message_id": message.message_id,
        "at": message.at,
        "event_id": message.subjects.get("event"),
        "event_number": message.subjects.get("event_number"),
        "old_status": before.get("status"),
        "new_status": after.get("status"),
        "rescheduled_at": after.get("rescheduled_at"),
        "replaced_by_event_id": after.get("replaced_by_event_id"),
    }


def forgetter(of: Cache) -> Subscriber:
    """A subscriber that lets no page show an event as it was before."""

    def forget(message: Message) -> None:
        event = message.subjects.get("event")
        if event is not None and message.name.startswith(_NEWS):
            of.forget(cache.of_organisation(message.organisation_id, "event", event), cache.public("event", event))
            of.forget_family(cache.of_organisation(message.organisation_id, "events", "").place, "events")
            of.forget_family("public", "feed")

    return forget
