"""Hands facts to subscribers, then to the bus, after the commit: in order per event, and never lost."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from math import inf

from sqlalchemy.orm import Session

from shared.clock import Millis
from sync_server.outbox import cursors, retries
from sync_server.outbox.cursors import BROKER, LEASE_MS, RELAY, LeaseLostError
from sync_server.outbox.delivery import Delivery, LeasedBatch
from sync_server.outbox.notifications import bus_notes
from sync_server.plumbing.jobs import Subscriber
from sync_server.plumbing.messaging.bus import Notification
from sync_server.plumbing.parts import Parts
from sync_server.plumbing.telemetry.spans import Span

BATCH = 1_000
MOST_LINKS = 32
"""Traces that a span of the relay points to: those of the first facts."""
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
        with self._parts.spans.span("relay facts") as span:
            return self._relay(due, now, span)

    def _relay(self, due: Sequence[str], now: Millis, span: Span) -> int:
        try:
            batch, notifications = self._take(due, now, together=True)
        except LeaseLostError:
            return 0
        except Exception:  # nothing was done: once more, now each subscriber in a transaction of its own
            batch, notifications = self._take(due, now, together=False)
        if not batch.before:
            return 0
        facts = list(batch.all_facts())
        span.note(facts=len(facts))
        for fact in facts[:MOST_LINKS]:
            span.link(fact.trace)
        return self._deliver_apart(batch) if notifications is None else self._finish(batch, notifications)

    def retry_in_s(self) -> float:
        """How long until the first fact that failed here is due again."""
        return inf if self._retry_at is None else max(0, self._retry_at - self._parts.clock()) / 1000

    def _take(
        self, due: Sequence[str], now: Millis, *, together: bool
    ) -> tuple[LeasedBatch, Sequence[Notification] | None]:
        """Lease organisations and give their facts positions; `together`: in the same transaction, deliver them.

        Returns what the subscribers have for the bus, and None where each must have a transaction of its own.
        """
        with self._parts.database.writing() as session:
            cursors.ease_writing(session)
            batch = LeasedBatch(now + LEASE_MS, cursors.lease(session, RELAY, due, now))
            share = max(1, BATCH // max(1, len(batch.before)))
            for organisation_id, before in batch.before.items():
                batch.facts[organisation_id] = cursors.number(session, organisation_id, before, now, share)
            batch.cursors = self._cursors(session, batch)
            batch.retries = retries.waiting(session, batch.before)
            together = together and not batch.retries and all(map(partial(self._keeps_up, batch), self._subscribers))
            notifications = [
                note for each in self._subscribers for note in self._handled(session, each, batch, together)
            ]
            self._move(session, batch, together=together)
        self.more = any(len(facts) == share for facts in batch.facts.values())
        return batch, notifications if together else None

    @staticmethod
    def _keeps_up(batch: LeasedBatch, subscriber: Subscriber) -> bool:
        return all(batch.cursors[each, subscriber.name] == before for each, before in batch.before.items())

    @staticmethod
    def _handled(
        session: Session, subscriber: Subscriber, batch: LeasedBatch, together: bool
    ) -> Sequence[Notification]:
        wanted = [fact for fact in batch.all_facts() if subscriber.wants(fact)] if together else ()
        return list(subscriber.handle(session, wanted)) if wanted else ()

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

    def _move(self, session: Session, batch: LeasedBatch, *, together: bool) -> None:
        """Move the relay's cursor, and those of subscribers that have had the facts or have nothing to do with them."""
        for organisation_id, before in batch.before.items():
            if facts := batch.facts[organisation_id]:
                passed = [
                    each.name
                    for each in self._subscribers
                    if batch.cursors[organisation_id, each.name] == before
                    and (together or not any(map(each.wants, facts)))
                ]
                after = batch.given(organisation_id)
                cursors.move(session, organisation_id, [RELAY, *passed], before, after)
                batch.cursors.update({(organisation_id, name): after for name in passed})

    def _deliver_apart(self, batch: LeasedBatch) -> int:
        try:
            deliveries = [self._deliver(subscriber, batch) for subscriber in self._subscribers]
        except LeaseLostError:
            return 0
        notifications = [note for delivery in deliveries for note in delivery.notifications]
        return max([self._finish(batch, notifications), *(delivery.count for delivery in deliveries)])

    def _finish(self, batch: LeasedBatch, notifications: Sequence[Notification]) -> int:
        """Tell the bus, and give the lease back; returns how many facts there were."""
        parts, facts = self._parts, list(batch.all_facts())
        parts.bus.publish_all([*(note for fact in facts for note in bus_notes(fact)), *notifications])
        with parts.database.writing() as session:
            cursors.ease_writing(session)
            cursors.release(session, RELAY, batch.before, batch.until)
        if parts.config.amqp_url is None:
            parts.metrics.facts_delivered.inc(len(facts))
        return len(facts)

    def _deliver(self, subscriber: Subscriber, batch: LeasedBatch) -> Delivery:
        delivery = Delivery(self._parts, subscriber, batch)
        delivery.run()
        self._due_again(delivery.retry_at)
        self.more |= delivery.more
        return delivery

    def _due_again(self, at: Millis | None) -> None:
        if at is not None:
            self._retry_at = at if self._retry_at is None else min(at, self._retry_at)
