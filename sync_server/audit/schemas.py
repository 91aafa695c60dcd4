"""Shapes of questions to and answers from the audit log."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, Field

from sync_server.audit.models import AuditRow
from sync_server.plumbing.shapes import Query, iso

Word = Annotated[str, Field(min_length=1, max_length=80)]


class AuditQuery(Query):
    """Which lines to list."""

    limit: Annotated[int, Field(ge=1, le=500)] = 50
    after: Annotated[str, Field(max_length=400)] | None = None
    subject_kind: Word | None = None
    subject_id: Word | None = None
    actor_id: Word | None = None
    action: Word | None = None


class AuditLineView(BaseModel):
    """Who did what to what, when, from where and why."""

    id: str
    at: str
    actor_kind: str
    actor_id: str
    action: str
    subject_kind: str
    subject_id: str
    before: dict[str, Any] | None
    after: dict[str, Any] | None
    reason: str
    approval: str
    ip: str
    user_agent: str
    request_id: str

    @classmethod
    def of(cls, row: AuditRow) -> AuditLineView:
        """As admins see it."""
        plain = {name: getattr(row, name) for name in cls.model_fields}
        return cls(**plain | {"at": iso(row.at)})


class AuditLinesView(BaseModel):
    """A page of the audit log."""

    items: list[AuditLineView]
    next: str | None
