"""Leases due facts to one worker at a time, in order per stream, and records the outcome of delivering them."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from sqlalchemy import CTE, ColumnElement, Row, exists, func, select, text, update
from sqlalchemy.orm import Session

from shared.clock import Millis
from sync_server.outbox.models import OutboxRow
from sync_server.plumbing.database import database_of
from sync_server.plumbing.jobs import Message
from sync_server.plumbing.sql.bulk import among

LEASE_MS = 15_000
"""Longer than anybody waits for the broker. Facts leased by a worker that dies are delivered by nobody until then."""
_LOCK = 7_263_500  # arbitrary, but the same in every process: the advisory lock is this number plus the stage's


@dataclass(frozen=True, slots=True)
class Stage:
    """One stage of delivery: local subscribers first, then the broker."""

    done_column: str  # when a fact has passed the stage
    number: int

    def pending(self, row: type[OutboxRow]) -> ColumnElement[bool]:
        """Whether a fact still has this stage before it."""
        pending = row.handled_at.is_(None) if self is LOCAL else row.handled_at.is_not(None) & row.sent_at.is_(None)
        return pending & row.dead_at.is_(None)


LOCAL = Stage("handled_at", 0)
BROKER = Stage("sent_at", 1)


@dataclass(frozen=True, slots=True)
class Lease:
    """Facts that nobody else delivers until the lease ends."""

    messages: tuple[Message, ...]
    until: Millis
    broker_idle: bool = False  # nothing waited for the broker when these were taken


# Without statistics the planner would scan a week's facts to find these few.
_LOCK_STATEMENT = text(
    "SELECT set_config('synchronous_commit', 'off', true), set_config('enable_seqscan', 'off', true), "
    "pg_advisory_xact_lock(:number)"
)


def lock(session: Session, stage: Stage) -> None:
    """Let one transaction at a time lease facts. Losing it in a power cut means only that facts are delivered twice."""
    if not database_of(session).embedded:
        session.execute(_LOCK_STATEMENT, {"number": _LOCK + stage.number})


def anything_due(session: Session, stage: Stage, now: Millis) -> bool:
    """Whether it is worth asking for a lease."""
    due = select(OutboxRow.id).where(stage.pending(OutboxRow), OutboxRow.due_at <= now)
    return session.execute(due.limit(1)).first() is not None


def _anything_pending(session: Session, stage: Stage) -> bool:
    return session.execute(select(OutboxRow.id).where(stage.pending(OutboxRow)).limit(1)).first() is not None


def take(session: Session, stage: Stage, now: Millis, limit: int) -> Lease:
    """Lease the oldest due facts, unless an earlier one of the same stream waits for a retry or is leased."""
    lock(session, stage)
    # Under the lock no fact can start waiting for the broker between this check and the lease.
    until, broker_idle = now + LEASE_MS, stage is LOCAL and not _anything_pending(session, BROKER)
    blocked = _blocked_streams(stage, now)
    held_back = exists().where(blocked.c.stream == OutboxRow.stream, blocked.c.first < OutboxRow.id)
    wanted = select(OutboxRow.id).where(stage.pending(OutboxRow), OutboxRow.due_at <= now, ~held_back)
    ids = wanted.order_by(OutboxRow.id).limit(limit).with_for_update(skip_locked=True, of=OutboxRow)
    taken = (
        update(OutboxRow)
        .where(OutboxRow.id.in_(ids.scalar_subquery()))
        .values(due_at=until, attempts=OutboxRow.attempts + 1)
        .returning(*FACT_COLUMNS)
        .execution_options(synchronize_session=False)
    )
    rows = sorted(session.execute(taken), key=lambda row: row.id)
    return Lease(tuple(map(message, rows)), until, broker_idle)


def _blocked_streams(stage: Stage, now: Millis) -> CTE:
    """Streams with a fact that waits for a retry or is leased, and the first such fact: few, however long the queue."""
    not_due = select(OutboxRow.stream, func.min(OutboxRow.id).label("first"))
    return (
        not_due.where(stage.pending(OutboxRow), OutboxRow.due_at > now)
        .group_by(OutboxRow.stream)
        .cte("blocked")
        .prefix_with("MATERIALIZED", dialect="postgresql")
    )


FACT_COLUMNS = (
    OutboxRow.id,
    OutboxRow.message_id,
    OutboxRow.name,
    OutboxRow.organisation_id,
    OutboxRow.created_at,
    OutboxRow.subjects,
    OutboxRow.payload,
    OutboxRow.attempts,
    OutboxRow.stream,
)


def message(row: Row[Any]) -> Message:
    """The message of a row with these columns."""
    return Message(
        row.message_id,
        row.name,
        row.organisation_id,
        row.created_at,
        row.subjects,
        row.payload,
        row.attempts,
        row.id,
        row.stream,
    )


def mark(session: Session, ids: Collection[int], **values: object) -> None:
    """Record the outcome of facts, whoever has the lease by now: what is delivered is delivered."""
    if ids:
        change = update(OutboxRow).where(among(session, OutboxRow.id, ids)).values(**values)
        session.execute(change.execution_options(synchronize_session=False))


def put_back(session: Session, stage: Stage, lease: Lease, ids: Collection[int], **values: object) -> None:
    """Record facts that were not delivered, unless the lease has expired: then they are another worker's."""
    if ids:
        ours = stage.pending(OutboxRow), OutboxRow.due_at == lease.until, among(session, OutboxRow.id, ids)
        session.execute(update(OutboxRow).where(*ours).values(**values).execution_options(synchronize_session=False))
