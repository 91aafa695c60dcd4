"""Publishes how full an event is on the bus, after each fact that changes it."""

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
from sync_server.holds import queries
from sync_server.holds.occupancy_shown import shown_counts
from sync_server.holds.queries import Occupancy
from sync_server.outbox.catalogue import kind_of
from sync_server.outbox.fact_kinds import RECOUNT
from sync_server.plumbing.api.schemas import iso
from sync_server.plumbing.jobs import Message, Subscriber
from sync_server.plumbing.messaging import bus
from sync_server.plumbing.messaging.bus import Notification
from sync_server.plumbing.parts import Parts
from sync_server.seating.plans.seat_plans import find_event_plan

COUNT_EVERY_MS: Final = 1_000
MAX_CACHED: Final = 1_000


def occupancy_notifier(parts: Parts) -> Subscriber:
    """Publishes on the topic of an event's occupancy."""
    counts = OccupancyCounts(parts)

    def handle(_session: Session, facts: Sequence[Message]) -> Sequence[Notification]:
        try:
            return counts.notifications(facts)
        except NotFound:  # the event was deleted; the next fact publishes the counts of others again
            return ()

    return Subscriber("occupancy", _changes_occupancy, handle)


def _changes_occupancy(fact: Message) -> bool:
    return kind_of(fact.name).occupancy is not None and bool(fact.subjects.get("event"))


@dataclass(slots=True)
class _Count:
    """One event's counts, and when they were taken."""

    at: Millis
    total: int
    occupancy: Occupancy


class OccupancyCounts:
    """Counts of events: read from the tables once a second, kept up to date by the facts in between."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._cached: LRUCache[str, _Count] = LRUCache(MAX_CACHED)

    def notifications(self, messages: Sequence[Message]) -> list[Notification]:
        """A notification for each fact, with the counts after it."""
        now = self._parts.clock()
        recounted = self._recounted(
            {str(each.subjects["event"]): each.organisation_id for each in messages}, messages, now
        )
        return [
            Notification(
                bus.occupancy_topic(message.organisation_id, message.subjects["event_number"]),
                {**_fact(message), **self._shares(message, recounted)},
            )
            for message in messages
        ]

    def _recounted(self, whose: Mapping[str, str], messages: Sequence[Message], now: Millis) -> set[str]:
        """Count the events whose counts are old; their new counts include all these facts."""
        uncertain = {str(each.subjects["event"]) for each in messages if kind_of(each.name).occupancy is RECOUNT}
        due = {
            event_id: where
            for event_id, where in whose.items()
            if event_id in uncertain
            or event_id not in self._cached
            or not 0 <= now - self._cached[event_id].at < COUNT_EVERY_MS
        }
        if due:
            with self._parts.database.reading() as session:
                for event_id, where in due.items():
                    self._cached[event_id] = _Count(now, *_read(session, where, event_id, now))
        return set(due)

    def _shares(self, message: Message, recounted: Collection[str]) -> Mapping[str, Any]:
        event_id = str(message.subjects["event"])
        count_of_event = self._cached[event_id]
        step = kind_of(message.name).occupancy
        if event_id not in recounted and step is not None:
            count = int(message.payload.get("quantity", 1))
            count_of_event.occupancy = Occupancy(
                max(0, count_of_event.occupancy.held + step.held * count),
                count_of_event.occupancy.sold + step.sold * count,
            )
        return shares(count_of_event.total, count_of_event.occupancy)


def _fact(message: Message) -> dict[str, Any]:
    return {
        "event": message.name,
        "event_id": message.subjects["event"],
        "hold_id": message.subjects.get("hold"),
        "seat": message.payload.get("seat"),
        "seat_id": message.payload.get("seat_id"),  # present where a seat was held
        "timestamp": iso(message.at),
    }


def occupancy_payload(session: Session, organisation_id: str, event_id: str, now: Millis) -> Mapping[str, Any]:
    """How much of an event is free, held and sold now; empty where there is no such event."""
    try:
        return shares(*_read(session, organisation_id, event_id, now))
    except NotFound:
        return {}


def shares(total: int, occupancy: Occupancy) -> dict[str, Any]:
    """The counts as organisers get them."""
    available = max(0, total - occupancy.taken)
    return shown_counts(total, available, occupancy.held, occupancy.sold, organiser=True)


def _read(session: Session, organisation_id: str, event_id: str, now: Millis) -> tuple[int, Occupancy]:
    """The capacity of an event (0 where none is set), and how much of it is taken."""
    event, taken = (
        events.event(session, organisation_id, event_id),
        queries.occupancy(session, organisation_id, event_id, now),
    )
    limit = rules.effective_capacity(event.capacity, event.venue_capacity)
    plan = find_event_plan(session, organisation_id, event_id)
    if plan is None:
        return limit, Occupancy(taken.held, event.tickets_issued)  # without a layout its tickets have no seat or zone
    return (min(plan.capacity, limit) if limit else plan.capacity), taken
