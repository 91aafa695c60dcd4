"""Makes and changes ticket types."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from shared.errors import Conflict
from shared.snapshot import TicketTypeRow
from shared.tickets import Entitlement
from sync_server.accounts import queries as accounts
from sync_server.audit.service import AuditLine, record
from sync_server.events import queries as events
from sync_server.events.rules import bound
from sync_server.plumbing.principals import Deed
from sync_server.revisions import service as revisions
from sync_server.tickets import queries, rules
from sync_server.tickets.models import TicketTypeRecord


def create_type(
    session: Session, organisation_id: str, event_id: str, words: Mapping[str, Any], deed: Deed
) -> TicketTypeRecord:
    """A new ticket type of an event."""
    event = events.event(session, organisation_id, event_id, lock=True)
    facts = events.facts(session, organisation_id, event_id)
    rules.require_issuing(facts.status)
    given = dict(words)
    given["valid_days"] = rules.days_bitmap(given["valid_days"], facts.days)
    given["currency"] = given["currency"] or accounts.organisation(session, organisation_id).currency
    number = max((row.number for row in queries.ticket_types(session, event_id)), default=0) + 1
    row = TicketTypeRecord(
        **_as_kept(given),
        event_id=event_id,
        number=number,
        organisation_id=organisation_id,
        created_at=deed.now,
        updated_at=deed.now,
    )
    _check(session, row, facts)
    session.add(row)
    _flush_or_say(session)
    _require_capacity(session, bound(event.capacity, event.venue_capacity), event_id)
    after = {"name": row.name, "price_cents": row.price_cents}
    _tell(session, facts.number, row, "ticket_type.created", deed, before=None, after=after)
    return row


def change_type(
    session: Session, organisation_id: str, event_id: str, number: int, *, changes: Mapping[str, Any], deed: Deed
) -> TicketTypeRecord:
    """Other words, price or bounds; tickets that are issued already keep what they were issued with."""
    event = events.event(session, organisation_id, event_id, lock=True)
    facts = events.facts(session, organisation_id, event_id)
    row = queries.ticket_type(session, event_id, number)
    given = dict(changes)
    if "valid_days" in given:
        given["valid_days"] = rules.days_bitmap(given["valid_days"], facts.days)
    before = {}
    for name, value in _as_kept(given).items():
        before[name] = getattr(row, name)
        setattr(row, name, value)
    row.updated_at = deed.now
    _check(session, row, facts)
    _flush_or_say(session)
    _require_capacity(session, bound(event.capacity, event.venue_capacity), event_id)
    _tell(session, facts.number, row, "ticket_type.changed", deed, before=before, after=dict(changes))
    return row


def take(session: Session, row: TicketTypeRecord, count: int) -> None:
    """Count tickets of this type; Conflict where there are not that many left. One conditional statement."""
    here = TicketTypeRecord.event_id == row.event_id, TicketTypeRecord.number == row.number
    left = TicketTypeRecord.issued + count <= TicketTypeRecord.quantity
    taken = update(TicketTypeRecord).where(*here, left).values(issued=TicketTypeRecord.issued + count)
    found = session.execute(taken.returning(TicketTypeRecord.issued).execution_options(synchronize_session=False))
    if found.first() is None:
        raise Conflict(f"There are not {count} tickets left of “{row.name}”.", code="insufficient_inventory")


def give_back(session: Session, event_id: str, number: int) -> None:
    """One ticket of this type counts no longer."""
    here = TicketTypeRecord.event_id == event_id, TicketTypeRecord.number == number
    returned = update(TicketTypeRecord).where(*here).values(issued=TicketTypeRecord.issued - 1)
    session.execute(returned.execution_options(synchronize_session=False))


def _as_kept(words: Mapping[str, Any]) -> dict[str, Any]:
    """The words of a request as the table has them."""
    kept = dict(words)
    if "entitlement" in kept:
        kept["entitlement"] = rules.ENTITLEMENTS[kept["entitlement"]]
    if "flags" in kept:
        kept["flags"] = int(rules.flags_of(kept["flags"]))
    for name, column in (("not_before_at", "not_before"), ("not_after_at", "not_after")):
        if name in kept:
            millis = kept.pop(name)
            kept[column] = 0 if millis is None else millis // 1000
    return kept


def _check(session: Session, row: TicketTypeRecord, facts: events.EventFacts) -> None:
    if row.zone:
        events.zone(session, facts.id, row.zone)
    row.entry_limit = rules.check_limit(Entitlement(row.entitlement), row.entry_limit)
    rules.check_window("not_after_at", row.not_before, row.not_after)
    rules.check_window("sale_end_at", row.sale_start_at, row.sale_end_at)
    if (row.issued or 0) > row.quantity:
        raise Conflict(f"{row.issued} tickets of this type are issued already.", code="quantity_below_issued")


def _require_capacity(session: Session, most: int, event_id: str) -> None:
    planned = queries.planned_quantity(session, event_id)
    if most and planned > most:
        raise Conflict(
            f"All ticket types together come to {planned} tickets; the event has room for {most}.",
            code="capacity_exceeded",
        )


def _flush_or_say(session: Session) -> None:
    try:
        session.flush()
    except IntegrityError:
        raise Conflict("The event has a ticket type of that name already.", code="name_taken") from None


def _tell(
    session: Session,
    number: int,
    row: TicketTypeRecord,
    action: str,
    deed: Deed,
    *,
    before: dict[str, Any] | None,
    after: dict[str, Any],
) -> None:
    subject = f"{row.event_id}/{row.number}"
    record(session, AuditLine(deed.actor, action, "ticket_type", subject, row.organisation_id, deed.now, before, after))
    revisions.put(session, number, [TicketTypeRow(row.number, row.name, row.check_words)])
