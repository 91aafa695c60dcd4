"""Logs and counts facts about holds, seats and tickets: ids, numbers and our own reasons, never a name."""

from __future__ import annotations

from collections import Counter as Counts
from collections.abc import Collection, Sequence
from typing import Any, Final

from cachetools import LRUCache
from prometheus_client import Counter
from sqlalchemy.orm import Session

from sync_server.events.overviews.active_events import venue_ids_by_event
from sync_server.outbox.catalogue import kind_of
from sync_server.plumbing.event_key import EventKey
from sync_server.plumbing.jobs import LOG_SUBJECTS, Message, Subscriber
from sync_server.plumbing.messaging.bus import Notification
from sync_server.plumbing.parts import Parts
from sync_server.plumbing.telemetry.logs import LOG

MAX_VENUES: Final = 10_000


class FactLog:
    """Receives every fact of the installation, in the worker that relays it."""

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
        self._held = Counter("gatehouse_holds", "Seats and places held, by outcome", ["became"], registry=registry)

    def receive(self, session: Session, facts: Sequence[Message]) -> Sequence[Notification]:
        """Count the facts, and log those of interest."""
        for name, count in Counts(fact.name for fact in facts).items():
            self._facts.labels(name).inc(count)
        for fact in facts:
            if outcome := kind_of(fact.name).outcome:
                self._held.labels(outcome.became).inc(int(fact.payload.get(outcome.quantity, 1)))
            if {"event", "venue"} <= set(fact.subjects):
                self._venues[str(fact.subjects["event"])] = str(fact.subjects["venue"])
        logged = [fact for fact in facts if kind_of(fact.name).logged is not None]
        named = {(fact.organisation_id, fact.subjects["event"]) for fact in logged if "event" in fact.subjects}
        self._load_venues(session, [EventKey(*event) for event in named])
        log = LOG.bind()  # once: that costs more than a line that is not written
        for fact in logged:
            log.info(fact.name, **self._fields(fact))
        return ()

    def _fields(self, message: Message) -> dict[str, Any]:
        ids = {field: message.subjects[name] for name, field in LOG_SUBJECTS.items() if name in message.subjects}
        if "event_id" in ids:
            ids.setdefault("venue_id", self._venues.get(ids["event_id"], ""))
        payload = {
            name: message.payload[name] for name in kind_of(message.name).logged or () if name in message.payload
        }
        told = {"organisation_id": message.organisation_id, **ids, "message_id": message.message_id, **payload}
        return told | ({"trace_id": message.trace_id} if message.trace_id else {})

    def _load_venues(self, session: Session, events: Collection[EventKey]) -> None:
        unknown = sorted(event for event in events if event[1] not in self._venues)
        self._venues.update(venue_ids_by_event(session, unknown) if unknown else {})


def fact_logger(parts: Parts) -> Subscriber:
    """Logs and counts the facts that this process relays."""
    return Subscriber("log", lambda _fact: True, FactLog(parts).receive)
