"""Which badge gates print for tickets of a type: chosen by the organiser, and sent to gates with the type."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from sqlalchemy import select
from sqlalchemy.orm import Session

from shared.badges.layout import read_layout
from shared.errors import InvalidRequest
from shared.lifecycle import EventStatus
from shared.wire.snapshot import TicketTypeRow
from sync_server.audit.service import AuditLine, record
from sync_server.events import queries as events
from sync_server.events.permissions import Part
from sync_server.plumbing.event_key import EventKey
from sync_server.plumbing.requests.principals import ActionContext
from sync_server.revisions import service as revisions
from sync_server.tickets.models import TicketTypeRecord


def type_row(row: TicketTypeRecord) -> TicketTypeRow:
    """A ticket type as gates have it."""
    return TicketTypeRow(row.number, row.name, row.check_words, row.badge_layout)


def layouts(session: Session, event: EventKey) -> Mapping[int, str]:
    """The layout of each ticket type, by its number; those without one are empty."""
    row = TicketTypeRecord
    found = select(row.number, row.badge_layout).where(
        row.organisation_id == event.organisation_id, row.event_id == event.event_id
    )
    return dict(iter(session.execute(found)))


def choose(session: Session, event: EventKey, numbers: Collection[int], layout: str, context: ActionContext) -> None:
    """From now on gates print this layout for tickets of these types; an empty one prints none."""
    if layout:
        read_layout(layout)
    if not numbers:
        raise InvalidRequest("Choose at least one ticket type.", field="types")
    found = events.event(session, *event, lock=True)
    context.require(Part.ADMISSION.action(EventStatus(found.status)))
    row = TicketTypeRecord
    chosen = select(row).where(
        row.organisation_id == event.organisation_id, row.event_id == event.event_id, row.number.in_(numbers)
    )
    changed = [each for each in session.execute(chosen).scalars() if each.badge_layout != layout]
    for each in changed:
        each.badge_layout, each.updated_at = layout, context.now
        subject = f"{each.event_id}/{each.number}"
        title = read_layout(layout).title if layout else ""
        line = AuditLine(
            context, "ticket_type.changed", "ticket_type", subject, each.organisation_id, None, {"badge": title}
        )
        record(session, line)
    if changed:
        revisions.put(session, event, [type_row(each) for each in changed])
