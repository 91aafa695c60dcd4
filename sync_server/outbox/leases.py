"""Takes due facts for a while, in order per stream, and writes down what became of them."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from sqlalchemy import CTE, ColumnElement, Row, exists, func, select, text, update
from sqlalchemy.orm import Session

from shared.clock import Millis
from sync_server.outbox.models import OutboxRow
from sync_server.plumbing.database import of
from sync_server.plumbing.many import among
from sync_server.plumbing.work import Message

LEASE_MS = 15_000
"""Longer than the broker is waited for; so long the facts of a worker that has died are told by nobody."""
_LOCK = 7_263_500  # any numbers from here on, as long as all processes of this product take the same


@dataclass(frozen=True, slots=True)
class Stage:
    """One way that facts go: the house comes first, the broker after it."""

    done: str  # the column that says when it was gone
    number: int

    def waits(self, row: type[OutboxRow]) -> ColumnElement[bool]:
        """Whether a fact still has this way before it."""
        told = row.told_at.is_(None) if self is HOUSE else row.told_at.is_not(None) & row.sent_at.is_(None)
        return told & row.dead_at.is_(None)


HOUSE = Stage("told_at", 0)
BROKER = Stage("sent_at", 1)


@dataclass(frozen=True, slots=True)
class Lease:
    """Facts that nobody else delivers until then."""

    messages: tuple[Message, ...]
    until: Millis
    way_is_clear: bool = False  # nothing waited for the broker when these were taken


# Fresh tables mislead the planner: it would read a whole week's facts to find these few.
_HOLD = text(
    "SELECT set_config('synchronous_commit', 'off', true), set_config('enable_seqscan', 'off', true), "
    "pg_advisory_xact_lock(:number)"
)


def lock(session: Session, stage: Stage) -> None:
    """One at a time decides who delivers what; what is lost of it with the power is only done twice."""
    if not of(session).embedded:
        session.execute(_HOLD, {"number": _LOCK + stage.number})


def anything_due(session: Session, stage: Stage, now: Millis) -> bool:
    """Whether it is worth asking for a lease."""
    due = select(OutboxRow.id).where(stage.waits(OutboxRow), OutboxRow.due_at <= now)
    return session.execute(due.limit(1)).first() is not None


def _anything_waits(session: Session, stage: Stage) -> bool:
    return session.execute(select(OutboxRow.id).where(stage.waits(OutboxRow)).limit(1)).first() is not None


def take(session: Session, stage: Stage, now: Millis, limit: int) -> Lease:
    """The oldest due facts of which no earlier one of the same stream is resting or on its way elsewhere."""
    lock(session, stage)
    # Under the lock nobody lets a fact wait for the broker between this look and the taking.
    until, clear = now + LEASE_MS, stage is HOUSE and not _anything_waits(session, BROKER)
    holding = _holding(stage, now)
    held_back = exists().where(holding.c.stream == OutboxRow.stream, holding.c.first < OutboxRow.id)
    wanted = select(OutboxRow.id).where(stage.waits(OutboxRow), OutboxRow.due_at <= now, ~held_back)
    ids = wanted.order_by(OutboxRow.id).limit(limit).with_for_update(skip_locked=True, of=OutboxRow)
    taken = (
        update(OutboxRow)
        .where(OutboxRow.id.in_(ids.scalar_subquery()))
        .values(due_at=until, attempts=OutboxRow.attempts + 1)
        .returning(*FACT_COLUMNS)
        .execution_options(synchronize_session=False)
    )
    rows = sorted(session.execute(taken), key=lambda row: row.id)
    return Lease(tuple(map(message, rows)), until, clear)


def _holding(stage: Stage, now: Millis) -> CTE:
    """Streams with a fact that rests or is on its way, and the first such; few, however long the queue behind them."""
    resting = select(OutboxRow.stream, func.min(OutboxRow.id).label("first"))
    return (
        resting.where(stage.waits(OutboxRow), OutboxRow.due_at > now)
        .group_by(OutboxRow.stream)
        .cte("holding")
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
    """A row of those columns, as it travels."""
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
    """Write down what became of facts, whoever has the lease by now: what is delivered is delivered."""
    if ids:
        change = update(OutboxRow).where(among(session, OutboxRow.id, ids)).values(**values)
        session.execute(change.execution_options(synchronize_session=False))


def put_back(session: Session, stage: Stage, lease: Lease, ids: Collection[int], **values: object) -> None:
    """The same for facts that were not delivered, while the lease is still ours: else they are somebody else's."""
    if ids:
        ours = stage.waits(OutboxRow), OutboxRow.due_at == lease.until, among(session, OutboxRow.id, ids)
        session.execute(update(OutboxRow).where(*ours).values(**values).execution_options(synchronize_session=False))
