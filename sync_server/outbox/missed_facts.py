"""Facts that a reader may have missed while disconnected, in order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from sqlalchemy import ColumnElement, Row, and_, func, or_, select
from sqlalchemy.orm import Session

from sync_server.outbox.leases import FACT_COLUMNS, message
from sync_server.outbox.models import OutboxRow
from sync_server.outbox.rules import stream_of
from sync_server.plumbing.jobs import Message

MAX_FACTS: Final = 500
"""A reader that missed more than this reads everything again instead."""
MAX_DISTANCE: Final = 20_000
"""How many order numbers are searched at most."""
LATE_COMMITS: Final = 1_000
"""How far below the last number received a fact may be that was committed after it."""
CLOCK_TOLERANCE_MS: Final = 2_000
"""How much two workers' clocks may differ."""


def newest(session: Session) -> int:
    """The order number of the newest fact; 0 where there is none."""
    return session.execute(select(func.max(OutboxRow.id))).scalar_one() or 0


def since(
    session: Session, organisation_id: str, last_seen: int, *, event_number: int | None = None
) -> Sequence[Message] | None:
    """Facts of an organisation, or of one event of it, after the one numbered `last_seen`, each at least once.

    None where that cannot be told: the fact was deleted or never existed, or too many came after it.
    """
    last = session.execute(select(OutboxRow.id, OutboxRow.created_at).where(OutboxRow.id == last_seen)).first()
    if (last is None and last_seen) or newest(session) - last_seen > MAX_DISTANCE:
        return None
    wanted = select(*FACT_COLUMNS).where(OutboxRow.organisation_id == organisation_id, _unseen(last_seen, last))
    if event_number is not None:
        wanted = wanted.where(OutboxRow.stream == stream_of({"event_number": event_number}, organisation_id))
    rows = session.execute(wanted.order_by(OutboxRow.id).limit(MAX_FACTS + 1)).all()
    return None if len(rows) > MAX_FACTS else [message(row) for row in rows]


def _unseen(last_seen: int, last: Row[int, int] | None) -> ColumnElement[bool]:
    """Numbers are given before the commit: a lower one may have become visible after `last_seen`."""
    if last is None:
        return OutboxRow.id > last_seen
    late = or_(OutboxRow.handled_at.is_(None), OutboxRow.handled_at >= last.created_at - CLOCK_TOLERANCE_MS)
    return or_(OutboxRow.id > last_seen, and_(late, OutboxRow.id > last_seen - LATE_COMMITS, OutboxRow.id < last_seen))
