"""Lets ticket types come along when an event is copied; nothing that was issued does."""

from __future__ import annotations

from typing import Final

from sqlalchemy.orm import Session

from shared.clock import Millis
from shared.snapshot import TicketTypeRow
from sync_server.audit.service import AuditLine, record
from sync_server.events.copying import Copied
from sync_server.revisions import service as revisions
from sync_server.tickets import queries
from sync_server.tickets.models import TicketTypeRecord

_NOT_COPIED: Final = frozenset({"event_id", "issued", "created_at", "updated_at"})
_COPIED: Final = tuple(
    column.key for column in TicketTypeRecord.__mapper__.column_attrs if column.key not in _NOT_COPIED
)


def copy_types(session: Session, copied: Copied, now: Millis) -> None:
    """The types of the source under the same numbers, their times as much later as the event is."""
    kinds = [_copy(kind, copied, now) for kind in queries.ticket_types(session, copied.source_id)]
    session.add_all(kinds)
    session.flush()
    revisions.put(session, copied.copy_number, [TicketTypeRow(row.number, row.name, row.check_words) for row in kinds])
    for row in kinds:
        subject, after = f"{row.event_id}/{row.number}", {"name": row.name, "price_cents": row.price_cents}
        where = copied.organisation_id
        line = AuditLine(copied.deed.actor, "ticket_type.created", "ticket_type", subject, where, now, None, after)
        record(session, line)


def _copy(kind: TicketTypeRecord, copied: Copied, now: Millis) -> TicketTypeRecord:
    words = {name: getattr(kind, name) for name in _COPIED}
    for name in ("not_before", "not_after"):
        words[name] = words[name] + copied.distance // 1000 if words[name] else 0
    for name in ("sale_start_at", "sale_end_at"):
        words[name] = words[name] + copied.distance if words[name] is not None else None
    return TicketTypeRecord(**words, event_id=copied.copy_id, issued=0, created_at=now, updated_at=now)
