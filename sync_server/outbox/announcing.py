"""What the house does with every fact: tells the topics that pages listen to, and forgets what it remembered."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from sync_server.plumbing import bus, cache
from sync_server.plumbing.bus import Bus, Note
from sync_server.plumbing.cache import Cache, Name
from sync_server.plumbing.work import Announcer, Message

_NEWS: Final = ("event_", "house_")
_CROWD: Final = frozenset({"scans_arrived", "house_emptied", "conflict_resolved"})


def teller(to: Bus) -> Announcer:
    """Tells the topics of an event, of its organisation and of who is inside."""

    def tell(messages: Sequence[Message]) -> None:
        to.tell_all([note for message in messages for note in notes(message)])

    return tell


def notes(message: Message) -> Iterator[Note]:
    """What a fact means for each topic that it touches."""
    told, where = _told(message), message.organisation_id
    event, number = message.subjects.get("event"), message.subjects.get("event_number")
    if event is not None:
        yield Note(bus.of_event(event), told)
    if event is not None and message.name.startswith(_NEWS):
        yield Note(bus.of_organisation(where), told)
    if number is not None and message.name in _CROWD:
        yield Note(bus.of_occupancy(where, number), told)


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


def forgetter(of: Cache) -> Announcer:
    """Lets no page show an event as it was before."""

    def forget(messages: Sequence[Message]) -> None:
        news = [message for message in messages if message.name.startswith(_NEWS)]
        names = {name for message in news for name in _names(message)}
        if names:
            of.forget(*names)
        for place in {_organisation(message) for message in news}:
            of.forget_family(place, "events")
        if news:
            of.forget_family("public", "feed")

    return forget


def _names(message: Message) -> Iterator[Name]:
    if event := message.subjects.get("event"):
        yield Name(_organisation(message), "event", str(event))
        yield cache.public("event", str(event))


def _organisation(message: Message) -> str:
    return cache.of_organisation(message.organisation_id, "", "").place
