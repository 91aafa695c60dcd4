"""Facts that a reader who was away may not have heard of, in the order of what happened."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from sqlalchemy import ColumnElement, Row, and_, func, or_, select
from sqlalchemy.orm import Session

from sync_server.outbox.leases import FACT_COLUMNS, message
from sync_server.outbox.models import OutboxRow
from sync_server.outbox.rules import stream_of
from sync_server.plumbing.work import Message

MOST: Final = 500
"""More news than this is no news: whoever was away so long looks anew."""
FARTHEST: Final = 20_000
"""Numbers that are gone through at most."""
LATE: Final = 1_000
"""Numbers that may have been given before the last one heard, and committed after it."""
TOLERANCE_MS: Final = 2_000
"""Two workers' clocks may differ by so much."""


def newest(session: Session) -> int:
    """The number of the newest fact of all."""
    return session.execute(select(func.max(OutboxRow.id))).scalar_one() or 0


def since(
    session: Session, organisation_id: str, heard: int, *, event_number: int | None = None
) -> Sequence[Message] | None:
    """Facts of an organisation, or of one event of it, after the one that was `heard` last, each at least once.

    None where nobody can tell any more: the fact is forgotten or was never told, or too many came after it.
    """
    last = session.execute(select(OutboxRow.id, OutboxRow.created_at).where(OutboxRow.id == heard)).first()
    if (last is None and heard) or newest(session) - heard > FARTHEST:
        return None
    wanted = select(*FACT_COLUMNS).where(OutboxRow.organisation_id == organisation_id, _unheard(heard, last))
    if event_number is not None:
        wanted = wanted.where(OutboxRow.stream == stream_of({"event_number": event_number}, organisation_id))
    rows = session.execute(wanted.order_by(OutboxRow.id).limit(MOST + 1)).all()
    return None if len(rows) > MOST else [message(row) for row in rows]


def _unheard(heard: int, last: Row[int, int] | None) -> ColumnElement[bool]:
    """Numbers rise before their commits: one below the last heard may have become visible after it."""
    if last is None:
        return OutboxRow.id > heard
    late = or_(OutboxRow.told_at.is_(None), OutboxRow.told_at >= last.created_at - TOLERANCE_MS)
    return or_(OutboxRow.id > heard, and_(late, OutboxRow.id > heard - LATE, OutboxRow.id < heard))
