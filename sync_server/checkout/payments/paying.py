"""Payments of orders: begun by buyers, noted once in the ledger, and answered with tickets in the same transaction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from sqlalchemy.orm import Session

from shared.errors import Conflict, Forbidden, GatehouseError, InvalidRequest, NotFound
from shared.wire.snapshot import TicketState
from sync_server.checkout import queries
from sync_server.checkout.codes import spending
from sync_server.checkout.models import OrderLineRow, OrderRow
from sync_server.checkout.money import amounts as money
from sync_server.checkout.money import ledger
from sync_server.checkout.money.ledger import Kind, Told
from sync_server.checkout.orders import ending, fulfilling, recording
from sync_server.checkout.orders.fulfilling import SeatsGone
from sync_server.checkout.orders.locking import lock_order
from sync_server.checkout.orders.parcels import Buyers
from sync_server.checkout.orders.placing import Placed
from sync_server.checkout.orders.whole_order import WholeOrder
from sync_server.checkout.payments import choices
from sync_server.checkout.payments.methods import PaymentMethod
from sync_server.checkout.rules import PAYABLE, LineState, OrderState, require_transition
from sync_server.checkout.sessions import entering
from sync_server.checkout.sessions.rules import SessionState
from sync_server.events import queries as events
from sync_server.holds import ordering
from sync_server.plumbing.database import Database
from sync_server.plumbing.event_key import EventKey
from sync_server.plumbing.requests.principals import ActionContext
from sync_server.plumbing.sealing import Sealer
from sync_server.queueing import service as queueing
from sync_server.tickets import queries as tickets
from sync_server.tickets import service as ticket_service
from sync_server.tickets.queries import Ticket


class OrderKey(NamedTuple):
    """Which order of which organisation."""

    organisation_id: str
    order_id: str


@dataclass(frozen=True, slots=True)
class Arrived:
    """A payment that has arrived, as whoever heard of it tells; without an amount, all that is due."""

    method: PaymentMethod
    cents: int | None = None
    reference: str | None = None
    note: str = ""


def event_in_demand(database: Database, key: OrderKey) -> EventKey | None:
    """The event that a payment will lock, which it names when its transaction begins; or NotFound.

    None on SQLite, which has one writer anyway. Which event an order belongs to never changes.
    """
    if database.embedded:
        return None
    with database.autocommit_reading() as session:
        return queries.order(session, *key).event


def start(session: Session, sealer: Sealer, key: OrderKey, method: PaymentMethod, context: ActionContext) -> WholeOrder:
    """Begin to pay an order: a free one is paid at once, others wait. Repeated, it changes nothing."""
    buyers, event_id = fulfilling.buyers_of(session, sealer, *key, context)
    order = lock_order(session, *key, event_id=event_id)
    lines, known = queries.lines(session, *key), OrderState(order.state)
    if known not in {OrderState.PENDING, OrderState.EXPIRED}:
        if order.method == method.name and known is OrderState.PAID:
            return _whole(session, order, lines)
        require_transition(known, OrderState.PAID)
    issued = _start(session, order, lines, buyers, method, context)
    return _whole(session, order, lines, issued)


def start_placed(session: Session, placed: Placed, method: PaymentMethod, context: ActionContext) -> WholeOrder:
    """Begin to pay an order in the transaction that makes it, which has its event locked."""
    whole, buyers = placed
    issued = _start(session, whole.order, whole.lines, buyers, method, context)
    session.flush()
    return replace(whole, tickets={ticket.id: ticket for ticket in issued})


def _whole(
    session: Session, order: OrderRow, lines: Sequence[OrderLineRow], issued: Sequence[Ticket] = ()
) -> WholeOrder:
    """The order with its tickets: those of this transaction, or those of its lines."""
    session.flush()
    found = {ticket.id: ticket for ticket in issued}
    if not found:
        ids = [line.ticket_id for line in lines if line.ticket_id is not None]
        found = tickets.tickets_by_id(session, order.organisation_id, ids)
    return WholeOrder(order, lines, ledger.balance(session, order), found)


def _start(  # noqa: PLR0917 - an order, how it is paid, and by whom
    session: Session,
    order: OrderRow,
    lines: Sequence[OrderLineRow],
    buyers: Buyers,
    method: PaymentMethod,
    context: ActionContext,
) -> Sequence[Ticket]:
    """Begin to pay an order that is not paid yet; returns the tickets that were issued."""
    event = events.event(session, *order.event)
    terms = choices.terms_of(session, order, event, context.now)
    started = method.start(order, terms)
    if started.paid:
        return _complete(session, order, lines, buyers, method.name, context)
    order.method, order.updated_at = method.name, context.now
    if order.state == OrderState.EXPIRED or order.expires_at <= context.now:
        raise Conflict("The order has expired. Choose the seats again.", code="order_expired")
    if started.due_at is None or order.due_at is not None:
        return ()
    issued = _wait_until(
        session, order, lines, buyers, started.due_at, context, unpaid_tickets=terms.settings().unpaid_tickets
    )
    recording.record_order(session, order, event.number, "order_invoiced", context, due_at=order.due_at)
    return issued


def _wait_until(  # noqa: PLR0917 - an order, its due date, and by whom
    session: Session,
    order: OrderRow,
    lines: Sequence[OrderLineRow],
    buyers: Buyers,
    due_at: int,
    context: ActionContext,
    *,
    unpaid_tickets: bool,
) -> Sequence[Ticket]:
    """Keep the order until its invoice is due; with tickets that gates refuse until it is paid, if so decided."""
    order.due_at = due_at
    entering.close_of(session, order, SessionState.PAID, context.now)
    order.expires_at = max(order.expires_at, due_at)
    if unpaid_tickets:
        return fulfilling.issue_tickets(session, order, lines, buyers, context, unpaid=True)
    held = ordering.locked_of_order(session, order.event, order.id, context.now)
    ordering.extend(session, held, context.now, until=order.expires_at)
    return ()


def key_of(order: OrderRow) -> OrderKey:
    """What names an order."""
    return OrderKey(order.organisation_id, order.id)


def require_noting(method: PaymentMethod, context: ActionContext) -> None:
    """Forbidden, or InvalidRequest, unless the caller may note payments of this method."""
    if method.noted_by is None:
        raise InvalidRequest(f"Payments by {method.name} are not noted by hand.", field="method", code="not_noted")
    context.require(method.noted_by)


def receive(
    session: Session,
    sealer: Sealer,
    key: OrderKey,
    payment: Arrived,
    context: ActionContext,
    *,
    keep_only: bool = False,
) -> OrderRow:
    """Note a payment. Told twice, in any order or late, it counts once.

    Once nothing is due any more the tickets are issued: of a pending order from its holds, of an expired one if its
    seats are still free. If they are not, `SeatsGone` is raised: note the payment again with `keep_only`, and it is
    kept in the ledger as owed to the buyer.
    """
    buyers, event_id = fulfilling.buyers_of(session, sealer, *key, context)
    order = lock_order(session, *key, event_id=event_id)
    if _known(session, order, payment):
        return order
    told = _told(session, order, payment)
    number = events.event(session, key.organisation_id, order.event_id).number
    ledger.receive(session, order, told, context)
    recording.record_order(session, order, number, "payment_received", context, cents=told.cents, method=told.method)
    if keep_only:
        _give_up_overdue(session, order, context)
    elif OrderState(order.state) in PAYABLE and due(session, order) <= 0:
        _complete(session, order, queries.lines(session, *key), buyers, told.method, context)
    return order


def receive_or_keep(
    database: Database, sealer: Sealer, key: OrderKey, payment: Arrived, context: ActionContext
) -> OrderRow:
    """Note a payment in a transaction of its own; one whose seats are gone is kept as owed to the buyer."""
    event = event_in_demand(database, key)
    try:
        with database.writing(event) as session:
            return receive(session, sealer, key, payment, context)
    except SeatsGone:
        with database.writing() as session:
            return receive(session, sealer, key, payment, context, keep_only=True)


def _known(session: Session, order: OrderRow, payment: Arrived) -> bool:
    """Whether this payment is in the ledger; Conflict where its reference stands there for something else."""
    method, reference = payment.method.name, payment.reference
    row = ledger.told_before(session, order.organisation_id, Kind.PAYMENT, method, reference)
    if row is None:
        return False
    if row.order_id != order.id or payment.cents not in {None, row.cents}:
        raise Conflict(
            "A payment with this reference was noted for another order or amount. Check the reference.",
            code="payment_known",
        )
    return True


def _told(session: Session, order: OrderRow, payment: Arrived) -> Told:
    """The payment with its amount; Conflict where none is named and nothing is due."""
    cents = due(session, order) if payment.cents is None else payment.cents
    if cents <= 0:
        raise Conflict("Nothing is due for this order. Name the amount that has arrived.", code="nothing_due")
    if payment.method.account is None:
        raise InvalidRequest("Free orders need no payment.", field="method", code="not_noted")
    return Told(payment.method.name, payment.method.account, cents, payment.reference, payment.note)


def due(session: Session, order: OrderRow) -> int:
    """What the buyer owes; an expired order costs its total again if it is to be sold after all."""
    again = order.total_cents if order.state == OrderState.EXPIRED else 0
    return ledger.balance(session, order).due + again


def _give_up_overdue(session: Session, order: OrderRow, context: ActionContext) -> None:
    if order.state == OrderState.PENDING:
        ending.end(session, order, OrderState.EXPIRED, context)


def _complete(  # noqa: PLR0917 - an order, how it was paid, and by whom
    session: Session,
    order: OrderRow,
    lines: Sequence[OrderLineRow],
    buyers: Buyers,
    method: str,
    context: ActionContext,
) -> Sequence[Ticket]:
    """The order is paid: its tickets are issued, or become valid. SeatsGone for one whose time was over."""
    state = ordering.current_state(session, *order.event)
    late = order.state == OrderState.EXPIRED or order.expires_at <= context.now
    require_transition(OrderState(order.state), OrderState.PAID)
    try:
        if order.state == OrderState.EXPIRED:
            spending.spend_again(session, order, context.now)
            ledger.charge(session, order, money.amounts_of(lines), context)
        issued = _settle_or_issue(session, order, lines, buyers, context)
    except GatehouseError as refusal:
        if late and not refusal.retryable:
            raise SeatsGone(refusal) from None
        raise
    order.state, order.paid_at, order.updated_at = OrderState.PAID.value, context.now, context.now
    order.method, order.remaining_ms = method, None
    session.flush()
    entering.close_of(session, order, SessionState.PAID, context.now)
    if state.queued:
        queueing.spend(session, order.organisation_id, order.event_id, order.bearer_id, context.now)
    number = events.event(session, order.organisation_id, order.event_id).number
    recording.record_order(session, order, number, "order_paid", context, admissions=len(lines), method=order.method)
    return issued


def _settle_or_issue(
    session: Session, order: OrderRow, lines: Sequence[OrderLineRow], buyers: Buyers, context: ActionContext
) -> Sequence[Ticket]:
    """Issue the tickets, unless they are there, unpaid; returns those that were issued."""
    if not all(line.state == LineState.ISSUED.value for line in lines):
        return fulfilling.issue_tickets(session, order, lines, buyers, context)
    ids = [line.ticket_id for line in lines if line.ticket_id is not None]
    for id, row in sorted(tickets.tickets_by_id(session, order.organisation_id, ids).items()):
        if row.state == TicketState.UNPAID:
            ticket_service.settle(session, order.organisation_id, id, context, reason="the order is paid")
    return ()


def require_in_shop(method: PaymentMethod) -> None:
    """Forbidden for methods that buyers cannot choose themselves."""
    if not method.in_shop:
        raise Forbidden("You can pay this way at the box office only.", code="method_not_offered")


def require_ticket(lines: Sequence[OrderLineRow], ticket_id: int) -> None:
    """NotFound unless the ticket belongs to one of these lines; Conflict if it was passed on to somebody else."""
    line = next((line for line in lines if line.ticket_id == ticket_id), None)
    if line is None:
        raise NotFound("This order has no such ticket.", code="ticket_not_found")
    if line.passed_on:
        raise Conflict("This ticket was passed on, and its new owner has its code.", code="ticket_passed_on")
