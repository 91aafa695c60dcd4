"""Creates and changes ticket types, and counts the tickets issued of each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from sqlalchemy import ColumnElement, update
from sqlalchemy.orm import Session

from shared.errors import Conflict
from shared.lifecycle import EventStatus
from shared.snapshot import TicketTypeRow
from shared.tickets import Entitlement
from sync_server.accounts import queries as accounts
from sync_server.audit.service import AuditLine, record
from sync_server.events import queries as events
from sync_server.events.permissions import Part
from sync_server.events.rules import effective_capacity
from sync_server.plumbing.event_key import EventKey
from sync_server.plumbing.principals import ActionContext
from sync_server.plumbing.sql import writes
from sync_server.revisions import service as revisions
from sync_server.tickets import queries, rules
from sync_server.tickets.models import TicketTypeRecord

_NAME_TAKEN: Final = ("The event already has a ticket type with that name.", "name_taken")


def create_type(
    session: Session, organisation_id: str, event_id: str, fields: Mapping[str, Any], context: ActionContext
) -> TicketTypeRecord:
    """A new ticket type of an event."""
    event = events.event(session, organisation_id, event_id, lock=True)
    context.require(Part.SALE.action(EventStatus(event.status)))
    details = events.details(session, organisation_id, event_id)
    rules.require_issuing(details.status)
    given = dict(fields)
    given["valid_days"] = rules.days_bitmap(given["valid_days"], details.days)
    given["currency"] = given["currency"] or accounts.organisation(session, organisation_id).currency
    number = max((row.number for row in queries.ticket_types(session, organisation_id, event_id)), default=0) + 1
    row = TicketTypeRecord(
        **_to_columns(given),
        event_id=event_id,
        number=number,
        organisation_id=organisation_id,
        created_at=context.now,
        updated_at=context.now,
    )
    _check(session, row, details)
    session.add(row)
    writes.flush_or_conflict(session, *_NAME_TAKEN)
    _check_capacity(session, event)
    after = {"name": row.name, "price_cents": row.price_cents}
    _record(session, row, "ticket_type.created", context, before=None, after=after)
    return row


def change_type(
    session: Session,
    organisation_id: str,
    event_id: str,
    number: int,
    *,
    changes: Mapping[str, Any],
    context: ActionContext,
) -> TicketTypeRecord:
    """Change a ticket type; tickets already issued keep what they were issued with."""
    event = events.event(session, organisation_id, event_id, lock=True)
    context.require(Part.SALE.action(EventStatus(event.status)))
    details = events.details(session, organisation_id, event_id)
    row = queries.ticket_type(session, organisation_id, event_id, number)
    given = dict(changes)
    if "valid_days" in given:
        given["valid_days"] = rules.days_bitmap(given["valid_days"], details.days)
    before = writes.change(row, _to_columns(given))
    row.updated_at = context.now
    _check(session, row, details)
    writes.flush_or_conflict(session, *_NAME_TAKEN)
    _check_capacity(session, event)
    _record(session, row, "ticket_type.changed", context, before=before, after=dict(changes))
    return row


def reserve_quantity(session: Session, row: TicketTypeRecord, count: int) -> None:
    """Count issued tickets of a type in one conditional update; Conflict if there are not enough left."""
    row_key = _key(row.organisation_id, row.event_id, row.number)
    enough_left = TicketTypeRecord.issued + count <= TicketTypeRecord.quantity
    statement = update(TicketTypeRecord).where(*row_key, enough_left).values(issued=TicketTypeRecord.issued + count)
    updated = session.execute(statement.returning(TicketTypeRecord.issued).execution_options(synchronize_session=False))
    if updated.first() is None:
        raise Conflict(f"There are fewer than {count} tickets left of “{row.name}”.", code="insufficient_inventory")


def release_quantity(session: Session, organisation_id: str, event_id: str, number: int) -> None:
    """Take one cancelled ticket off the count."""
    row_key = _key(organisation_id, event_id, number)
    statement = update(TicketTypeRecord).where(*row_key).values(issued=TicketTypeRecord.issued - 1)
    session.execute(statement.execution_options(synchronize_session=False))


def _key(organisation_id: str, event_id: str, number: int) -> tuple[ColumnElement[bool], ...]:
    row = TicketTypeRecord
    return row.organisation_id == organisation_id, row.event_id == event_id, row.number == number


def _to_columns(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a request as column values."""
    values = dict(fields)
    if "entitlement" in values:
        values["entitlement"] = rules.ENTITLEMENTS[values["entitlement"]]
    if "flags" in values:
        values["flags"] = int(rules.flags_of(values["flags"]))
    for name, column in (("not_before_at", "not_before"), ("not_after_at", "not_after")):
        if name in values:
            millis = values.pop(name)
            values[column] = 0 if millis is None else millis // 1000
    return values


def _check(session: Session, row: TicketTypeRecord, details: events.EventDetails) -> None:
    if row.zone:
        events.zone(session, details.organisation_id, details.id, row.zone)
    row.entry_limit = rules.check_limit(Entitlement(row.entitlement), row.entry_limit)
    rules.check_window("not_after_at", row.not_before, row.not_after)
    rules.check_window("sale_end_at", row.sale_start_at, row.sale_end_at)
    if (row.issued or 0) > row.quantity:
        raise Conflict(f"{row.issued} tickets of this type have already been issued.", code="quantity_below_issued")


def _check_capacity(session: Session, event: events.Event) -> None:
    limit = effective_capacity(event.capacity, event.venue_capacity)
    planned = queries.planned_quantity(session, event.organisation_id, event.id)
    if limit and planned > limit:
        raise Conflict(
            f"All ticket types together have {planned} tickets, but the capacity of the event is {limit}.",
            code="capacity_exceeded",
        )


def _record(
    session: Session,
    row: TicketTypeRecord,
    action: str,
    context: ActionContext,
    *,
    before: dict[str, Any] | None,
    after: dict[str, Any],
) -> None:
    subject = f"{row.event_id}/{row.number}"
    record(session, AuditLine(context, action, "ticket_type", subject, row.organisation_id, before, after))
    revisions.put(
        session, EventKey(row.organisation_id, row.event_id), [TicketTypeRow(row.number, row.name, row.check_words)]
    )
