"""Copies the ticket types of a copied event, without any tickets."""

from __future__ import annotations

from typing import Final

from sqlalchemy.orm import Session

from shared.clock import Millis
from sync_server.audit.service import AuditLine, record
from sync_server.events.signals import EventCopied
from sync_server.plumbing.event_key import EventKey
from sync_server.revisions import service as revisions
from sync_server.tickets import queries
from sync_server.tickets.models import TicketTypeRecord
from sync_server.tickets.types.badge_layouts import type_row
from sync_server.tickets.types.moved_times import moved_sale, moved_validity

_NOT_COPIED: Final = frozenset({"event_id", "issued", "reserved", "created_at", "updated_at"})
_COPIED: Final = tuple(
    column.key for column in TicketTypeRecord.__mapper__.column_attrs if column.key not in _NOT_COPIED
)


def copy_types(session: Session, copied: EventCopied) -> None:
    """Copy the ticket types under the same numbers, with their times shifted like the event's."""
    now = copied.context.now
    ticket_types = [
        _copy(source, copied, now) for source in queries.ticket_types(session, copied.organisation_id, copied.source_id)
    ]
    session.add_all(ticket_types)
    session.flush()
    rows = [type_row(row) for row in ticket_types]
    revisions.put(session, EventKey(copied.organisation_id, copied.copy_id), rows)
    for row in ticket_types:
        subject, after = f"{row.event_id}/{row.number}", {"name": row.name, "price_cents": row.price_cents}
        where = copied.organisation_id
        line = AuditLine(copied.context, "ticket_type.created", "ticket_type", subject, where, after=after)
        record(session, line)


def _copy(source: TicketTypeRecord, copied: EventCopied, now: Millis) -> TicketTypeRecord:
    fields = {name: getattr(source, name) for name in _COPIED}
    fields |= {**moved_validity(source, copied.shift), **moved_sale(source, copied.shift)}
    return TicketTypeRecord(**fields, event_id=copied.copy_id, issued=0, reserved=0, created_at=now, updated_at=now)
