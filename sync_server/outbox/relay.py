"""Delivers facts to subscribers after the commit: at least once, later again after a failure, never lost."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import delete, func, select, update
from sqlalchemy.orm import Session

from shared.backoff import delays
from shared.clock import Millis
from sync_server.outbox.models import OutboxRow
from sync_server.plumbing.logs import LOG
from sync_server.plumbing.parts import Parts
from sync_server.plumbing.principals import Deed
from sync_server.plumbing.work import Job, Message, Subscriber

BATCH = 100
LEASE_MS = 30_000
KEPT_MS = 7 * 24 * 3_600_000
FIRST_PAUSE_MS = 500
LONGEST_PAUSE_MS = 15 * 60_000


class Relay:
    """Takes due facts for half a minute each, tells the subscribers, and marks them sent."""

    def __init__(self, parts: Parts, subscribers: Sequence[Subscriber]) -> None:
        """Subscribers are called on the worker's thread, one fact after the other."""
        self._parts = parts
        self._subscribers = subscribers

    def run_once(self) -> int:
        """Deliver one batch; how many facts were due."""
        messages = self._lease()
        for message in messages:
            self._deliver(message)
        return len(messages)

    def _lease(self) -> list[Message]:
        # A lease instead of a lock held while delivering: a subscriber may write, and a worker may die.
        now = self._parts.clock()
        due = OutboxRow.sent_at.is_(None), OutboxRow.due_at <= now
        with self._parts.database.reading() as session:
            if session.execute(select(OutboxRow.id).where(*due).limit(1)).first() is None:
                return []
        wanted = select(OutboxRow).where(*due).order_by(OutboxRow.id).limit(BATCH)
        with self._parts.database.writing() as session:
            rows = session.execute(wanted.with_for_update(skip_locked=True)).scalars().all()
            for row in rows:
                row.due_at, row.attempts = now + LEASE_MS, row.attempts + 1
            return [_message(row) for row in rows]

    def _deliver(self, message: Message) -> None:
        try:
            for subscriber in self._subscribers:
                subscriber(message)
        except Exception as problem:  # whatever a subscriber raises, the fact is told again
            self._failed(message, problem)
        else:
            self._mark(message, sent_at=self._parts.clock())
            self._parts.metrics.facts_delivered.inc()

    def _failed(self, message: Message, problem: Exception) -> None:
        LOG.warning("fact_not_delivered", fact=message.name, attempts=message.attempts, problem=type(problem).__name__)
        self._parts.metrics.facts_failed.inc()
        jitter = int.from_bytes(self._parts.entropy(2), "big") / 65536
        pause = delays(message.attempts, base_ms=FIRST_PAUSE_MS, cap_ms=LONGEST_PAUSE_MS, jitter=jitter)
        self._mark(message, due_at=self._parts.clock() + pause, last_error=f"{type(problem).__name__}: {problem}"[:500])

    def _mark(self, message: Message, **values: object) -> None:
        with self._parts.database.writing() as session:
            session.execute(update(OutboxRow).where(OutboxRow.message_id == message.message_id).values(**values))


def _message(row: OutboxRow) -> Message:
    return Message(
        row.message_id, row.name, row.organisation_id, row.created_at, row.subjects, row.payload, row.attempts
    )


def waiting(session: Session) -> int:
    """How many facts are not delivered yet."""
    return session.execute(select(func.count()).select_from(OutboxRow).where(OutboxRow.sent_at.is_(None))).scalar_one()


def forget_sent(session: Session, deed: Deed) -> None:
    """Drop facts that were delivered a week ago."""
    old: Millis = deed.now - KEPT_MS
    session.execute(delete(OutboxRow).where(OutboxRow.sent_at < old))


def jobs(parts: Parts) -> list[Job]:
    """The outbox's own jobs."""

    def measure(session: Session, _deed: Deed) -> None:
        parts.metrics.facts_waiting.set(waiting(session))

    return [Job("outbox.measure", 15_000, measure), Job("outbox.forget_sent", 600_000, forget_sent)]
