"""What the rows of a put-away event say of people: kept in the database while the rest is in a sealed file.

So an erasure is complete when it has removed it here, and no file has to be written anew.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping, Sequence
from typing import Any, cast

from sqlalchemy import Table, delete, select
from sqlalchemy.orm import Session

from shared.clock import Millis
from sync_server.archives.event_rows import EventTable
from sync_server.archives.models import PutAwayPersonRow
from sync_server.archives.registry import PACKED
from sync_server.plumbing.event_key import EventKey
from sync_server.plumbing.sql import writes
from sync_server.plumbing.sql.tables import Base

_TABLE = cast(Table, PutAwayPersonRow.__table__)


def digest(line: bytes) -> bytes:
    """What names a line of a file."""
    return hashlib.blake2b(line, digest_size=16).digest()


def keep(session: Session, event: EventKey, each: EventTable, rows: Sequence[Sequence[Any]]) -> None:
    """Keep what these rows, which are about to go, say of people."""
    kept = [_kept(event, each, row, content) for row in rows if (content := each.personal(row))]
    if kept:
        session.execute(writes.insert(session, _TABLE).on_conflict_do_nothing(), kept)


def _kept(event: EventKey, each: EventTable, row: Sequence[Any], content: Mapping[str, Any]) -> dict[str, Any]:
    values = dict(zip(each.columns, row, strict=True))
    line = digest(each.line(each.shown(row)) + b"\n")
    ticket = values["key"] if each.name in PACKED else values.get("ticket_id")
    return event._asdict() | {
        "part": each.name,
        "line": line,
        "content": dict(content),
        "ticket": values["id"] if each.name == "tickets" else ticket,
        "membership_id": values.get("membership_id") or "",
        "email": (content.get("email") or content.get("recipient_email") or ""),
    }


def kept_of(session: Session, event: EventKey, part: str, lines: Collection[bytes]) -> dict[bytes, dict[str, Any]]:
    """What is kept of these lines of a part, by their hashes."""
    row, named = PutAwayPersonRow, [digest(line) for line in lines]
    here = row.organisation_id == event.organisation_id, row.event_id == event.event_id, row.part == part
    found = session.execute(select(row.line, row.content).where(*here, row.line.in_(named)))
    return {bytes(line): content for line, content in found}


def forget(session: Session, event: EventKey) -> int:
    """Forget all that is kept of an event: it is in the tables again, or its file is gone."""
    row = PutAwayPersonRow
    here = row.organisation_id == event.organisation_id, row.event_id == event.event_id
    return len(session.execute(delete(row).where(*here).returning(row.line)).all())


def forget_piece(session: Session, organisation_id: str, before: Millis, limit: int) -> int:
    """Forget some of what is kept of events that ended before then; how many."""
    row, events = PutAwayPersonRow, Base.metadata.tables["events"]
    over = select(events.c.id).where(events.c.organisation_id == organisation_id, events.c.end_at < before)
    mine = row.organisation_id == organisation_id, row.event_id.in_(over)
    key = row.event_id, row.part, row.line
    found = session.execute(select(*key).where(*mine).limit(limit)).all()
    for event_id, part, line in found:
        here = row.organisation_id == organisation_id, row.event_id == event_id, row.part == part, row.line == line
        session.execute(delete(row).where(*here))
    return len(found)
