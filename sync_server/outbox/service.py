"""Writes facts, in the transaction of the change they tell of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy.orm import Session

from shared.clock import Millis
from shared.ids import uuid7
from sync_server.outbox.models import OutboxRow
from sync_server.plumbing.database import after_commit, of


@dataclass(frozen=True, slots=True)
class Fact:
    """Something that happened, named in the past tense; subjects are ids: {"event": …, "ticket": …}."""

    name: str  # event_published, ticket_revoked
    organisation_id: str
    at: Millis
    subjects: Mapping[str, Any] = field(default_factory=dict)
    payload: Mapping[str, Any] = field(default_factory=dict)


def record(session: Session, fact: Fact) -> None:
    """Add a fact; it is delivered at least once, after the commit and never without it."""
    session.add(
        OutboxRow(
            message_id=uuid7(fact.at, of(session).entropy),
            name=fact.name,
            organisation_id=fact.organisation_id,
            subjects=dict(fact.subjects),
            payload=dict(fact.payload),
            created_at=fact.at,
            due_at=fact.at,
        )
    )
    after_commit(session, of(session).stirred.set)
