"""Deletes facts that everybody has had, one organisation at a time, and what readers that are gone have left."""

from __future__ import annotations

from functools import partial
from typing import Any, Final

from sqlalchemy import Select, delete, select
from sqlalchemy.orm import Session

from shared.clock import Millis
from sync_server.outbox import cursors, retries
from sync_server.outbox.cursors import BROKER, RELAY
from sync_server.outbox.models import CursorRow, OutboxRow, ProcessedMessage, RetryRow
from sync_server.plumbing.due import AT_ONCE
from sync_server.plumbing.jobs import MORE, Job
from sync_server.plumbing.parts import Parts
from sync_server.plumbing.requests.principals import ActionContext

RETENTION_MS: Final = 7 * 24 * 3_600_000
BATCH_SIZE: Final = 2_000


def jobs(parts: Parts) -> list[Job]:
    """The jobs of the outbox."""
    return [
        Job("outbox.forget_sent", 600_000, delete_delivered, _anything_old),
        Job("outbox.forget_processed", 3_600_000, _delete_processed),
        Job("outbox.forget_readers", 3_600_000, partial(_forget_readers, parts)),
    ]


def _anything_old(session: Session, now: Millis) -> Millis | None:
    return AT_ONCE if _organisations(session, now) else None


def delete_delivered(session: Session, context: ActionContext) -> object:
    """Job: delete an organisation's facts that were delivered more than a week ago; MORE while there may be others."""
    progress = cursors.progress(session)
    for organisation_id in _organisations(session, context.now):
        delivered = progress[organisation_id].delivered
        if _delete_piece(session, organisation_id, delivered, context.now - RETENTION_MS, BATCH_SIZE):
            return MORE
    return None


def delete_piece(session: Session, organisation_id: str, before: Millis, limit: int) -> int:
    """Delete an organisation's oldest facts that everybody had before then, `limit` at most; returns how many."""
    progress = cursors.progress(session).get(organisation_id)
    return 0 if progress is None else _delete_piece(session, organisation_id, progress.delivered, before, limit)


def _delete_piece(session: Session, organisation_id: str, delivered: int, before: Millis, limit: int) -> int:
    oldest = _settled(organisation_id).limit(limit).subquery()
    old = oldest.c.relayed_at < before, oldest.c.position <= delivered
    positions = select(oldest.c.position).where(*old)
    here = OutboxRow.organisation_id == organisation_id, OutboxRow.position.in_(positions)
    deleted = delete(OutboxRow).where(*here).returning(OutboxRow.message_id)
    return len(session.execute(deleted.execution_options(synchronize_session=False)).all())


def _organisations(session: Session, now: Millis) -> list[str]:
    """The organisations whose oldest fact is old enough."""
    oldest = _settled(CursorRow.organisation_id).limit(1).subquery()
    first = select(oldest.c.relayed_at).scalar_subquery()
    wanted = select(CursorRow.organisation_id).where(CursorRow.reader == RELAY, first < now - RETENTION_MS)
    return list(session.execute(wanted).scalars())


def _settled(organisation_id: Any) -> Select[int | None, Millis | None]:
    """An organisation's facts with a position, the oldest first, but those that wait for a retry or were given up."""
    row = OutboxRow
    kept = select(RetryRow.message_id).where(
        RetryRow.organisation_id == row.organisation_id, RetryRow.message_id == row.message_id
    )
    here = row.organisation_id == organisation_id, row.position.is_not(None), ~kept.exists()
    return select(row.position, row.relayed_at).where(*here).order_by(row.position)


def _delete_processed(session: Session, context: ActionContext) -> None:
    """Job: delete ids of messages of other services that were processed more than four weeks ago."""
    old = ProcessedMessage.processed_at < context.now - 4 * RETENTION_MS
    session.execute(delete(ProcessedMessage).where(old))


def _forget_readers(parts: Parts, session: Session, context: ActionContext) -> None:
    """Job: drop what subscribers have left that no longer exist; facts would wait for them forever."""
    names = [subscriber.name for subscriber in parts.subscribers]
    readers = names if parts.config.amqp_url is None else [*names, BROKER]
    cursors.forget_others(session, readers, context.now)
    retries.forget_others(session, readers)
