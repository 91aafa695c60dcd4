"""Makes orders that wait to be paid: they reserve ticket types, and keep the holds of their buyers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Final, NamedTuple

from sqlalchemy import Executable
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from sync_server.checkout.codes import spending
from sync_server.checkout.filing import words
from sync_server.checkout.models import OrderCounterRow, OrderLineRow, OrderRow
from sync_server.checkout.money import amounts as money
from sync_server.checkout.money import ledger
from sync_server.checkout.money.ledger import Balance
from sync_server.checkout.orders import drafting, recording
from sync_server.checkout.orders.drafting import Draft
from sync_server.checkout.orders.order_request import OrderRequest
from sync_server.checkout.orders.parcels import Buyers
from sync_server.checkout.orders.whole_order import WholeOrder
from sync_server.checkout.sessions import entering
from sync_server.events import queries as events
from sync_server.events.days.chosen_days import ChosenDays, dates_of
from sync_server.events.queries import EventHead
from sync_server.holds import ordering
from sync_server.plumbing.event_key import EventKey
from sync_server.plumbing.requests.principals import ActionContext
from sync_server.plumbing.sealing import Sealer
from sync_server.plumbing.sql import late_writes
from sync_server.plumbing.sql.asked_together import Question, asked_together
from sync_server.plumbing.sql.bulk import insert_rows
from sync_server.plumbing.sql.prepared import placeholder
from sync_server.plumbing.sql.prepared_changes import PreparedChange
from sync_server.tickets.types import type_service


class Placed(NamedTuple):
    """An order that was just made, and for whom its tickets are."""

    whole: WholeOrder
    buyers: Buyers


def place(session: Session, sealer: Sealer, request: OrderRequest, context: ActionContext) -> Placed:
    """Make an order that waits to be paid; where it is refused the holds stay as they are."""
    return keep(session, drafting.draft(session, sealer, request, context), context)


def keep(session: Session, draft: Draft, context: ActionContext) -> Placed:
    """Write an order that waits to be paid."""
    order, lines = draft.order, draft.lines
    with asked_together(session, *_counting(session, draft)):
        give_number(session, draft)
        _reserve(session, draft)
    late_writes.begin(session)
    if draft.entered is not None:
        entering.open_slot(session, draft.entered)
    balance = write(session, draft, context)
    ordering.give_to_order(session, draft.holds, order.id, context, until=order.expires_at)
    recording.record_order(session, order, draft.event.number, "order_created", context, admissions=len(lines))
    return Placed(WholeOrder(order, lines, balance), draft.buyers)


def write(session: Session, draft: Draft, context: ActionContext) -> Balance:
    """Write an order that has its number, its lines, what it owes, and the codes that it uses."""
    order = draft.order
    insert_rows(session, OrderRow, [order])
    insert_rows(session, OrderLineRow, draft.lines)
    spending.spend(session, order, draft.redeemed, context.now)
    ledger.charge(session, order, money.amounts_of(draft.lines), context)
    return Balance(charged=order.total_cents)


def give_number(session: Session, draft: Draft) -> None:
    """Give an order that is about to be written its number."""
    order = draft.order
    order.number = _next_number(session, draft.event)
    order.search_text = words.text_of(order.number, order.buyer_name, order.buyer_email)


def _counting(session: Session, draft: Draft) -> Iterable[Question]:
    """What numbers it, and at an event of one day reserves its ticket types."""
    yield asks_number(draft.event.key)
    if len(dates_of(events.event(session, *draft.event.key))) == 1:
        counts = Counter(line.ticket_type for line in draft.lines)
        for number, row in draft.types.items():
            yield type_service.asks_quantity(row, counts[number], for_order=True)


def _reserve(session: Session, draft: Draft) -> None:
    """Reserve the ticket types, in the order of their numbers."""
    dates = dates_of(events.event(session, *draft.event.key))
    for number, row in draft.types.items():
        days = [ChosenDays(dates, line.valid_days) for line in draft.lines if line.ticket_type == number]
        type_service.reserve_quantity(session, row, days, for_order=True)


def _next_number(session: Session, event: EventHead) -> str:
    """The next number of an order of this event, which is locked."""
    statement, values = asks_number(event.key)
    (counted,) = statement.rows(session, **values)
    return f"{event.code}-R{counted.orders}"


def asks_number(event: EventKey) -> Question:
    """What draws the next number of an order."""
    return _NEXT, {"organisation": event.organisation_id, "event": event.event_id}


def _next(embedded: bool) -> Executable:
    row, dialect = OrderCounterRow, sqlite if embedded else postgresql
    first = {"organisation_id": placeholder("organisation"), "event_id": placeholder("event"), "orders": 1}
    again = {"index_elements": ["organisation_id", "event_id"], "set_": {"orders": row.orders + 1}}
    counted: Executable = dialect.insert(row).values(first).on_conflict_do_update(**again).returning(row.orders)
    return counted


_NEXT: Final = PreparedChange(_next)
