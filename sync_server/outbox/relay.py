"""Delivers facts after the commit: at least once, in order per event, later again after a failure, never lost."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from sqlalchemy import delete
from sqlalchemy.orm import Session

from shared.clock import Millis
from sync_server.outbox import leases
from sync_server.outbox.deliveries import Delivery, House, Onward, Outcome
from sync_server.outbox.leases import BROKER, HOUSE, LEASE_MS, Lease, Stage
from sync_server.outbox.models import OutboxRow, ProcessedMessage
from sync_server.outbox.rules import OUTAGE_PAUSE_MS, is_dead, pause
from sync_server.plumbing.logs import LOG
from sync_server.plumbing.parts import Parts
from sync_server.plumbing.principals import Deed
from sync_server.plumbing.work import Job, Message, Subscriber

__all__ = ["BATCH", "BURST", "LEASE_MS", "Relay", "broker_relay", "forget_sent", "house_relay", "jobs"]

BATCH = 50
BURST = 500
"""Taken at once while batches come full: a burst pays for one lease in ten."""
KEPT_MS = 7 * 24 * 3_600_000


class Relay:
    """Takes due facts for a quarter of a minute, delivers them, and writes down what became of each."""

    def __init__(
        self,
        parts: Parts,
        subscribers: Sequence[Subscriber] = (),
        *,
        stage: Stage = HOUSE,
        delivery: Delivery | None = None,
        onward: Onward | None = None,
    ) -> None:
        """Told nothing else, it tells the house; `onward` gets at once what the house has heard, if nobody waits."""
        self._parts = parts
        self._stage = stage
        self._delivery = delivery or House(subscribers)
        self._onward = onward
        self._last = stage is BROKER or parts.config.amqp_url is None
        self._limit = BATCH
        self.left_waiting = False
        """Whether facts of the last batch have another way before them."""

    def run_once(self) -> int:
        """Deliver what is due, as far as one batch goes; how many facts that were."""
        if not self._delivery.ready():
            return 0
        lease = self._lease()
        self._limit = BURST if len(lease.messages) == self._limit else BATCH
        if lease.messages:
            outcome = self._delivery.deliver(lease.messages)
            further = self._pass_on(lease, outcome)
            outcome.announce()  # pages are told while the broker writes
            self._settle(lease, outcome, further())
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

    def _pass_on(self, lease: Lease, outcome: Outcome) -> Callable[[], Outcome]:
        """Straight on to the broker, unless earlier facts wait for it: those must come first."""
        if self._onward is None or not lease.way_is_clear or not self._onward.ready():
            return Outcome
        told = set(outcome.delivered)
        return self._onward.begin([message for message in lease.messages if message.order in told])

    def _settle(self, lease: Lease, outcome: Outcome, further: Outcome) -> None:
        now, known = self._parts.clock(), {*further.delivered, *further.unrouted, *further.failed}
        with self._parts.database.writing() as session:
            leases.lock(session, self._stage)
            both = {"told_at": now, "sent_at": now}
            leases.mark(session, further.delivered, **both)
            leases.mark(session, further.unrouted, **both, unrouted=True)
            told_only = [order for order in outcome.delivered if order not in known]
            leases.mark(session, told_only, **self._done(now))
            leases.mark(session, outcome.unrouted, **self._done(now), unrouted=True)
            for message in lease.messages:
                if message.order in outcome.failed:
                    words = self._rest(message, message.attempts, outcome.failed[message.order])
                    leases.put_back(session, self._stage, lease, [message.order], **words)
                if message.order in further.failed:
                    words = self._rest(message, 1, further.failed[message.order])
                    leases.mark(session, [message.order], told_at=now, **words)
            self._untried(session, lease, outcome, now)
        self.left_waiting = bool(told_only) and not self._last
        self._count(outcome, further)

    def _done(self, now: Millis) -> dict[str, object]:
        done: dict[str, object] = {self._stage.done: now}
        return done | ({"sent_at": now} if self._last else {"attempts": 0, "due_at": now})

    def _rest(self, message: Message, attempts: int, problem: str) -> dict[str, object]:
        now, jitter = self._parts.clock(), int.from_bytes(self._parts.entropy(2), "big") / 65536
        words: dict[str, object] = {"attempts": attempts, "last_error": problem[:500]}
        if is_dead(attempts):
            LOG.error("fact_laid_aside", fact=message.name, message_id=message.message_id, attempts=attempts)
            return words | {"dead_at": now}
        return words | {"due_at": now + pause(attempts, jitter)}

    def _untried(self, session: Session, lease: Lease, outcome: Outcome, now: Millis) -> None:
        known = {*outcome.delivered, *outcome.unrouted, *outcome.failed}
        left = [message.order for message in lease.messages if message.order not in known]
        due = now + (OUTAGE_PAUSE_MS if outcome.outage else 0)
        leases.put_back(session, self._stage, lease, left, due_at=due, attempts=OutboxRow.attempts - 1)

    def _count(self, outcome: Outcome, further: Outcome) -> None:
        metrics = self._parts.metrics
        metrics.facts_failed.inc(_number(outcome.failed, further.failed))
        metrics.facts_unrouted.inc(_number(outcome.unrouted, further.unrouted))
        arrived = [outcome.delivered, outcome.unrouted] if self._last else [further.delivered, further.unrouted]
        metrics.facts_delivered.inc(_number(*arrived))


def _number(*many: Collection[int]) -> int:
    return sum(map(len, many))


def house_relay(parts: Parts, onward: Onward | None) -> Relay:
    """The first way of every fact: to the house, and straight on to the broker where one is there."""
    return Relay(parts, delivery=House(parts.subscribers, parts.announcers), onward=onward)


def broker_relay(parts: Parts, broker: Delivery) -> Relay:
    """The way of facts that could not go straight on."""
    return Relay(parts, stage=BROKER, delivery=broker)


def forget_sent(session: Session, deed: Deed) -> None:
    """Drop facts that were delivered a week ago, and what is remembered of messages taken in a month ago."""
    old: Millis = deed.now - KEPT_MS
    session.execute(delete(OutboxRow).where(OutboxRow.sent_at < old))
    session.execute(delete(ProcessedMessage).where(ProcessedMessage.processed_at < deed.now - 4 * KEPT_MS))


def jobs() -> list[Job]:
    """The outbox's own jobs."""
    return [Job("outbox.forget_sent", 600_000, forget_sent)]
