"""What the house does with every fact: tells the topics that pages listen to, and forgets what it remembered."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from sync_server.plumbing import bus, cache
from sync_server.plumbing.bus import Bus, Note
from sync_server.plumbing.cache import Cache
from sync_server.plumbing.work import Announcer, Message

_NEWS: Final = ("event_", "house_")
_OF_HOUSES: Final = ("venue_", "gate_c")  # not what a device says of its doors: that is told of the event
_CROWD: Final = frozenset({"scans_arrived", "house_emptied", "conflict_resolved"})


def is_news(name: str) -> bool:
    """Whether a fact tells of the event itself, and not only of its tickets."""
    return name.startswith(_NEWS)


def is_of_houses(name: str) -> bool:
    """Whether a fact tells of a venue or its entrances, and of no event."""
    return name.startswith(_OF_HOUSES)


def teller(to: Bus) -> Announcer:
    """Tells the topics of an event, of its organisation and of who is inside."""

    def tell(messages: Sequence[Message]) -> None:
        to.tell_all([note for message in messages for note in notes(message)])

    return tell


def notes(message: Message) -> Iterator[Note]:
    """What a fact means for each topic that it touches."""
    told, where = news(message), message.organisation_id
    event, number = message.subjects.get("event"), message.subjects.get("event_number")
    if event is not None:
        yield Note(bus.of_event(event), told)
    if is_of_houses(message.name) or (event is not None and is_news(message.name)):
        yield Note(bus.of_organisation(where), told)
    if number is not None and message.name in _CROWD:
        yield Note(bus.of_occupancy(where, number), told)


def news(message: Message) -> dict[str, Any]:
    """What listeners are told of a fact: enough to know what to look at anew."""
    before, after = message.payload.get("before") or {}, message.payload.get("after") or {}
    if is_of_houses(message.name):
        before = after = {}  # a gate is open or closed: no event has walked on
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


def forgetter(of: Cache) -> Announcer:
    """Lets no page show an event as it was before."""

    def forget(messages: Sequence[Message]) -> None:
        for whose in {one.organisation_id for one in messages if is_news(one.name) or is_of_houses(one.name)}:
            forget_lists(of, whose)

    return forget


def forget_lists(remembered: Cache, organisation_id: str) -> None:
    """Look the organisation's lists of events up anew; what visitors are shown is forgotten by those who show it."""
    remembered.forget_family(cache.of_organisation(organisation_id, "", "").place, "events")
