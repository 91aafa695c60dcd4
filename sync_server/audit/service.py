"""Writes audit lines, in the transaction of the change they tell of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlalchemy.orm import Session

from shared.clock import Millis
from shared.ids import uuid7
from sync_server.audit.models import AuditRow
from sync_server.plumbing.database import of
from sync_server.plumbing.principals import Actor


@dataclass(frozen=True, slots=True)
class AuditLine:
    """Who did what to what, when and why; `before` and `after` hold only what changed, and never secrets."""

    actor: Actor
    action: str  # event.published, ticket.blocked
    subject_kind: str
    subject_id: str
    organisation_id: str | None
    at: Millis
    before: dict[str, Any] | None = None
    after: dict[str, Any] | None = None
    reason: str = ""


def record(session: Session, line: AuditLine) -> None:
    """Add a line; it stands or falls with the transaction."""
    session.add(
        AuditRow(
            id=uuid7(line.at, of(session).entropy),
            organisation_id=line.organisation_id,
            at=line.at,
            actor_kind=line.actor.kind,
            actor_id=line.actor.id,
            action=line.action,
            subject_kind=line.subject_kind,
            subject_id=line.subject_id,
            before=line.before,
            after=line.after,
            reason=line.reason,
            approval=line.actor.approval,
            ip=line.actor.ip,
            user_agent=line.actor.user_agent,
            request_id=line.actor.request_id,
        )
    )
