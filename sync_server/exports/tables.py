"""What can be exported of an event: the columns of each table, and its rows, read page by page."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final
from zoneinfo import ZoneInfo

from sqlalchemy.orm import Session

from shared.clock import Millis
from shared.wire.snapshot import TicketState
from sync_server.checkout import queries as orders
from sync_server.checkout.money import ledger
from sync_server.checkout.queries import Order, OrderFilter
from sync_server.events import queries as events
from sync_server.events.days.chosen_days import ChosenDays, dates_of
from sync_server.events.queries import Event
from sync_server.events.rules import mark
from sync_server.exports.cells import Amount, Cell, Moment
from sync_server.plumbing.database import Database
from sync_server.plumbing.event_key import EventKey
from sync_server.scans import queries as scans
from sync_server.tickets import queries as tickets
from sync_server.tickets.queries import Ticket, TicketFilter, public_id

PAGE: Final = 500
"""Rows that are read at once."""

Row = Sequence[Cell]
Page = tuple[list[Row], str | None]


@dataclass(frozen=True, slots=True)
class Evening:
    """What all rows of an event share."""

    event: Event
    dates: tuple[str, ...]
    zones: Mapping[int, str]
    types: Mapping[int, str]

    @classmethod
    def read(cls, session: Session, key: EventKey) -> Evening:
        """The event, which must be this organisation's."""
        event = events.event(session, *key)
        zones = {zone.number: zone.name for zone in events.zones(session, *key)}
        types = {row.number: row.name for row in tickets.ticket_types(session, *key)}
        return cls(event, dates_of(event), zones, types)

    @property
    def key(self) -> EventKey:
        """What names the event's rows."""
        return self.event.key

    def moment(self, at: Millis | None) -> Moment | None:
        """A time at the venue."""
        return None if at is None else Moment(at, ZoneInfo(self.event.timezone))

    def days(self, bits: int) -> str:
        """The dates that something is valid on; all of them at an event of one day."""
        chosen = ChosenDays(self.dates, bits)
        return " ".join(chosen.names or self.dates)

    def shared(self) -> tuple[Cell, Cell]:
        """The event's name, and its mark where it does not take place as it was announced."""
        return self.event.name, mark(self.event) or ""


@dataclass(frozen=True, slots=True)
class ExportTable:
    """One table: its columns, and how a page of its rows is read."""

    columns: Sequence[str]
    page: Callable[[Session, Evening, str | None], Page]


def _orders(session: Session, evening: Evening, after: str | None) -> Page:
    page = _order_page(session, evening, after)
    ids = [order.id for order in page[0]]
    balances = ledger.balances(session, evening.key.organisation_id, ids)
    lines = orders.lines_of(session, evening.key.organisation_id, ids)

    def row(order: Order) -> Row:
        balance = balances[order.id]
        return (
            *evening.shared(),
            order.number,
            order.state,
            order.channel,
            order.method,
            order.buyer_name,
            order.buyer_email,
            order.buyer_locale,
            len(lines[order.id]),
            order.currency,
            Amount(order.subtotal_cents),
            Amount(order.discount_cents),
            Amount(order.fees_cents),
            Amount(order.tax_cents),
            Amount(order.total_cents),
            Amount(balance.paid),
            Amount(balance.due),
            evening.moment(order.created_at),
            evening.moment(order.paid_at),
        )

    return [row(order) for order in page[0]], page[1]


def _order_page(session: Session, evening: Evening, after: str | None) -> tuple[Sequence[Order], str | None]:
    filters = OrderFilter(event_id=evening.key.event_id)
    page = orders.orders(session, evening.key.organisation_id, filters, limit=PAGE, after=after)
    return page.items, page.next


def _payments(session: Session, evening: Evening, after: str | None) -> Page:
    found, following = _order_page(session, evening, after)
    numbers = {order.id: order.number for order in found}
    rows: list[Row] = [
        (
            *evening.shared(),
            numbers[row.order_id],
            row.kind,
            row.method,
            row.debit,
            row.credit,
            row.currency,
            Amount(row.cents),
            row.external_reference or "",
            row.note,
            evening.moment(row.at),
        )
        for row in ledger.movements_of(session, evening.key.organisation_id, [*numbers])
    ]
    return rows, following


def _ticket_page(session: Session, evening: Evening, after: str | None) -> tuple[Sequence[Ticket], str | None]:
    page = tickets.tickets(session, *evening.key, TicketFilter(), limit=PAGE, after=after)
    return page.items, page.next


def _tickets(session: Session, evening: Evening, after: str | None) -> Page:
    found, following = _ticket_page(session, evening, after)
    rows: list[Row] = [
        (
            *evening.shared(),
            row.number,
            public_id(row.id),
            TicketState(row.state).name.lower(),
            evening.types.get(row.ticket_type, ""),
            evening.zones.get(row.zone, ""),
            row.section,
            row.seat_row,
            row.seat_number,
            evening.days(row.valid_days),
            row.currency,
            Amount(row.price_cents),
            row.issue,
            evening.moment(row.issued_at * 1000),
        )
        for row in found
    ]
    return rows, following


