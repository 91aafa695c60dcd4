"""Facts that a reader may have missed while disconnected, in order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from sqlalchemy import select
from sqlalchemy.orm import Session

from sync_server.outbox import cursors
from sync_server.outbox.cursors import FACT_COLUMNS, RELAY, message
from sync_server.outbox.models import OutboxRow
from sync_server.outbox.rules import stream_of
from sync_server.plumbing.jobs import Message

MAX_FACTS: Final = 500
"""A reader that missed more than this reads everything again instead."""
MAX_DISTANCE: Final = 20_000
"""How many positions are searched at most."""


def newest(session: Session, organisation_id: str) -> int:
    """The position of an organisation's newest fact that has one; 0 where there is none."""
    return cursors.position(session, organisation_id, RELAY)


def since(
    session: Session, organisation_id: str, last_seen: int, *, event_number: int | None = None
) -> Sequence[Message] | None:
    """Facts of an organisation, or of one event of it, after the position `last_seen`.

    None where that cannot be told: the fact was deleted or never existed, or too many came after it.
    """
    row, here = OutboxRow, OutboxRow.organisation_id == organisation_id
    known = not last_seen or session.execute(select(row.position).where(here, row.position == last_seen)).first()
    if not known or newest(session, organisation_id) - last_seen > MAX_DISTANCE:
        return None
    wanted = select(*FACT_COLUMNS).where(here, row.position > last_seen)
    if event_number is not None:
        wanted = wanted.where(row.stream == stream_of({"event_number": event_number}, organisation_id))
    rows = session.execute(wanted.order_by(row.position).limit(MAX_FACTS + 1)).all()
    return None if len(rows) > MAX_FACTS else [message(each) for each in rows]
