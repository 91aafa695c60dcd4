"""Delivers facts after the commit: at least once, in order per event, retried after failures, never lost."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from math import inf

from sqlalchemy import delete
from sqlalchemy.orm import Session

from shared.clock import Millis
from sync_server.outbox import leases
from sync_server.outbox.deliveries import AsyncDelivery, Delivery, LocalDelivery, Outcome
from sync_server.outbox.leases import BROKER, LEASE_MS, LOCAL, Lease, Stage
from sync_server.outbox.models import OutboxRow, ProcessedMessage
from sync_server.outbox.rules import OUTAGE_PAUSE_MS, is_dead, pause
from sync_server.plumbing.jobs import Job, Message, Subscriber
from sync_server.plumbing.logs import LOG
from sync_server.plumbing.parts import Parts
from sync_server.plumbing.principals import ActionContext

__all__ = ["BATCH", "BURST", "LEASE_MS", "Relay", "broker_relay", "jobs", "local_relay", "purge_sent"]

BATCH = 50
BURST = 500
"""The batch size while batches are full: a burst takes one lease instead of ten."""
RETENTION_MS = 7 * 24 * 3_600_000


class Relay:
    """Leases due facts for a quarter of a minute, delivers them, and records the outcome of each."""

    def __init__(
        self,
        parts: Parts,
        subscribers: Sequence[Subscriber] = (),
        *,
        stage: Stage = LOCAL,
        delivery: Delivery | None = None,
        broker: AsyncDelivery | None = None,
    ) -> None:
        """Delivers to `subscribers` by default; `broker` gets facts right afterwards if none wait for it."""
        self._parts = parts
        self._stage = stage
        self._delivery = delivery or LocalDelivery(subscribers)
        self._broker = broker
        self._is_last_stage = stage is BROKER or parts.config.amqp_url is None
        self._limit = BATCH
        self._retry_at: Millis | None = None
        self.broker_pending = False
        """Whether facts of the last batch still wait for the broker."""

    def run_once(self) -> int:
        """Deliver one batch of due facts; returns how many were taken."""
        if not self._delivery.ready():
            return 0
        if not self.retry_in_s():
            self._retry_at = None
        lease = self._lease()
        self._limit = BURST if len(lease.messages) == self._limit else BATCH
        if lease.messages:
            outcome = self._delivery.deliver(lease.messages)
            broker_outcome = self._forward(lease, outcome)
            outcome.announce()  # notify pages while the broker writes
            self._settle(lease, outcome, broker_outcome())
        return len(lease.messages)

    def retry_in_s(self) -> float:
        """How long until the first fact that this relay put back is due again."""
        if self._retry_at is None:
            return inf
        return max(0, self._retry_at - self._parts.clock()) / 1000

    def _due_again(self, at: Millis) -> Millis:
        self._retry_at = at if self._retry_at is None else min(at, self._retry_at)
        return at

    def _lease(self) -> Lease:
        # A lease, not a lock held while delivering: a subscriber may write, and a worker may die.
        now, database = self._parts.clock(), self._parts.database
        if not self._anything_due(now):
            return Lease((), now)
        with database.writing() as session:
            return leases.take(session, self._stage, now, self._limit)

    def _anything_due(self, now: Millis) -> bool:
        with self._parts.database.autocommit_reading() as session:
            return leases.anything_due(session, self._stage, now)

    def _forward(self, lease: Lease, outcome: Outcome) -> Callable[[], Outcome]:
        """Publish at once, unless earlier facts wait for the broker: those must come first."""
        if self._broker is None or not lease.broker_idle or not self._broker.ready():
            return Outcome
        delivered = set(outcome.delivered)
        return self._broker.begin([message for message in lease.messages if message.order in delivered])

    def _settle(self, lease: Lease, outcome: Outcome, broker: Outcome) -> None:
        now, published = self._parts.clock(), {*broker.delivered, *broker.unrouted, *broker.failed}
        with self._parts.database.writing() as session:
            leases.lock(session, self._stage)
            both = {"handled_at": now, "sent_at": now}
            leases.mark(session, broker.delivered, **both)
            leases.mark(session, broker.unrouted, **both, unrouted=True)
            local_only = [order for order in outcome.delivered if order not in published]
            leases.mark(session, local_only, **self._done(now))
            leases.mark(session, outcome.unrouted, **self._done(now), unrouted=True)
            for message in lease.messages:
                if message.order in outcome.failed:
                    failure = self._failure(message, message.attempts, outcome.failed[message.order])
                    leases.put_back(session, self._stage, lease, [message.order], **failure)
                if message.order in broker.failed:
                    failure = self._failure(message, 1, broker.failed[message.order])
                    leases.mark(session, [message.order], handled_at=now, **failure)
            self._return_untried(session, lease, outcome, now)
        self.broker_pending = bool(local_only) and not self._is_last_stage
        self._count(outcome, broker)

    def _done(self, now: Millis) -> dict[str, object]:
        done: dict[str, object] = {self._stage.done_column: now}
        return done | ({"sent_at": now} if self._is_last_stage else {"attempts": 0, "due_at": now})

    def _failure(self, message: Message, attempts: int, problem: str) -> dict[str, object]:
        now, jitter = self._parts.clock(), int.from_bytes(self._parts.entropy(2), "big") / 65536
        failure: dict[str, object] = {"attempts": attempts, "last_error": problem[:500]}
        if is_dead(attempts):
            LOG.error("fact_laid_aside", fact=message.name, message_id=message.message_id, attempts=attempts)
            return failure | {"dead_at": now}
        return failure | {"due_at": self._due_again(now + pause(attempts, jitter))}

    def _return_untried(self, session: Session, lease: Lease, outcome: Outcome, now: Millis) -> None:
        tried = {*outcome.delivered, *outcome.unrouted, *outcome.failed}
        left = [message.order for message in lease.messages if message.order not in tried]
        due = now + (OUTAGE_PAUSE_MS if outcome.outage else 0)
        if left:
            self._due_again(due)
        leases.put_back(session, self._stage, lease, left, due_at=due, attempts=OutboxRow.attempts - 1)

    def _count(self, outcome: Outcome, broker: Outcome) -> None:
        metrics = self._parts.metrics
        metrics.facts_failed.inc(_total(outcome.failed, broker.failed))
        metrics.facts_unrouted.inc(_total(outcome.unrouted, broker.unrouted))
        arrived = [outcome.delivered, outcome.unrouted] if self._is_last_stage else [broker.delivered, broker.unrouted]
        metrics.facts_delivered.inc(_total(*arrived))


def _total(*groups: Collection[int]) -> int:
    return sum(map(len, groups))


def local_relay(parts: Parts, broker: AsyncDelivery | None) -> Relay:
    """The first stage of every fact: subscribers here, and the broker right afterwards where there is one."""
    return Relay(parts, delivery=LocalDelivery(parts.subscribers, parts.announcers), broker=broker)


def broker_relay(parts: Parts, broker: Delivery) -> Relay:
    """The second stage, for facts that could not be published right away."""
    return Relay(parts, stage=BROKER, delivery=broker)


def purge_sent(session: Session, context: ActionContext) -> None:
    """Delete facts delivered more than a week ago, and ids of messages processed more than four weeks ago."""
    old: Millis = context.now - RETENTION_MS
    session.execute(delete(OutboxRow).where(OutboxRow.sent_at < old))
    session.execute(delete(ProcessedMessage).where(ProcessedMessage.processed_at < context.now - 4 * RETENTION_MS))


def jobs() -> list[Job]:
    return [Job("outbox.forget_sent", 600_000, purge_sent)]
