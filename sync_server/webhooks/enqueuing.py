"""Puts facts into the queues of the webhooks that want them, in the transaction of the relay's cursor: once each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from msgspec import structs
from sqlalchemy import case, insert, update
from sqlalchemy.orm import Session

from shared.clock import Millis
from sync_server.outbox.broker.messages import envelope
from sync_server.outbox.fact_schemas import for_outsiders
from sync_server.plumbing.database import database_of
from sync_server.plumbing.jobs import Message, Subscriber
from sync_server.plumbing.messaging.bus import Notification
from sync_server.plumbing.waking import wake
from sync_server.webhooks import queries, rules
from sync_server.webhooks.models import WebhookMessageRow, WebhookRow

SEND: Final = "webhooks.send"
"""What the loop that sends is woken by."""
READER: Final = "webhooks"


def subscriber() -> Subscriber:
    """Queues facts."""

    def handle(session: Session, facts: Sequence[Message]) -> Iterator[Notification]:
        enqueue(session, facts, database_of(session).clock())
        return iter(())

    return Subscriber(READER, lambda _fact: True, handle)


def enqueue(session: Session, facts: Sequence[Message], now: Millis) -> int:
    """Queue facts for all webhooks that want them, paused ones too; returns how many messages these are."""
    wanted = queries.of_organisations(session, {fact.organisation_id for fact in facts})
    rows = [
        message_row(fact, webhook_id, now)
        for fact in facts
        for webhook_id, names in wanted.get(fact.organisation_id, ())
        if rules.wants(names, fact.name)
    ]
    if rows:
        session.execute(insert(WebhookMessageRow), rows)
        for organisation_id in sorted({row["organisation_id"] for row in rows}):
            theirs = {row["webhook_id"] for row in rows if row["organisation_id"] == organisation_id}
            note_due(session, organisation_id, sorted(theirs), now)
    return len(rows)


def message_row(fact: Message, webhook_id: str, now: Millis) -> dict[str, Any]:
    """A message: columns by name; the others have defaults."""
    return {
        "organisation_id": fact.organisation_id,
        "webhook_id": webhook_id,
        "message_id": fact.message_id,
        "fact": fact.name,
        "position": fact.order,
        "stream": fact.stream,
        "body": envelope(structs.replace(fact, payload=for_outsiders(fact.payload))),
        "created_at": now,
        "due_at": now,
    }


def note_due(session: Session, organisation_id: str, webhook_ids: Sequence[str], now: Millis) -> None:
    """Note that something waits, and wake who sends it; a webhook that fails keeps its pause.

    Every row is written, and so locked until the commit: whoever ends a turn waits, and then sees what is new.
    """
    row = WebhookRow
    sooner = row.due_at.is_(None) | ((row.failures == 0) & (row.due_at > now))
    these = row.organisation_id == organisation_id, row.id.in_(webhook_ids)
    session.execute(
        update(row).where(*these).values(due_at=case((sooner, now), else_=row.due_at)),
        execution_options={"synchronize_session": False},
    )
    wake(session, SEND)
