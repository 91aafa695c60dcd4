"""Publishes facts to the broker once they have their positions: in order per event, each at least once."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf
from typing import Protocol

from sqlalchemy import update
from sqlalchemy.orm import Session

from shared.clock import Millis
from sync_server.outbox import cursors, retries
from sync_server.outbox.cursors import BROKER, LEASE_MS, LeaseLostError
from sync_server.outbox.models import OutboxRow
from sync_server.outbox.retries import Stream
from sync_server.outbox.rules import OUTAGE_PAUSE_MS
from sync_server.plumbing.jobs import Message
from sync_server.plumbing.parts import Parts

BATCH = 1_000


@dataclass(slots=True)
class Outcome:
    """What became of facts, by their message ids; those in no list were not tried."""

    delivered: list[str] = field(default_factory=list)
    unrouted: list[str] = field(default_factory=list)  # accepted by the broker, but no queue was bound for them
    failed: dict[str, str] = field(default_factory=dict)
    outage: bool = False  # the broker was unreachable, which does not count as a failed attempt

    def arrived(self) -> set[str]:
        """The facts that the broker has accepted."""
        return {*self.delivered, *self.unrouted}


class Broker(Protocol):
    """Publishes facts."""

    def ready(self) -> bool:
        """Whether the broker can be reached."""
        ...

    def deliver(self, messages: Sequence[Message]) -> Outcome:
        """Publish these in order, and wait for the outcome."""
        ...


@dataclass(slots=True)
class LeasedFacts:
    """Facts for the broker: new ones by organisation, and those of streams that are tried again."""

    until: Millis
    before: dict[str, int]
    new: list[Message]
    again: list[Message]
    held: set[Stream]


class BrokerRelay:
    """Several may share one installation: each leases organisations while it publishes."""

    def __init__(self, parts: Parts, broker: Broker) -> None:
        self._parts, self._broker = parts, broker
        self.more = False
        """Whether the last batch was full: then the next one need not be waited for."""
        self._retry_at: Millis | None = None

    def run_once(self) -> int:
        """Publish one batch; returns how many facts the broker has accepted."""
        self.more = False
        if not self._broker.ready():
            return 0
        now, database = self._parts.clock(), self._parts.database
        if not self.retry_in_s():
            self._retry_at = None
        with database.autocommit_reading() as session:
            due = cursors.due_for_broker(session, now)
        if not due:
            return 0
        with database.writing() as session:
            lease = self._take(session, due, now)
        outcome = self._broker.deliver(
            [*lease.again, *(fact for fact in lease.new if (fact.organisation_id, fact.stream) not in lease.held)]
        )
        try:
            with database.writing() as session:
                self._settle(session, lease, outcome)
        except LeaseLostError:  # it took too long: another worker has sent them too
            return 0
        self._count(outcome)
        return len(outcome.arrived())

    def retry_in_s(self) -> float:
        """How long until the first fact that failed here is due again."""
        return inf if self._retry_at is None else max(0, self._retry_at - self._parts.clock()) / 1000

    def _take(self, session: Session, due: Collection[str], now: Millis) -> LeasedFacts:
        cursors.ease_writing(session)
        before = cursors.lease(session, BROKER, due, now)
        share = max(1, BATCH // max(1, len(before)))
        new = [fact for each, position in before.items() for fact in cursors.after(session, each, position, share)]
        self.more = len(new) >= share and bool(new)
        waiting = retries.waiting(session, before).get(BROKER, {})
        again = [
            fact
            for stream, attempts in retries.due_streams(waiting, now).items()
            for fact in self._next_of(session, stream, attempts)
        ]
        return LeasedFacts(now + LEASE_MS, before, new, again, set(waiting))

    def _next_of(self, session: Session, stream: Stream, attempts: Mapping[str, int]) -> Sequence[Message]:
        """The facts of a stream to publish next: one that was refused goes alone, so that none overtakes it."""
        facts = cursors.named(session, stream[0], attempts)
        if facts[0].attempts == 1:
            return facts
        if facts[1:]:
            self._due_again(self._parts.clock())
        return facts[:1]

    def _settle(self, session: Session, lease: LeasedFacts, outcome: Outcome) -> None:
        cursors.ease_writing(session)
        arrived = outcome.arrived()
        for fact in lease.again:
            if fact.message_id in arrived:
                retries.settle(session, BROKER, fact)
            elif fact.message_id in outcome.failed:
                self._fail(session, fact, outcome)
        for organisation_id, before in lease.before.items():
            facts = [fact for fact in lease.new if fact.organisation_id == organisation_id]
            end = self._end(session, facts, lease.held, outcome, before)
            if end > before:
                cursors.move(session, organisation_id, [BROKER], before, end)
            _mark_unrouted(session, organisation_id, outcome.unrouted)
        cursors.release(session, BROKER, lease.before, lease.until)
        if outcome.outage:
            self._due_again(self._parts.clock() + OUTAGE_PAUSE_MS)

    def _end(self, session: Session, facts: Sequence[Message], held: set[Stream], outcome: Outcome, end: int) -> int:
        """How far the broker has come with new facts: up to the first that was not tried."""
        arrived = outcome.arrived()
        for fact in facts:
            if (fact.organisation_id, fact.stream) in held:
                retries.add(session, BROKER, [fact], self._parts.clock())
                self._due_again(self._parts.clock())
            elif fact.message_id in outcome.failed:
                self._fail(session, fact, outcome)
            elif fact.message_id not in arrived:
                break
            end = fact.order
        return end

    def _fail(self, session: Session, fact: Message, outcome: Outcome) -> None:
        self._due_again(retries.fail(session, BROKER, fact, outcome.failed[fact.message_id]))

    def _due_again(self, at: Millis | None) -> None:
        if at is not None:
            self._retry_at = at if self._retry_at is None else min(at, self._retry_at)

    def _count(self, outcome: Outcome) -> None:
        metrics = self._parts.metrics
        metrics.facts_failed.inc(len(outcome.failed))
        metrics.facts_unrouted.inc(len(outcome.unrouted))
        metrics.facts_delivered.inc(len(outcome.arrived()))


def _mark_unrouted(session: Session, organisation_id: str, message_ids: Collection[str]) -> None:
    if message_ids:
        row = OutboxRow
        these = row.organisation_id == organisation_id, row.message_id.in_(message_ids)
        session.execute(update(row).where(*these).values(unrouted=True))
