"""Reads of orders; an id of another organisation counts as unknown."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, Final, cast

from sqlalchemy import ColumnElement, Select, and_, case, func, or_, select, text
from sqlalchemy.orm import InstrumentedAttribute, Session

from shared.clock import Millis
from shared.errors import NotFound
from sync_server.checkout.filing import words
from sync_server.checkout.filing.figures import COMING
from sync_server.checkout.models import OrderCounterRow, OrderLineRow, OrderRow
from sync_server.checkout.rules import LineState, OrderState
from sync_server.plumbing.api.pagination import AnId, Page, decode_cursor, paginate
from sync_server.plumbing.event_key import EventKey
from sync_server.plumbing.sql.bulk import among
from sync_server.plumbing.sql.prepared import Prepared, from_json, placeholder

Order = OrderRow
Ordered = OrderLineRow
"""For other packages, which read orders and their lines."""


@dataclass(frozen=True, slots=True)
class OrderFilter:
    """Which orders to list."""

    event_id: str | None = None
    state: str | None = None
    search: str | None = None  # each of its words begins one of the number, name or address
    bearer_id: str | None = None
    customer_id: str | None = None
    dispute: str | None = None


def order(session: Session, organisation_id: str, order_id: str, *, lock: bool = False) -> OrderRow:
    """That order of this organisation, or NotFound."""
    wanted = select(OrderRow).where(OrderRow.organisation_id == organisation_id, OrderRow.id == order_id)
    if lock:
        wanted = wanted.with_for_update(key_share=True).execution_options(populate_existing=True)
    row = session.execute(wanted).scalar_one_or_none()
    if row is None:
        raise no_such_order()
    return row


@dataclass(frozen=True, slots=True)
class ForWhom:
    """Of an order, what has to be known before its event is locked."""

    event_id: str
    bearer_kind: str
    access: dict[str, Any]
    memberships: frozenset[str]  # whose cards were shown


_FOR_WHOM: Final = Prepared(
    select(OrderRow.event_id, OrderRow.bearer_kind, OrderRow.access, OrderLineRow.membership_id)
    .outerjoin(
        OrderLineRow,
        and_(
            OrderLineRow.organisation_id == OrderRow.organisation_id,
            OrderLineRow.order_id == OrderRow.id,
            OrderLineRow.membership_id != "",
        ),
    )
    .where(OrderRow.organisation_id == placeholder("organisation"), OrderRow.id == placeholder("order"))
)


def for_whom(session: Session, organisation_id: str, order_id: str) -> ForWhom:
    """For whom that order of this organisation is, or NotFound."""
    rows = _FOR_WHOM.rows(session, organisation=organisation_id, order=order_id)
    if not rows:
        raise no_such_order()
    row, cards = rows[0], frozenset(row.membership_id for row in rows if row.membership_id is not None)
    return ForWhom(str(row.event_id), row.bearer_kind, from_json(row.access), cards)


def no_such_order() -> NotFound:
    """What to say about an order that does not exist, or is somebody else's."""
    return NotFound("There is no such order.", code="order_not_found")


def orders(
    session: Session, organisation_id: str, filters: OrderFilter, *, limit: int, after: str | None
) -> Page[OrderRow]:
    """A page of orders, the newest first."""
    row = OrderRow
    equalities = (
        (row.event_id, filters.event_id),
        (row.state, filters.state),
        (row.bearer_id, filters.bearer_id),
        (row.customer_id, filters.customer_id),
        (row.dispute, filters.dispute),
    )
    which: list[ColumnElement[bool]] = [column == value for column, value in equalities if value is not None]
    start = decode_cursor(after, AnId)
    if start is not None:
        which.append(row.id < start[0])
    if filters.search and not filters.search.isspace():
        found = words.search(session, organisation_id, filters.search, which, limit + 1)
    else:
        wanted = select(row).where(row.organisation_id == organisation_id, *which)
        found = session.execute(wanted.order_by(row.id.desc()).limit(limit + 1)).scalars().all()
    return paginate(found, limit, lambda found_row: (found_row.id,))


def lines(session: Session, organisation_id: str, order_id: str) -> Sequence[OrderLineRow]:
    """The lines of an order."""
    return lines_of(session, organisation_id, [order_id]).get(order_id, [])


def lines_of(session: Session, organisation_id: str, orders: Collection[str]) -> dict[str, list[OrderLineRow]]:
    """The lines of each of these orders."""
    row = OrderLineRow
    found: dict[str, list[OrderLineRow]] = {id: [] for id in orders}
    wanted = select(row).where(row.organisation_id == organisation_id, row.order_id.in_(sorted(orders)))
    for line in session.execute(wanted.order_by(row.order_id, row.position)).scalars() if orders else ():
        found[line.order_id].append(line)
    return found


