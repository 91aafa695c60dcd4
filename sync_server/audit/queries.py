"""Reads of the audit log: an organisation's own lines, newest first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from sync_server.audit.models import AuditRow
from sync_server.plumbing.pages import Page, cut, position


@dataclass(frozen=True, slots=True)
class AuditFilter:
    """Which lines to list."""

    subject_kind: str | None = None
    subject_id: str | None = None
    actor_id: str | None = None
    action: str | None = None


def lines(
    session: Session, organisation_id: str, chosen: AuditFilter, *, limit: int, after: str | None
) -> Page[AuditRow]:
    """The organisation's lines, newest first."""
    start = position(after, str)
    wanted = select(AuditRow).where(AuditRow.organisation_id == organisation_id, *_conditions(chosen))
    if start is not None:
        wanted = wanted.where(AuditRow.id < start[0])
    rows: Sequence[AuditRow] = session.execute(wanted.order_by(AuditRow.id.desc()).limit(limit + 1)).scalars().all()
    return cut(rows, limit, lambda row: (row.id,))


def _conditions(chosen: AuditFilter) -> list[Any]:
    wanted = (
        (AuditRow.subject_kind, chosen.subject_kind),
        (AuditRow.subject_id, chosen.subject_id),
        (AuditRow.actor_id, chosen.actor_id),
        (AuditRow.action, chosen.action),
    )
    return [column == value for column, value in wanted if value is not None]
