"""Logs and counts what the relay tells of holds, seats and tickets: ids, numbers, reasons of our own, never a name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, Final

from cachetools import LRUCache
from prometheus_client import Counter
from sqlalchemy.exc import SQLAlchemyError

from sync_server.events.going_on import venues_of
from sync_server.plumbing.logs import LOG
from sync_server.plumbing.parts import Parts
from sync_server.plumbing.work import Announcer, Message

VENUES_KEPT: Final = 10_000

_HOLD: Final = ("kind", "seat", "seat_id", "zone", "quantity", "held_until", "bearer")
_HOLDS: Final = ("count", "reason")
_TICKET: Final = ("state", "issue")
_LAYOUT: Final = ("before", "after")
LINES: Final[Mapping[str, Sequence[str]]] = {
    "seat_held": _HOLD,
    "seat_hold_extended": _HOLD,
    "seat_hold_released": _HOLD,
    "seat_hold_expired": _HOLD,
    "seat_hold_converted": _HOLD,
    "holds_ended": _HOLDS,
    "holds_suspended": _HOLDS,
    "holds_resumed": _HOLDS,
    "tickets_issued": ("ticket_type", "count", "first", "last"),
    "ticket_cancelled": _TICKET,
    "ticket_blocked": _TICKET,
    "ticket_unblocked": _TICKET,
    "ticket_settled": _TICKET,
    "ticket_reissued": _TICKET,
    "companion_seats_released": ("zone",),
    "companion_seats_kept_again": ("zone",),
    "zone_guests_added": ("zone", "guests"),
    "zone_guests_removed": ("zone", "guests"),
    "event_reseated": ("from", "to", "stay", "move"),
    "layout_created": (),
    "layout_redrawn": _LAYOUT,
    "layout_active": _LAYOUT,
    "layout_archived": _LAYOUT,
}
"""What of a fact's payload stands in its line. Steps of events are logged where they are taken, with their actor."""

BECAME: Final[Mapping[str, tuple[str, str]]] = {
    "seat_held": ("held", "quantity"),
    "seat_hold_converted": ("bought", "quantity"),
    "seat_hold_expired": ("expired", "quantity"),
    "seat_hold_released": ("given_up", "quantity"),
    "holds_ended": ("ended_with_event", "count"),
    "holds_suspended": ("suspended", "count"),
    "holds_resumed": ("resumed", "count"),
}
"""By fact: what became of what was held, and which number of the payload says of how much."""

_SUBJECTS: Final[Mapping[str, str]] = {
    "hold": "hold_id",
    "ticket": "ticket_id",
    "layout": "layout_id",
    "version": "version",
    "event": "event_id",
    "venue": "venue_id",
}


class Chronicle:
    """Hears every fact of the installation once, in the process of the worker that told it."""

    def __init__(self, parts: Parts) -> None:
        """Nothing was heard yet."""
        registry = parts.metrics.registry
        self._parts = parts
        self._venues: LRUCache[str, str] = LRUCache(VENUES_KEPT)
        self._facts = Counter(
            "gatehouse_facts_told", "Facts that this worker told the house", ["fact"], registry=registry
        )
        self._held = Counter(
            "gatehouse_holds",
            "Seats and places that were held, and what became of them",
            ["became"],
            registry=registry,
        )

    def hear(self, messages: Sequence[Message]) -> None:
        """Count them, and write a line for each that is worth one."""
        for message in messages:
            self._facts.labels(message.name).inc()
            if message.name in BECAME:
                became, number = BECAME[message.name]
                self._held.labels(became).inc(int(message.payload.get(number, 1)))
            if message.name == "event_moved":
                self._venues.pop(str(message.subjects["event"]), None)
        told = [message for message in messages if message.name in LINES]
        self._look_up([str(message.subjects["event"]) for message in told if "event" in message.subjects])
        for message in told:
            LOG.info(message.name, **self._line(message))

    def _line(self, message: Message) -> dict[str, Any]:
        ids = {called: message.subjects[name] for name, called in _SUBJECTS.items() if name in message.subjects}
        if "event_id" in ids:
            ids.setdefault("venue_id", self._venues.get(ids["event_id"], ""))
        said = {name: message.payload[name] for name in LINES[message.name] if name in message.payload}
        return {"organisation_id": message.organisation_id, **ids, "message_id": message.message_id, **said}

    def _look_up(self, event_ids: Sequence[str]) -> None:
        unknown = {name for name in event_ids if name not in self._venues}
        with suppress(SQLAlchemyError), self._parts.database.reading() as session:  # a line without its venue is a line
            self._venues.update(venues_of(session, sorted(unknown)) if unknown else {})


def chronicler(parts: Parts) -> Announcer:
    """What hears all facts of this process's relay."""
    return Chronicle(parts).hear
