"""Payments that buyers dispute with their banks: the money that goes and comes back, and what becomes of the tickets.

The payment service tells the state of a dispute as it is now; what is noted here follows from that state alone, so that
news may come twice, late or in any order.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from sqlalchemy import ColumnElement, func, select
from sqlalchemy.orm import Session

from shared.clock import Millis
from shared.lifecycle import OVER
from shared.wire.snapshot import TicketState
from sync_server.checkout import queries
from sync_server.checkout.models import DisputeRow, OrderRow
from sync_server.checkout.money import ledger
from sync_server.checkout.money.ledger import Account, Kind, Told
from sync_server.checkout.orders import recording
from sync_server.checkout.payments import payouts, refunding
from sync_server.checkout.settings import settings_of
from sync_server.events import queries as events
from sync_server.plumbing.requests.principals import ActionContext
from sync_server.tickets import queries as tickets
from sync_server.tickets import service as ticket_service

LOOK_AGAIN_MS: Final = 6 * 3_600_000
"""An open dispute is asked for again after that, should its webhook be lost: banks decide within weeks."""


class DisputeState(StrEnum):
    """What a dispute has come to."""

    INQUIRY = "inquiry"  # a bank asks; no money has gone
    OPEN = "open"
    WON = "won"  # or withdrawn: the organiser keeps the money
    LOST = "lost"  # the buyer keeps it


CLOSED: Final = frozenset({DisputeState.WON, DisputeState.LOST})
_MARKS: Final = (DisputeState.OPEN, DisputeState.INQUIRY, DisputeState.LOST, DisputeState.WON)
"""Of several disputes of an order, the first of these is shown."""


class Policy(StrEnum):
    """What becomes of the tickets of a disputed order."""

    BLOCK = "block"
    KEEP = "keep"


@dataclass(frozen=True, slots=True)
class Disputed:
    """A dispute as the payment service has it now."""

    reference: str
    payment: str
    state: DisputeState
    cents: int
    currency: str  # in capitals
    withdrawn: bool  # the money has gone, and has not come back
    fee_cents: int = 0  # what the service charges the organiser for it so far
    reason: str = ""
    answer_by: Millis | None = None


def note(session: Session, order: OrderRow, method: str, told: Disputed, context: ActionContext) -> None:
    """Note a dispute of a payment of this order, which is locked; told again, it changes nothing."""
    row, before = _row(session, order, method, told, context)
    if before is None and told.state is not DisputeState.WON:
        _record(session, order, row, "payment_disputed", context, because=told.reason)
    whole = told.cents >= _kept(session, order)
    _settle_money(session, order, row, told, context)
    _settle_tickets(session, order, row, whole=whole, context=context)
    order.dispute, order.updated_at = _mark(session, order), context.now
    session.flush()
    if told.state in CLOSED and before not in CLOSED:
        row.closed_at = context.now
        _record(session, order, row, "dispute_closed", context, outcome=told.state.value)
        if left := payouts.owed(session, order):
            _record(session, order, row, "payout_due", context, cents=left)


def _row(
    session: Session, order: OrderRow, method: str, told: Disputed, context: ActionContext
) -> tuple[DisputeRow, DisputeState | None]:
    """The dispute's row with its new state, and its state before."""
    row = session.get(DisputeRow, (order.organisation_id, told.reference))
    before = None if row is None else DisputeState(row.state)
    if row is None:
        row = DisputeRow(
            organisation_id=order.organisation_id,
            reference=told.reference,
            order_id=order.id,
            method=method,
            payment=told.payment,
            currency=told.currency,
            withdrawn_cents=0,
            lost_cents=0,
            moves=0,
            blocked_tickets=[],
            opened_at=context.now,
        )
        session.add(row)
    row.state, row.cents, row.reason, row.answer_by = told.state.value, told.cents, told.reason, told.answer_by
    row.look_at = None if told.state in CLOSED else context.now + LOOK_AGAIN_MS
    session.flush()
    return row, before


def _kept(session: Session, order: OrderRow) -> int:
    """What of the order's payments was not paid back."""
    balance = ledger.balance(session, order)
    return balance.paid - balance.paid_out


def _settle_money(session: Session, order: OrderRow, row: DisputeRow, told: Disputed, context: ActionContext) -> None:
    """Bring the ledger to what the service says: money that has gone, and money that the buyer keeps."""
    lost = told.cents if told.state is DisputeState.LOST else 0
    withdrawn = told.cents if told.withdrawn or lost else 0
    if lost < row.lost_cents:  # decided anew
        _move(session, order, row, Kind.RECOVERED, row.lost_cents - lost, context)
    if change := withdrawn - row.withdrawn_cents:
        kind = Kind.WITHDRAWAL if change > 0 else Kind.REINSTATED
        _move(session, order, row, kind, abs(change), context)
        _record(session, order, row, "dispute_funds_moved", context, cents=abs(change), because=kind.value)
    if lost > row.lost_cents:
        _move(session, order, row, Kind.CHARGEBACK, lost - row.lost_cents, context)
    row.withdrawn_cents, row.lost_cents = withdrawn, lost
    _settle_fee(session, order, row, told, context)


