"""Delivers facts after the commit: at least once, in order per event, later again after a failure, never lost."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import delete
from sqlalchemy.orm import Session

from shared.clock import Millis
from sync_server.outbox import leases, queries
from sync_server.outbox.deliveries import Delivery, House, Outcome
from sync_server.outbox.leases import BROKER, HOUSE, LEASE_MS, Lease, Stage
from sync_server.outbox.models import OutboxRow, ProcessedMessage
from sync_server.outbox.rules import OUTAGE_PAUSE_MS, is_dead, pause
from sync_server.plumbing.logs import LOG
from sync_server.plumbing.parts import Parts
from sync_server.plumbing.principals import Deed
from sync_server.plumbing.work import Job, Message, Subscriber

__all__ = ["BATCH", "BURST", "LEASE_MS", "Relay", "broker_relay", "forget_sent", "jobs"]

BATCH = 50
BURST = 500
"""Taken at once while batches come full: a burst pays for one lease in ten."""
KEPT_MS = 7 * 24 * 3_600_000


class Relay:
    """Takes due facts for half a minute, delivers them, and writes down what became of each."""

    def __init__(
        self,
        parts: Parts,
        subscribers: Sequence[Subscriber] = (),
        *,
        stage: Stage = HOUSE,
        delivery: Delivery | None = None,
    ) -> None:
        """Told nothing else, it tells the house: subscribers are called one fact after the other."""
        self._parts = parts
        self._stage = stage
        self._delivery = delivery or House(subscribers)
        self._last = stage is BROKER or parts.config.amqp_url is None
        self._limit = BATCH

    def run_once(self) -> int:
        """Deliver what is due, as far as one batch goes; how many facts that were."""
        if not self._delivery.ready():
            return 0
        lease = self._lease()
        self._limit = BURST if len(lease.messages) == self._limit else BATCH
        if lease.messages:
            self._settle(lease, self._delivery.deliver(lease.messages))
        return len(lease.messages)

    def _lease(self) -> Lease:
        # A lease instead of a lock held while delivering: a subscriber may write, and a worker may die.
        now, database = self._parts.clock(), self._parts.database
        if database.embedded and not self._worth_a_turn(now):
            return Lease((), now)
        with database.writing() as session:
            return leases.take(session, self._stage, now, self._limit)

    def _worth_a_turn(self, now: Millis) -> bool:
        # Where all writers take turns, none is taken for nothing.
        with self._parts.database.reading() as session:
            return leases.anything_due(session, self._stage, now)

    def _settle(self, lease: Lease, outcome: Outcome) -> None:
        now = self._parts.clock()
        with self._parts.database.writing() as session:
            leases.lock(session, self._stage)
            leases.mark(session, outcome.delivered, **self._done(now))
            leases.mark(session, outcome.unrouted, **self._done(now), unrouted=True)
            for message in lease.messages:
                if message.order in outcome.failed:
                    self._put_back(session, lease, message, outcome.failed[message.order])
            self._untried(session, lease, outcome, now)
        self._count(outcome)

    def _done(self, now: Millis) -> dict[str, object]:
        done: dict[str, object] = {self._stage.done: now}
        return done | ({"sent_at": now} if self._last else {"attempts": 0, "due_at": now})

    def _put_back(self, session: Session, lease: Lease, message: Message, problem: str) -> None:
        now, dead = self._parts.clock(), is_dead(message.attempts)
        rest = pause(message.attempts, int.from_bytes(self._parts.entropy(2), "big") / 65536)
        words: dict[str, object] = {"last_error": problem[:500], "due_at": now + rest}
        leases.put_back(session, self._stage, lease, [message.order], **words | ({"dead_at": now} if dead else {}))
        if dead:
            LOG.error("fact_laid_aside", fact=message.name, message_id=message.message_id, attempts=message.attempts)

    def _untried(self, session: Session, lease: Lease, outcome: Outcome, now: Millis) -> None:
        known = {*outcome.delivered, *outcome.unrouted, *outcome.failed}
        left = [message.order for message in lease.messages if message.order not in known]
        due = now + (OUTAGE_PAUSE_MS if outcome.outage else 0)
        leases.put_back(session, self._stage, lease, left, due_at=due, attempts=OutboxRow.attempts - 1)

    def _count(self, outcome: Outcome) -> None:
        metrics = self._parts.metrics
        metrics.facts_failed.inc(len(outcome.failed))
        metrics.facts_unrouted.inc(len(outcome.unrouted))
        if self._last:
            metrics.facts_delivered.inc(len(outcome.delivered) + len(outcome.unrouted))


def broker_relay(parts: Parts, delivery: Delivery) -> Relay:
    """The second way of every fact, where a broker is configured."""
    return Relay(parts, stage=BROKER, delivery=delivery)


def forget_sent(session: Session, deed: Deed) -> None:
    """Drop facts that were delivered a week ago, and what is remembered of messages taken in a month ago."""
    old: Millis = deed.now - KEPT_MS
    session.execute(delete(OutboxRow).where(OutboxRow.sent_at < old))
    session.execute(delete(ProcessedMessage).where(ProcessedMessage.processed_at < deed.now - 4 * KEPT_MS))


def jobs(parts: Parts) -> list[Job]:
    """The outbox's own jobs."""

    def measure(session: Session, _deed: Deed) -> None:
        parts.metrics.facts_waiting.set(queries.waiting(session))
        parts.metrics.facts_dead.set(queries.dead(session))

    return [Job("outbox.measure", 15_000, measure), Job("outbox.forget_sent", 600_000, forget_sent)]
