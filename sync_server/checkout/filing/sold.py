"""What an event has sold by hour and by day, likewise: an order counts when it was made, and never ceases to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from functools import cache
from typing import Any, Final
from zoneinfo import ZoneInfo

from sqlalchemy import case, func, select
from sqlalchemy.orm import Session

from shared.clock import Millis
from sync_server.checkout.filing.figures import NOT_FILED, Which
from sync_server.checkout.filing.models import SaleSumRow
from sync_server.checkout.models import OrderLineRow, OrderRow
from sync_server.checkout.rules import OrderState
from sync_server.events.queries import Event
from sync_server.plumbing.event_key import EventKey

HOUR_MS: Final = 3_600_000
DAY_MS: Final = 24 * HOUR_MS
SPANS: Final = (HOUR_MS, DAY_MS)
QUARTER_MS: Final = 900_000
"""Every time zone is some quarters of an hour from the others, so that a quarter is never of two days."""
SOLD: Final = tuple(state.value for state in (OrderState.PAID, OrderState.PARTIALLY_REFUNDED, OrderState.REFUNDED))
"""States of orders that were paid, whatever became of them."""
TICKETS: Final = "tickets"
CENTS: Final = "cents"
ORDERS: Final = "orders"  # by the type of their first line, so that each counts once
Key = tuple[int, Millis, int, str, str]
"""A span and when it begins, a ticket type, a currency and a figure."""


def start_of(moment: Millis, timezone: str, span: int) -> Millis:
    """The beginning of the hour or of the local day of a moment."""
    if span == HOUR_MS:
        return moment // HOUR_MS * HOUR_MS
    local = datetime.fromtimestamp(moment / 1000, UTC).astimezone(ZoneInfo(timezone))
    return int(local.replace(hour=0, minute=0, second=0, microsecond=0).timestamp() * 1000)


def of_event(session: Session, event: EventKey, timezone: str, span: int) -> Counter[Key]:
    """What was sold in each span; the session has one snapshot."""
    row = SaleSumRow
    stored = select(row.span, row.starts, row.ticket_type, row.currency, row.figure, row.n)
    found: Counter[Key] = Counter()
    for length, starts, number, currency, figure, n in session.execute(stored.where(event.of(row), row.span == span)):
        found[length, starts, number, currency, figure] += n
    for one, n in by_span(session.execute(counted(event, NOT_FILED)), timezone).items():
        if one[0] == span:
            found[one] += n
    return found


def days_of_organisation(
    session: Session, organisation_id: str, since: Millis
) -> Iterator[tuple[Millis, str, str, int]]:
    """The orders and cents of each event's days since that one: when a day begins, currency, figure, and how many."""
    row, order, event = SaleSumRow, OrderRow, Event
    stored = select(row.starts, row.currency, row.figure, row.n).where(row.organisation_id == organisation_id)
    shown = row.span == DAY_MS, row.starts >= since - DAY_MS, row.figure.in_([ORDERS, CENTS])
    for starts, currency, figure, n in session.execute(stored.where(*shown)):
        yield starts, currency, figure, n
    quarter = (order.created_at // QUARTER_MS).label("quarter")
    rows = (
        select(quarter, event.timezone, order.currency, func.count(), func.sum(order.total_cents))
        .join(event, (event.organisation_id == order.organisation_id) & (event.id == order.event_id))
        .where(order.organisation_id == organisation_id, NOT_FILED.these, order.created_at >= since - DAY_MS)
        .where(order.state.in_(SOLD))
        .group_by("quarter", event.timezone, order.currency)
        .with_hint(order, NOT_FILED.hint, "sqlite")
    )
    for at, timezone, currency, orders, cents in session.execute(rows):
        starts = start_of(int(at) * QUARTER_MS, timezone, DAY_MS)
        yield from ((starts, currency, ORDERS, int(orders)), (starts, currency, CENTS, int(cents)))


def counted(event: EventKey, which: Which) -> Any:
    """Counts what some orders sold, from their rows: quarter, type, currency, tickets, cents, and orders."""
    line, order = OrderLineRow, OrderRow
    same = (line.organisation_id == order.organisation_id) & (line.order_id == order.id)
    quarter = (order.created_at // QUARTER_MS).label("quarter")
    paid = func.sum(line.unit_cents - line.discount_cents + line.fee_cents)
    first = func.sum(case((line.position == 1, 1), else_=0))
    wanted = select(quarter, line.ticket_type, order.currency, func.count(), paid, first).join(line, same)
    return which.of(wanted, event).where(order.state.in_(SOLD)).group_by("quarter", line.ticket_type, order.currency)


def by_span(rows: Iterable[Any], timezone: str) -> Counter[Key]:
    """Quarters of an hour as hours and local days."""
    found: Counter[Key] = Counter()
    starts = cache(lambda quarter, span: start_of(quarter * QUARTER_MS, timezone, span))
    for quarter, ticket_type, currency, tickets, cents, orders in rows:
        for span in SPANS:
            for figure, n in ((TICKETS, tickets), (CENTS, cents), (ORDERS, orders)):
                found[span, starts(int(quarter), span), ticket_type, currency, figure] += int(n)
    return found
