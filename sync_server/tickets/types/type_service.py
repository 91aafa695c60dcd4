"""Creates and changes ticket types, and counts the tickets issued of each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from sqlalchemy import ColumnElement, Integer, update
from sqlalchemy.orm import Session

from shared.errors import Conflict
from shared.lifecycle import EventStatus
from shared.tickets import Entitlement
from sync_server.accounts import queries as accounts
from sync_server.accounts.currencies import check_currency
from sync_server.audit.service import AuditLine, record
from sync_server.events import queries as events
from sync_server.events.days import day_counts
from sync_server.events.days.chosen_days import ChosenDays, dates_of, overlap
from sync_server.events.permissions import Part
from sync_server.events.rules import effective_capacity
from sync_server.plumbing.event_key import EventKey
from sync_server.plumbing.requests.principals import ActionContext
from sync_server.plumbing.sql import writes
from sync_server.plumbing.sql.asked_together import Question
from sync_server.plumbing.sql.prepared import placeholder
from sync_server.plumbing.sql.prepared_changes import PreparedChange
from sync_server.revisions import service as revisions
from sync_server.tickets import queries, rules
from sync_server.tickets.models import TicketTypeRecord
from sync_server.tickets.types.badge_layouts import type_row

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
    check_currency(given["currency"])
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


def reserve_quantity(
    session: Session, row: TicketTypeRecord, days: Sequence[ChosenDays], *, for_order: bool = False
) -> None:
    """Count issued tickets of a type with these days; Conflict if there are not enough left.

    Those of an order that is not paid yet are counted as reserved, too, so that nobody else buys them.
    At an event of one day it is one conditional update; where there are several the quantity counts for each.
    """
    count, of_several = len(days), len(days[0].dates) > 1
    statement, values = _asks(row, count, of_several=of_several, for_order=for_order)
    found = statement.rows(session, **values)
    quantity, full = found[0].quantity if found else None, list[int]()
    if quantity is not None and of_several:
        by_day = Counter(day for each in days for day in each.numbers)
        full = day_counts.add(session, EventKey(row.organisation_id, row.event_id), row.number, by_day, quantity)
    if quantity is None or full:
        names = days[0].names_of(full)
        on, details = (f" on {', '.join(names)}", {"days": list(names)}) if names else ("", {})
        raise Conflict(
            f"There are fewer than {count} tickets left of “{row.name}”{on}.",
            code="insufficient_inventory",
            ticket_type=row.number,
            **details,
        )


def asks_quantity(row: TicketTypeRecord, count: int, *, for_order: bool = False) -> Question:
    """What `reserve_quantity` asks at an event of one day."""
    return _asks(row, count, of_several=False, for_order=for_order)


def _asks(
    row: TicketTypeRecord, count: int, *, of_several: bool, for_order: bool
) -> tuple[PreparedChange, dict[str, Any]]:
    here = {"organisation": row.organisation_id, "event": row.event_id, "number": row.number}
    return _COUNT[of_several, for_order], {**here, "count": count}


def use_reservation(session: Session, event: EventKey, number: int, count: int) -> None:
    """Issue what an order reserved at an event of one day: it is counted already."""
    change = update(TicketTypeRecord).where(*_key(*event, number))
    fewer = change.values(reserved=TicketTypeRecord.reserved - count)
    session.execute(fewer.execution_options(synchronize_session=False))


def end_reservation(session: Session, event: EventKey, number: int, days: Sequence[ChosenDays]) -> None:
    """Give back what an order reserved: its tickets are issued now, or never."""
    change = update(TicketTypeRecord).where(*_key(*event, number))
    fewer = change.values(reserved=TicketTypeRecord.reserved - len(days), issued=TicketTypeRecord.issued - len(days))
    session.execute(fewer.execution_options(synchronize_session=False))
    for each in days:
        if len(each.dates) > 1:
            day_counts.remove(session, event, number, dict.fromkeys(each.numbers, 1))


def release_quantity(session: Session, organisation_id: str, event_id: str, number: int, days: ChosenDays) -> None:
    """Take one cancelled ticket off the counts."""
    row_key = _key(organisation_id, event_id, number)
    statement = update(TicketTypeRecord).where(*row_key).values(issued=TicketTypeRecord.issued - 1)
    session.execute(statement.execution_options(synchronize_session=False))
    if len(days.dates) > 1:
        day_counts.remove(session, EventKey(organisation_id, event_id), number, dict.fromkeys(days.numbers, 1))


def _counting(*, of_several: bool, for_order: bool) -> PreparedChange:
    row, count = TicketTypeRecord, placeholder("count", Integer())
    key = row.organisation_id == placeholder("organisation"), row.event_id == placeholder("event")
    enough_left = () if of_several else (row.issued + count <= row.quantity,)
    more = {"issued": row.issued + count} | ({"reserved": row.reserved + count} if for_order else {})
    change = update(row).where(*key, row.number == placeholder("number"), *enough_left).values(more)
    return PreparedChange(lambda _: change.returning(row.quantity))


_COUNT: Final = {
    (of_several, for_order): _counting(of_several=of_several, for_order=for_order)
    for of_several in (False, True)
    for for_order in (False, True)
}
"""How tickets of a type are counted: at an event of several days, and for an order that waits to be paid."""


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
    rules.check_sale_window(row.sale_start_at, row.sale_end_at, details.ends_at)
    rules.check_order_limits(row.min_per_order or 1, row.max_per_order or 10)
    issued = _most_issued(session, row, details)
    if issued > row.quantity:
        raise Conflict(
            f"{issued} tickets of this type have already been issued or ordered.", code="quantity_below_issued"
        )


def _most_issued(session: Session, row: TicketTypeRecord, details: events.EventDetails) -> int:
    """How many tickets of this type the fullest day has; of an event of one day, all of them."""
    if details.days == 1 or not row.issued:
        return row.issued or 0
    return max(day_counts.issued(session, details.key, row.number).values(), default=0)


def _check_capacity(session: Session, event: events.Event) -> None:
    limit = effective_capacity(event.capacity, event.venue_capacity)
    types, days = queries.ticket_types(session, event.organisation_id, event.id), ChosenDays(dates_of(event))
    planned = Counter(
        {day: sum(row.quantity for row in types if overlap(row.valid_days, 1 << day)) for day in days.numbers}
    )
    day, most = planned.most_common(1)[0]
    if limit and most > limit:
        on = "".join(f" on {date}" for date in days.names_of([day]))
        raise Conflict(
            f"All ticket types together have {most} tickets{on}, but the capacity of the event is {limit}.",
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
    revisions.put(session, EventKey(row.organisation_id, row.event_id), [type_row(row)])


def taken_by_day(session: Session, event: events.Event) -> Callable[[int], Mapping[str, int]]:
    """How many tickets of a type, by its number, are issued or ordered by date; of an event of one day nothing."""
    dates = dates_of(event)
    counted = day_counts.by_type(session, event.key) if len(dates) > 1 else {}

    def taken(number: int) -> Mapping[str, int]:
        of_type = counted.get(number, {})
        return {date: of_type.get(day, 0) for day, date in enumerate(dates)} if len(dates) > 1 else {}

    return taken