def lines_of_tickets(session: Session, organisation_id: str, ticket_ids: Collection[int]) -> dict[int, OrderLineRow]:
    """The line of each of these tickets that was ordered, by the ticket's id."""
    ticket_id = cast(InstrumentedAttribute[int], OrderLineRow.ticket_id)
    here = OrderLineRow.organisation_id == organisation_id, among(session, ticket_id, ticket_ids)
    found = session.execute(select(OrderLineRow).where(*here)).scalars() if ticket_ids else ()
    return {line.ticket_id: line for line in found if line.ticket_id is not None}


def numbers(session: Session, organisation_id: str, orders: Collection[str]) -> dict[str, str]:
    """The numbers of these orders, by id."""
    here = OrderRow.organisation_id == organisation_id, OrderRow.id.in_(sorted(orders))
    return dict(session.execute(select(OrderRow.id, OrderRow.number).where(*here)).all()) if orders else {}


def orders_by_id(session: Session, organisation_id: str, ids: Collection[str]) -> dict[str, OrderRow]:
    """These orders, by id."""
    here = OrderRow.organisation_id == organisation_id, OrderRow.id.in_(sorted(ids))
    found = session.execute(select(OrderRow).where(*here)).scalars() if ids else ()
    return {order.id: order for order in found}


def bought(
    session: Session, event: EventKey, *, after: str | None, limit: int, refunded_since: Millis | None = None
) -> Sequence[OrderRow]:
    """The next orders of an event whose buyers mean to come: paid ones, and invoices that are not paid yet.

    With a moment also those who meant to until then, and have been refunded since.
    """
    coming: ColumnElement[bool] = COMING
    if refunded_since is not None:
        gone = OrderRow.state == OrderState.REFUNDED.value
        coming = or_(coming, and_(gone, OrderRow.updated_at >= refunded_since))
    wanted = select(OrderRow).where(event.of(OrderRow), coming)
    wanted = wanted if after is None else wanted.where(OrderRow.id > after)
    return session.execute(wanted.order_by(OrderRow.id).limit(limit)).scalars().all()


def count_at_event(session: Session, organisation_id: str, event_id: str) -> int:
    """How many orders an event ever had: they are numbered, and none is ever removed."""
    row = session.get(OrderCounterRow, (organisation_id, event_id))
    return 0 if row is None else row.orders


def count_pending(session: Session) -> int:
    """How many orders of the installation wait to be paid."""
    pending = OrderRow.state == text("'pending'")  # as literal text, to match the partial index
    return session.execute(select(func.count()).select_from(OrderRow).where(pending)).scalar_one()


def ordered_lines(session: Session, organisation_id: str, event_id: str) -> Sequence[OrderLineRow]:
    """The lines of an event's orders that reserve numbers of their ticket types."""
    row = OrderLineRow
    here = OrderRow.organisation_id == organisation_id, OrderRow.event_id == event_id
    of_event = select(OrderRow.id).where(*here)
    wanted = select(row).where(row.organisation_id == organisation_id, row.state == LineState.ORDERED.value)
    return session.execute(wanted.where(row.order_id.in_(of_event))).scalars().all()


def tickets_of_orders(event: EventKey) -> Select[int]:
    """The ids of the tickets that orders of an event have, for queries of tickets."""
    ticket_id, mine = (
        cast(InstrumentedAttribute[int], OrderLineRow.ticket_id),
        select(OrderRow.id).where(event.of(OrderRow)),
    )
    here = OrderLineRow.organisation_id == event.organisation_id, ticket_id.is_not(None)
    return select(ticket_id).where(*here, OrderLineRow.order_id.in_(mine))


def count_admissions_by_days(session: Session, event: EventKey) -> dict[int, tuple[int, int]]:
    """How many admissions were ever ordered, and how many of them were paid, by the bitmap of their days."""
    line, order = OrderLineRow, OrderRow
    whose = (line.organisation_id == order.organisation_id) & (line.order_id == order.id)
    paid = func.sum(case((order.paid_at.is_not(None), 1), else_=0))
    counted = select(line.valid_days, func.count(), paid).join(order, whose).where(event.of(order))
    rows = session.execute(counted.where(line.organisation_id == event.organisation_id).group_by(line.valid_days))
    return {days: (int(ordered), int(of_them)) for days, ordered, of_them in rows}


def count_admissions(session: Session, event: EventKey) -> tuple[dict[int, int], dict[int, int]]:
    """How many admissions of each ticket type were ever ordered at an event, and how many of them were paid."""
    line, order = OrderLineRow, OrderRow
    whose = (line.organisation_id == order.organisation_id) & (line.order_id == order.id)
    paid = func.sum(case((order.paid_at.is_not(None), 1), else_=0))
    counted = select(line.ticket_type, func.count(), paid).join(order, whose).where(event.of(order))
    rows = session.execute(counted.where(line.organisation_id == event.organisation_id).group_by(line.ticket_type))
    found = [(number, int(ordered), int(of_them)) for number, ordered, of_them in rows]
    return {number: ordered for number, ordered, _ in found}, {number: count for number, _, count in found if count}
