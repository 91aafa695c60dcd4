"""Logs and counts facts about holds, seats and tickets: ids, numbers and our own reasons, never a name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, Final

from cachetools import LRUCache
from prometheus_client import Counter
from sqlalchemy.exc import SQLAlchemyError

from sync_server.events.active_events import venue_ids_by_event
from sync_server.outbox.catalogue import kind_of
from sync_server.plumbing.jobs import Announcer, Message
from sync_server.plumbing.logs import LOG
from sync_server.plumbing.parts import Parts

MAX_VENUES: Final = 10_000

_SUBJECTS: Final[Mapping[str, str]] = {
    "hold": "hold_id",
    "ticket": "ticket_id",
    "layout": "layout_id",
    "version": "version",
    "event": "event_id",
    "venue": "venue_id",
}


class FactLog:
    """Receives every fact of the installation once, in the worker that relays it."""

    def __init__(self, parts: Parts) -> None:
        registry = parts.metrics.registry
        self._parts = parts
        self._venues: LRUCache[str, str] = LRUCache(MAX_VENUES)
        self._facts = Counter(
            "gatehouse_facts_told",
            "Facts that this worker delivered within the installation",
            ["fact"],
            registry=registry,
        )
        self._held = Counter(
            "gatehouse_holds",
            "Seats and places held, by outcome",
            ["became"],
            registry=registry,
        )

    def receive(self, messages: Sequence[Message]) -> None:
        """Count the facts, and log those of interest."""
        for message in messages:
            self._facts.labels(message.name).inc()
            if outcome := kind_of(message.name).outcome:
                self._held.labels(outcome.became).inc(int(message.payload.get(outcome.quantity, 1)))
            if {"event", "venue"} <= set(message.subjects):
                self._venues[str(message.subjects["event"])] = str(message.subjects["venue"])
        logged = [message for message in messages if kind_of(message.name).logged is not None]
        self._load_venues([str(message.subjects["event"]) for message in logged if "event" in message.subjects])
        for message in logged:
            LOG.info(message.name, **self._fields(message))

    def _fields(self, message: Message) -> dict[str, Any]:
        ids = {field: message.subjects[name] for name, field in _SUBJECTS.items() if name in message.subjects}
        if "event_id" in ids:
            ids.setdefault("venue_id", self._venues.get(ids["event_id"], ""))
        payload = {
            name: message.payload[name] for name in kind_of(message.name).logged or () if name in message.payload
        }
        return {"organisation_id": message.organisation_id, **ids, "message_id": message.message_id, **payload}

    def _load_venues(self, event_ids: Sequence[str]) -> None:
        unknown = {event_id for event_id in event_ids if event_id not in self._venues}
        with suppress(SQLAlchemyError), self._parts.database.reading() as session:  # a line without its venue will do
            self._venues.update(venue_ids_by_event(session, sorted(unknown)) if unknown else {})


def fact_announcer(parts: Parts) -> Announcer:
    """The announcer that logs the facts relayed by this process."""
    return FactLog(parts).receive
