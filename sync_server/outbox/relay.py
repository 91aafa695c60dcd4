"""Hands facts to subscribers, then to the bus, after the commit: in order per event, and never lost."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

from sqlalchemy.orm import Session

from shared.clock import Millis
from sync_server.outbox import cursors, retries
from sync_server.outbox.cursors import BROKER, LEASE_MS, RELAY, LeaseLostError
from sync_server.outbox.delivery import Delivery, LeasedBatch
from sync_server.outbox.notifications import bus_notes
from sync_server.plumbing.jobs import Subscriber
from sync_server.plumbing.parts import Parts

BATCH = 500
LOOK_EVERY_MS = 10_000
"""How often a relay looks for what a dead worker has left; every commit wakes it at once."""


class Relay:
    """Several may share one installation: each leases organisations for a quarter of a minute."""

    def __init__(self, parts: Parts, subscribers: Sequence[Subscriber] | None = None) -> None:
        """Delivers to the subscribers of the parts by default."""
        self._parts = parts
        self._subscribers = parts.subscribers if subscribers is None else subscribers
        self.more = False
        """Whether the last batch was full: then the next one need not be waited for."""
        self._look_at: Millis = 0
        self._retry_at: Millis | None = None

    def run_once(self) -> int:
        """Deliver one batch of due facts; returns how many there were."""
        now, database, self.more = self._parts.clock(), self._parts.database, False
        if not self.retry_in_s():
            self._retry_at = None
        with database.autocommit_reading() as session:
            due = cursors.due_for_relay(session, now, look=now >= self._look_at)
        if now >= self._look_at:
            self._look_at = now + LOOK_EVERY_MS
        if not due:
            return 0
        with database.writing() as session:
            batch = self._take(session, due, now)
        return self._deliver_batch(batch) if batch.before else 0

    def retry_in_s(self) -> float:
        """How long until the first fact that failed here is due again."""
        return inf if self._retry_at is None else max(0, self._retry_at - self._parts.clock()) / 1000

    def _take(self, session: Session, due: Sequence[str], now: Millis) -> LeasedBatch:
        cursors.ease_writing(session)
        batch = LeasedBatch(now + LEASE_MS, cursors.lease(session, RELAY, due, now))
        share = max(1, BATCH // max(1, len(batch.before)))
        for organisation_id, before in batch.before.items():
            batch.facts[organisation_id] = cursors.number(session, organisation_id, before, now, share)
        batch.cursors = self._cursors(session, batch)
        batch.retries = retries.waiting(session, batch.before)
        for subscriber in self._subscribers:
            self._pass_unwanted(session, subscriber, batch)
        self.more = any(len(facts) == share for facts in batch.facts.values())
        return batch

    def _cursors(self, session: Session, batch: LeasedBatch) -> dict[tuple[str, str], int]:
        """Where each subscriber is; one that is new begins with this batch."""
        found = cursors.positions(session, batch.before)
        for organisation_id, before in batch.before.items():
            for reader in self._readers():
                if (organisation_id, reader) not in found:
                    cursors.start(session, organisation_id, reader, before)
                    found[organisation_id, reader] = before
        return found

    def _readers(self) -> list[str]:
        names = [subscriber.name for subscriber in self._subscribers]
        return names if self._parts.config.amqp_url is None else [*names, BROKER]

    def _pass_unwanted(self, session: Session, subscriber: Subscriber, batch: LeasedBatch) -> None:
        """Move a subscriber's cursor past facts that are nothing to it, which then needs no transaction of its own."""
        for organisation_id, before in batch.before.items():
            key, facts = (organisation_id, subscriber.name), batch.facts[organisation_id]
            if facts and batch.cursors[key] == before and not any(map(subscriber.wants, facts)):
                batch.cursors[key] = batch.given(organisation_id)
                cursors.move(session, organisation_id, subscriber.name, before, batch.cursors[key])

    def _deliver_batch(self, batch: LeasedBatch) -> int:
        parts, facts = self._parts, list(batch.all_facts())
        notifications = [note for fact in facts for note in bus_notes(fact)]
        try:
            deliveries = [self._deliver(subscriber, batch) for subscriber in self._subscribers]
        except LeaseLostError:
            return 0
        parts.bus.publish_all([*notifications, *(note for delivery in deliveries for note in delivery.notifications)])
        with parts.database.writing() as session:
            cursors.ease_writing(session)
            cursors.release(session, RELAY, batch.before, batch.until)
        if parts.config.amqp_url is None:
            parts.metrics.facts_delivered.inc(len(facts))
        return max([len(facts), *(delivery.count for delivery in deliveries)])

    def _deliver(self, subscriber: Subscriber, batch: LeasedBatch) -> Delivery:
        delivery = Delivery(self._parts, subscriber, batch)
        delivery.run()
        self._due_again(delivery.retry_at)
        self.more |= delivery.more
        return delivery

    def _due_again(self, at: Millis | None) -> None:
        if at is not None:
            self._retry_at = at if self._retry_at is None else min(at, self._retry_at)
