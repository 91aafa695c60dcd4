"""Tells pages that listen how full an event is, after each fact that changes it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from cachetools import LRUCache
from sqlalchemy.orm import Session

from shared.clock import Millis
from shared.errors import NotFound
from sync_server.events import queries as events
from sync_server.events import rules
from sync_server.holds import inventory, queries
from sync_server.holds.queries import Occupancy
from sync_server.plumbing import bus
from sync_server.plumbing.bus import Note
from sync_server.plumbing.logs import LOG
from sync_server.plumbing.parts import Parts
from sync_server.plumbing.shapes import iso
from sync_server.plumbing.work import Announcer, Message
from sync_server.seating import queries as seating

TOLD: Final = frozenset(
    {
        "seat_held",
        "seat_hold_released",
        "seat_hold_expired",
        "seat_hold_converted",
        "holds_ended",
        "tickets_issued",
        "ticket_cancelled",
    }
)
COUNTED_MS: Final = 1_000
MOST: Final = 1_000
#: What a fact does to how much is held and how much is sold; of others only a count tells.
_STEPS: Final[Mapping[str, tuple[int, int]]] = {
    "seat_held": (1, 0),
    "seat_hold_released": (-1, 0),
    "seat_hold_expired": (-1, 0),
    "seat_hold_converted": (-1, 1),
}


def teller(parts: Parts) -> Announcer:
    """Tells the topic of an event's occupancy of each fact that changes it."""
    tallies = Tallies(parts)

    def tell(messages: Sequence[Message]) -> None:
        ours = [message for message in messages if message.name in TOLD and message.subjects.get("event")]
        if not ours:
            return
        try:
            parts.bus.tell_all(tallies.notes(ours))
        except Exception as problem:  # an announcer must not fail: the next fact tells the counts again
            LOG.warning("occupancy_not_told", problem=type(problem).__name__)

    return tell


@dataclass(slots=True)
class _Tally:
    """One event's counts, and when they were counted."""

    at: Millis
    total: int
    gone: Occupancy


class Tallies:
    """Counts of events in a rush: counted every second, in between kept up to date by the facts themselves."""

    def __init__(self, parts: Parts) -> None:
        """None yet."""
        self._parts = parts
        self._kept: LRUCache[str, _Tally] = LRUCache(MOST)

    def notes(self, messages: Sequence[Message]) -> list[Note]:
        """What the topics are told."""
        now = self._parts.clock()
        fresh = self._counted({str(each.subjects["event"]): each.organisation_id for each in messages}, messages, now)
        return [
            Note(
                bus.of_occupancy(message.organisation_id, message.subjects["event_number"]),
                {**_said(message), **self._shares(message, fresh)},
            )
            for message in messages
        ]

    def _counted(self, whose: Mapping[str, str], messages: Sequence[Message], now: Millis) -> set[str]:
        """The events that are counted anew; those counts know of all these facts already."""
        unsure = {str(each.subjects["event"]) for each in messages if each.name not in _STEPS}
        due = {
            event_id: where
            for event_id, where in whose.items()
            if event_id in unsure or event_id not in self._kept or not 0 <= now - self._kept[event_id].at < COUNTED_MS
        }
        if due:
            with self._parts.database.reading() as session:
                for event_id, where in due.items():
                    self._kept[event_id] = _Tally(now, *_look(session, where, event_id, now))
        return set(due)

    def _shares(self, message: Message, fresh: Collection[str]) -> Mapping[str, Any]:
        event_id = str(message.subjects["event"])
        tally = self._kept[event_id]
        if event_id not in fresh:
            held, sold = _STEPS[message.name]
            count = int(message.payload.get("quantity", 1))
            tally.gone = Occupancy(max(0, tally.gone.held + held * count), tally.gone.sold + sold * count)
        return shares(tally.total, tally.gone)


def _said(message: Message) -> dict[str, Any]:
    return {
        "event": message.name,
        "event_id": message.subjects["event"],
        "hold_id": message.subjects.get("hold"),
        "seat": message.payload.get("seat"),
        "seat_id": message.payload.get("seat_id"),  # known where a seat was held
        "timestamp": iso(message.at),
    }


def counted(session: Session, organisation_id: str, event_id: str, now: Millis) -> Mapping[str, Any]:
    """How much of an event is free, held and sold now; nothing where there is no such event."""
    try:
        return shares(*_look(session, organisation_id, event_id, now))
    except NotFound:
        return {}


def shares(total: int, gone: Occupancy) -> dict[str, Any]:
    """The counts in the words that pages know."""
    available = max(0, total - gone.gone)

    def percent(part: int) -> float:
        return round(100 * part / total, 1) if total else 0.0

    return {
        "total": total,
        "total_available": available,
        "total_held": gone.held,
        "total_sold": gone.sold,
        "percent_available": percent(available),
        "percent_held": percent(gone.held),
        "percent_sold": percent(gone.sold),
    }


def _look(session: Session, organisation_id: str, event_id: str, now: Millis) -> tuple[int, Occupancy]:
    """How many an event has room for (0: nobody has said), and how many of those places are gone."""
    event, gone = events.event(session, organisation_id, event_id), queries.occupancy(session, event_id, now)
    bound = rules.bound(event.capacity, event.venue_capacity)
    if seating.maybe_event_layout(session, organisation_id, event_id) is None:
        return bound, Occupancy(gone.held, event.tickets_issued)  # its tickets stand on no seat or zone of a layout
    room = sum(zone.capacity for zone in inventory.zones_of(session, organisation_id, event_id))
    return (min(room, bound) if bound else room), gone
