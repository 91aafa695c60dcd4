"""Measures the interest in each event, by its sales, holds and joins."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Sequence
from typing import Final

from sqlalchemy import delete
from sqlalchemy.orm import Session

from shared.clock import Millis
from sync_server.listings.models import Interest
from sync_server.listings.rules import HOUR, INTEREST_HOURS, JOIN_WEIGHT
from sync_server.outbox.catalogue import kind_of
from sync_server.outbox.signals import JoinedElsewhere
from sync_server.plumbing.caching.cache import Cache, public_key
from sync_server.plumbing.jobs import Message
from sync_server.plumbing.principals import ActionContext
from sync_server.plumbing.sql.bulk import insert_many

_ADD: Final = "ON CONFLICT (event_id, hour) DO UPDATE SET weight = event_interest.weight + excluded.weight"


class InterestCounter:
    """Counts in memory between two writes; a crash loses a few seconds of interest."""

    def __init__(self, cache: Cache) -> None:
        self._cache = cache
        self._counts: Counter[tuple[str, int]] = Counter()
        self._lock = threading.Lock()

    def receive(self, messages: Sequence[Message]) -> None:
        """Count a batch of facts; an event's page is invalidated when its tickets sell."""
        sold = {str(message.subjects["event"]) for message in messages if message.name == "tickets_issued"}
        with self._lock:
            for message in messages:
                if weight := _weight(message):
                    self._counts[str(message.subjects["event"]), message.at // HOUR] += weight
        if sold:
            self._cache.invalidate(*(public_key("event", event) for event in sold))

    def anything_counted(self, _session: Session, _now: Millis) -> bool:
        """Whether `flush` has anything to write."""
        return bool(self._counts)

    def flush(self, session: Session, context: ActionContext) -> None:
        """Job: write the counts, and delete what is too old to count."""
        with self._lock:
            counts, self._counts = self._counts, Counter()
        add_interest(session, counts)
        session.execute(delete(Interest).where(Interest.hour < context.now // HOUR - INTEREST_HOURS))


def record_join(session: Session, join: JoinedElsewhere) -> None:
    """Count a join elsewhere, in the transaction that records it."""
    if join.step > 0:
        add_interest(session, {(join.event_id, join.now // HOUR): JOIN_WEIGHT})


def add_interest(session: Session, weights: dict[tuple[str, int], int]) -> None:
    """Add weights by (event, hour); in message order, so that writers cannot deadlock."""
    rows = [{"event_id": event, "hour": hour, "weight": weight} for (event, hour), weight in sorted(weights.items())]
    insert_many(session, Interest, rows, _ADD)


def _weight(message: Message) -> int:
    interest = kind_of(message.name).interest
    if interest is None or "event" not in message.subjects:
        return 0
    return interest.weight * int(message.payload.get(interest.per, 1))
