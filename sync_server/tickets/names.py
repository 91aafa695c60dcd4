"""Erases what tickets say of their holders, names and notes; everything else of a ticket stays."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import replace

from sqlalchemy import or_, select
from sqlalchemy.orm import Session

from shared.wire.snapshot import Row, RowKind, TicketRow, pack, unpack
from sync_server.events import queries as events
from sync_server.plumbing.event_key import EventKey
from sync_server.plumbing.requests.principals import ActionContext
from sync_server.plumbing.sql.bulk import among
from sync_server.revisions import service as revisions
from sync_server.tickets import queries
from sync_server.tickets.models import TicketRecord


def erase(session: Session, organisation_id: str, ticket_ids: Collection[int], context: ActionContext) -> int:
    """Empty the names and notes of these tickets; gates get the change as any other. Returns how many had any.

    Earlier rows of gates still have them: call `erase_history` in a transaction afterwards.
    """
    named = or_(TicketRecord.holder_name != "", TicketRecord.notes != "")
    here = TicketRecord.organisation_id == organisation_id, among(session, TicketRecord.id, ticket_ids), named
    rows = (
        session.execute(select(TicketRecord).where(*here).order_by(TicketRecord.id).with_for_update()).scalars().all()
    )
    for row in rows:
        row.holder_name, row.notes, row.updated_at = "", "", context.now
    session.flush()
    for event_id, tickets in _by_event(rows).items():
        event = events.event(session, organisation_id, event_id)
        revisions.put(session, event.key, [queries.ticket_row(row, name_checks=event.name_checks) for row in tickets])
    return len(rows)


def with_names(session: Session, organisation_id: str, event_ids: Collection[str], limit: int) -> list[int]:
    """Tickets of these events that still have a name or a note, `limit` at most."""
    named = or_(TicketRecord.holder_name != "", TicketRecord.notes != "")
    here = TicketRecord.organisation_id == organisation_id, TicketRecord.event_id.in_(event_ids), named
    return list(session.scalars(select(TicketRecord.id).where(*here).order_by(TicketRecord.id).limit(limit)))


def erase_history(session: Session, organisation_id: str, ticket_ids: Collection[int]) -> int:
    """Empty names and notes in the rows that gates held earlier; returns how many rows had any."""
    where = TicketRecord.organisation_id == organisation_id, among(session, TicketRecord.id, ticket_ids)
    by_event = _by_event(session.execute(select(TicketRecord).where(*where)).scalars())
    return sum(
        revisions.rewrite_history(
            session, EventKey(organisation_id, event_id), RowKind.TICKET, [row.id for row in tickets], nameless
        )
        for event_id, tickets in sorted(by_event.items())
    )


def nameless(row: Row) -> Row:
    """The row of a ticket as gates hold it, without name and note; any other as it is."""
    ticket = unpack(row)
    return pack(replace(ticket, name="", notes="")) if isinstance(ticket, TicketRow) else row


def _by_event(rows: Iterable[TicketRecord]) -> dict[str, list[TicketRecord]]:
    found: dict[str, list[TicketRecord]] = defaultdict(list)
    for row in rows:
        found[row.event_id].append(row)
    return found