def _settle_fee(session: Session, order: OrderRow, row: DisputeRow, told: Disputed, context: ActionContext) -> None:
    """Bring what the service charges for the dispute to what it says; of the buyer's money it is no part."""
    booked = ledger.dispute_fees(session, order, row.reference)
    if change := told.fee_cents - booked:
        _move(session, order, row, Kind.FEE if change > 0 else Kind.FEE_BACK, abs(change), context)


def _move(  # noqa: PLR0917 - one movement
    session: Session, order: OrderRow, row: DisputeRow, kind: Kind, cents: int, context: ActionContext
) -> None:
    row.moves += 1
    told = Told(row.method, Account(row.method), cents, f"{row.reference}/{row.moves}", row.reason)
    ledger.dispute(session, order, kind, told, context)


def _settle_tickets(session: Session, order: OrderRow, row: DisputeRow, *, whole: bool, context: ActionContext) -> None:
    """Block, release or end the tickets; a dispute of a part says nothing of which tickets it means."""
    policy = Policy(settings_of(session, order.organisation_id).dispute_tickets)
    if row.state == DisputeState.WON:
        _release(session, order, row, context)
    elif policy is Policy.BLOCK and whole and row.state == DisputeState.OPEN:
        _block(session, order, row, context)
    elif row.state == DisputeState.LOST and (row.blocked_tickets or (policy is Policy.BLOCK and whole)):
        refunding.end_lines(session, order, context, reason="the payment was charged back")


def _block(session: Session, order: OrderRow, row: DisputeRow, context: ActionContext) -> None:
    if events.event(session, *order.event).status in OVER:
        return
    for id in _tickets(session, order, TicketState.VALID):
        ticket_service.block(session, order.organisation_id, id, context, reason="its payment is disputed")
        row.blocked_tickets = [*row.blocked_tickets, tickets.public_id(id)]


def _release(session: Session, order: OrderRow, row: DisputeRow, context: ActionContext) -> None:
    """Only what the dispute has blocked: staff may have had other reasons."""
    mine = {tickets.internal_id(each) for each in row.blocked_tickets}
    for id in _tickets(session, order, TicketState.BLOCKED):
        if id in mine:
            ticket_service.unblock(session, order.organisation_id, id, context, reason="its payment stands")
    row.blocked_tickets = []


def _tickets(session: Session, order: OrderRow, state: TicketState) -> Sequence[int]:
    lines = queries.lines(session, order.organisation_id, order.id)
    ids = [line.ticket_id for line in lines if line.ticket_id is not None]
    found = tickets.tickets_by_id(session, order.organisation_id, ids)
    return sorted(id for id, ticket in found.items() if ticket.state == state)


def _mark(session: Session, order: OrderRow) -> str:
    states = {each.state for each in of_orders(session, order.organisation_id, [order.id])}
    return next((mark.value for mark in _MARKS if mark.value in states), "")


def of_orders(session: Session, organisation_id: str, orders: Collection[str]) -> Sequence[DisputeRow]:
    """The disputes of these orders, the earliest first."""
    here = DisputeRow.organisation_id == organisation_id, DisputeRow.order_id.in_(sorted(orders))
    wanted = select(DisputeRow).where(*here).order_by(DisputeRow.opened_at, DisputeRow.reference)
    return session.execute(wanted).scalars().all() if orders else ()


def count_open(session: Session, organisation_id: str | None = None) -> list[tuple[str, int, Millis]]:
    """The organisations with disputes to be answered: how many, and since when."""
    row = DisputeRow
    wanted: list[ColumnElement[bool]] = [row.state.in_([DisputeState.INQUIRY.value, DisputeState.OPEN.value])]
    if organisation_id is not None:
        wanted.append(row.organisation_id == organisation_id)
    counted = select(row.organisation_id, func.count(), func.min(row.opened_at)).where(*wanted)
    return [(owner, count, since) for owner, count, since in session.execute(counted.group_by(row.organisation_id))]


def _record(
    session: Session, order: OrderRow, row: DisputeRow, name: str, context: ActionContext, **more: object
) -> None:
    number = events.event(session, *order.event).number
    payload = {"cents": row.cents, "method": row.method} | more
    recording.record_order(session, order, number, name, context, reason=row.reason, **payload)