@dataclass(frozen=True, slots=True)
class Attendee:
    """Somebody who comes: a ticket that is not cancelled, and who is said to hold it."""

    ticket: Ticket
    order: Order | None  # None: of no order, or passed on to somebody whom the buyer chose
    entered_at: Millis | None
    passed_on: bool = False  # to somebody whom the buyer chose

    @property
    def name(self) -> str:
        """The holder's name, or else the buyer's; empty where nobody gave one."""
        return self.ticket.holder_name or (self.order.buyer_name if self.order else "")


def attendees(session: Session, evening: Evening, after: str | None) -> tuple[list[Attendee], str | None]:
    """The next of those who come, in order of issue."""
    found, following = _ticket_page(session, evening, after)
    return holders(session, evening.key, [row for row in found if row.state != TicketState.CANCELLED]), following


def holders(session: Session, key: EventKey, coming: Sequence[Ticket]) -> list[Attendee]:
    """Who holds these tickets, and since when they are inside."""
    ids = [row.id for row in coming]
    lines = orders.lines_of_tickets(session, key.organisation_id, ids)
    buyers = orders.orders_by_id(session, key.organisation_id, {line.order_id for line in lines.values()})
    entered = scans.first_admissions(session, key, ids)

    def attendee(ticket: Ticket) -> Attendee:
        line = lines.get(ticket.id)
        gone = line is not None and line.passed_on
        order = None if line is None or gone else buyers[line.order_id]
        return Attendee(ticket, order, entered.get(ticket.id), passed_on=gone)

    return [attendee(ticket) for ticket in coming]


def _attendees(session: Session, evening: Evening, after: str | None) -> Page:
    found, following = attendees(session, evening, after)
    return [_attendee_row(evening, one) for one in found], following


def _attendee_row(evening: Evening, one: Attendee) -> Row:
    ticket = one.ticket
    return (
        *evening.shared(),
        one.name,
        one.order.buyer_email if one.order else "",
        one.order.number if one.order else "",
        ticket.number,
        ticket.confirmation_code,
        evening.types.get(ticket.ticket_type, ""),
        evening.zones.get(ticket.zone, ""),
        ticket.section,
        ticket.seat_row,
        ticket.seat_number,
        evening.days(ticket.valid_days),
        evening.moment(one.entered_at),
    )


def _scans(session: Session, evening: Evening, after: str | None) -> Page:
    page = scans.scans(session, evening.key, limit=PAGE, after=after)
    numbers = tickets.numbers(session, evening.key.organisation_id, {row.ticket for row in page.items if row.ticket})
    rows: list[Row] = [
        (
            *evening.shared(),
            evening.moment(row.at),
            numbers.get(row.ticket, ""),
            row.kind,
            "yes" if row.admitted else "no",
            row.reason,
            row.gate,
            row.device,
            "yes" if row.quarantined else "no",
        )
        for row in page.items
    ]
    return rows, page.next


_SHARED: Final = ("event", "mark")
TABLES: Final[Mapping[str, ExportTable]] = {
    "orders": ExportTable(
        (
            *_SHARED,
            *("order", "state", "channel", "method", "buyer", "email", "language", "admissions", "currency"),
            *("subtotal", "discount", "fees", "tax_included", "total", "paid", "due", "ordered_at", "paid_at"),
        ),
        _orders,
    ),
    "tickets": ExportTable(
        (
            *_SHARED,
            *("ticket", "id", "state", "type", "zone", "section", "row", "seat", "days", "currency", "price"),
            *("issue", "issued_at"),
        ),
        _tickets,
    ),
    "payments": ExportTable(
        (
            *_SHARED,
            *("order", "kind", "method", "debit", "credit", "currency", "amount", "reference", "note", "at"),
        ),
        _payments,
    ),
    "attendees": ExportTable(
        (
            *_SHARED,
            *("name", "email", "order", "ticket", "confirmation_code", "type", "zone", "section", "row", "seat"),
            *("days", "entered_at"),
        ),
        _attendees,
    ),
    "scans": ExportTable(
        (*_SHARED, "at", "ticket", "kind", "admitted", "reason", "gate", "device", "quarantined"),
        _scans,
    ),
}
"""By name. A column that is added is added at the end, so that what reads an export goes on working."""


def all_rows(database: Database, table: ExportTable, evening: Evening) -> Iterator[Row]:
    """All rows of a table. Each page is read in a transaction of its own: none is open while somebody downloads."""
    after: str | None = None
    while True:
        with database.reading() as session:
            rows, after = table.page(session, evening, after)
        yield from rows
        if after is None:
            return
