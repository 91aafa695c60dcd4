"""Delivers a batch of facts to one subscriber: what it writes is committed with its cursor, or not at all."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from shared.clock import Millis
from sync_server.outbox import cursors, retries
from sync_server.outbox.cursors import LeaseLostError
from sync_server.outbox.models import RetryRow
from sync_server.outbox.retries import Stream
from sync_server.plumbing.jobs import Message, Subscriber
from sync_server.plumbing.messaging.bus import Notification
from sync_server.plumbing.parts import Parts
from sync_server.plumbing.telemetry.logs import LOG

BACKLOG = 500
"""How many facts of an organisation are read at once for a subscriber that is behind."""


@dataclass(slots=True)
class LeasedBatch:
    """Facts that just got their positions, of organisations that nobody else goes on with until the lease ends."""

    until: Millis
    before: dict[str, int]  # the position of each organisation
    facts: dict[str, list[Message]] = field(default_factory=dict)
    cursors: dict[tuple[str, str], int] = field(default_factory=dict)
    retries: dict[str, dict[Stream, list[RetryRow]]] = field(default_factory=dict)

    def given(self, organisation_id: str) -> int:
        """The last position that was given."""
        return self.before[organisation_id] + len(self.facts[organisation_id])

    def all_facts(self) -> Iterator[Message]:
        """The facts of all organisations."""
        for facts in self.facts.values():
            yield from facts


class Delivery:
    """One batch for one subscriber. A fact at which it fails waits, with the later ones of its stream and no others."""

    def __init__(self, parts: Parts, subscriber: Subscriber, batch: LeasedBatch) -> None:
        self._parts, self._subscriber, self._batch = parts, subscriber, batch
        self._name = subscriber.name
        self._cursors = {each: batch.cursors[each, self._name] for each in batch.before}
        waiting = batch.retries.get(self._name, {})
        self._held, self._due = set(waiting), retries.due_streams(waiting, parts.clock())
        self.notifications: list[Notification] = []
        self.more, self.count = False, 0
        self.retry_at = retries.first_due({each: rows for each, rows in waiting.items() if each not in self._due})

    def run(self) -> None:
        """Deliver what is due. Raises LeaseLostError."""
        retried = sum(self._retry(stream, attempts) for stream, attempts in self._due.items())
        facts = [fact for organisation_id in self._batch.before for fact in self._new_facts(organisation_id)]
        if facts:
            self._deliver(facts)
        self.count = retried + len(facts)

    def _new_facts(self, organisation_id: str) -> Sequence[Message]:
        """The facts after the cursor: those of the batch, or older ones where the subscriber is behind."""
        cursor = self._cursors[organisation_id]
        if cursor >= self._batch.given(organisation_id):
            return ()
        if cursor == self._batch.before[organisation_id]:
            return self._batch.facts[organisation_id]
        with self._parts.database.reading() as session:
            backlog = cursors.after(session, organisation_id, cursor, BACKLOG)
        self.more |= len(backlog) == BACKLOG
        return backlog

    def _deliver(self, facts: Sequence[Message]) -> None:
        wanted = [fact for fact in facts if self._subscriber.wants(fact)]
        free = [fact for fact in wanted if (fact.organisation_id, fact.stream) not in self._held]
        held = [fact for fact in wanted if (fact.organisation_id, fact.stream) in self._held]
        ends = {fact.organisation_id: fact.order for fact in facts}
        try:
            with self._parts.database.writing() as session:
                notifications = list(self._subscriber.handle(session, free)) if free else []
                retries.add(session, self._name, held, self._parts.clock())
                for organisation_id, end in ends.items():
                    cursors.move(session, organisation_id, [self._name], self._cursors[organisation_id], end)
        except LeaseLostError:
            raise
        except Exception as problem:  # whatever a subscriber raises, the fact is retried
            self._isolate(facts, problem)
        else:
            self._cursors |= ends
            self.notifications += notifications

    def _isolate(self, facts: Sequence[Message], problem: Exception) -> None:
        """Find the fact that fails by halving the batch; the others go on."""
        if len(facts) > 1:
            middle = len(facts) // 2
            self._deliver(facts[:middle])
            self._deliver(facts[middle:])
            return
        [fact] = facts
        self._fail(fact, problem, first=True)
        self._held.add((fact.organisation_id, fact.stream))
        self._cursors[fact.organisation_id] = fact.order

    def _retry(self, stream: Stream, attempts: dict[str, int]) -> int:
        """Deliver the facts of a stream that waited, until one fails again; returns how many were tried."""
        with self._parts.database.reading() as session:
            facts = cursors.named(session, stream[0], attempts)
        for count, fact in enumerate(facts, start=1):
            if not self._deliver_again(fact):
                return count
        self._held.discard(stream)
        return len(facts)

    def _deliver_again(self, fact: Message) -> bool:
        """Whether the next fact of the stream may follow: this one was delivered, or is given up."""
        try:
            with self._parts.database.writing() as session:
                if not retries.settle(session, self._name, fact):
                    raise LeaseLostError
                wanted = self._subscriber.wants(fact)
                notifications = list(self._subscriber.handle(session, [fact])) if wanted else []
        except LeaseLostError:
            raise
        except Exception as problem:  # it stays where it is
            return self._fail(fact, problem, first=False)
        self.notifications += notifications
        return True

    def _fail(self, fact: Message, problem: Exception, *, first: bool) -> bool:
        """Note a failure; whether the fact is given up."""
        kind, parts = type(problem).__name__, self._parts
        LOG.warning(
            "fact_not_told",
            fact=fact.name,
            reader=self._name,
            attempts=fact.attempts,
            problem=kind,
            trace_id=fact.trace_id,
        )
        parts.metrics.facts_failed.inc()
        with parts.database.writing() as session:
            due_at = retries.fail(session, self._name, fact, f"{kind}: {problem}")
            if first:
                before = self._cursors[fact.organisation_id]
                cursors.move(session, fact.organisation_id, [self._name], before, fact.order)
        self._again_at(due_at)
        return due_at is None

    def _again_at(self, at: Millis | None) -> None:
        if at is not None:
            self.retry_at = at if self.retry_at is None else min(at, self.retry_at)
