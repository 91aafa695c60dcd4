"""Calls events off: what the organiser confirms is recorded in one transaction, and carried out by the job."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from sqlalchemy.orm import Session

from shared.clock import Millis
from shared.errors import Conflict
from shared.lifecycle import EventStatus
from sync_server.cancellations import others, queries, rules
from sync_server.cancellations.models import CancellationRow, DateAnswerRow
from sync_server.cancellations.rules import Answer, Choice, State
from sync_server.checkout import queries as orders
from sync_server.checkout.orders import dates
from sync_server.checkout.payments import owing, refunding
from sync_server.checkout.payments.paying import OrderKey
from sync_server.checkout.queries import Order
from sync_server.checkout.rules import REFUNDABLE, OrderState
from sync_server.events import queries as events
from sync_server.events import service as event_service
from sync_server.events.lifecycle import status
from sync_server.outbox.service import Fact, Subject, record_change
from sync_server.plumbing.event_key import EventKey
from sync_server.plumbing.requests.principals import ActionContext
from sync_server.plumbing.waking import wake

REFUND: Final = "cancellations.refund"
"""The job that carries them out."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the organiser has confirmed."""

    choice: Choice
    orders: int  # affected, as seen before
    reason: str = ""
    keep_fees: bool = False
    new_date: Millis | None = None
    keep_until: Millis | None = None
    end_others: bool | None = None  # tickets that no order has; None: where orders are refunded


def begin(session: Session, event: EventKey, wanted: Wanted, context: ActionContext) -> CancellationRow:
    """Cancel an event, or give it another date, and say what its buyers get.

    Conflict where other orders are affected than the organiser has seen, or refunds have begun before.
    """
    rules.check_dates(wanted.choice, wanted.new_date, wanted.keep_until, context.now)
    event_service.lock_event(session, *event)
    old = queries.find(session, event, lock=True)
    rules.check_may_begin(old.choice if old else None, old.state if old else None)
    affected = owing.affected(session, event, keep_fees=wanted.keep_fees)
    rules.check_seen(wanted.orders, affected.orders)
    _change_event(session, event, wanted, context)
    row = old or CancellationRow(organisation_id=event.organisation_id, event_id=event.event_id)
    row.choice, row.reason, row.keep_fees = wanted.choice.value, wanted.reason, wanted.keep_fees
    row.orders, row.tickets, row.cents = affected.orders, affected.tickets, affected.cents
    row.new_date, row.keep_until = wanted.new_date, wanted.keep_until
    row.end_others = rules.ends_others(wanted.choice, wanted.end_others)
    row.other_tickets = others.count(session, event) if row.end_others else 0
    row.last_order, row.done_orders, row.failed_orders = None, 0, 0
    row.last_ticket, row.ended_tickets = None, 0
    row.state, row.begun_at, row.finished_at = State.RUNNING.value, context.now, None
    session.add(row)
    session.flush()
    record(session, row, "cancellation_begun", context)
    wake(session, REFUND)
    if wanted.choice is Choice.NOTHING and not row.end_others:
        finish(session, row, context)
    return row


def _change_event(session: Session, event: EventKey, wanted: Wanted, context: ActionContext) -> None:
    current = EventStatus(events.event(session, *event).status)
    target = EventStatus.POSTPONED if wanted.choice is Choice.ANOTHER_DATE else EventStatus.CANCELLED
    if current is not target:
        status.change_status(session, *event, target, context, reason=wanted.reason)
    if wanted.new_date is not None:
        status.reschedule(session, *event, wanted.new_date, context, move_times=True, reason=wanted.reason)


def stop(session: Session, event: EventKey, context: ActionContext) -> CancellationRow:
    """Let no further order be dealt with; stopping again changes nothing."""
    row = _locked(session, event)
    if row.state == State.DONE:
        raise Conflict("Every order has been dealt with.", code="cancellation_done")
    if row.state == State.RUNNING:
        row.state = State.STOPPED.value
        record(session, row, "cancellation_stopped", context)
    return row


def resume(session: Session, event: EventKey, context: ActionContext) -> CancellationRow:
    """Go on, or try those again that failed; resuming what runs changes nothing."""
    row = _locked(session, event)
    if row.state == State.DONE and not row.failed_orders:
        raise Conflict("Every order has been dealt with.", code="cancellation_done")
    if row.state != State.RUNNING:
        if row.state == State.DONE:
            row.last_order, row.last_ticket, row.failed_orders, row.finished_at = None, None, 0, None
        row.state = State.RUNNING.value
        record(session, row, "cancellation_resumed", context)
        wake(session, REFUND)
    return row


def _locked(session: Session, event: EventKey) -> CancellationRow:
    event_service.lock_event(session, *event)
    return queries.cancellation(session, event, lock=True)


def deal_with_some(session: Session, event: EventKey, limit: int, context: ActionContext) -> bool:
    """Refund the next orders, or offer them the date, then end the next tickets that no order has.

    False once there is nothing left, or it was stopped. Where it stands moves in the same transaction: nothing is dealt
    with twice, and nothing is left out.
    """
    row = _locked(session, event)
    if row.state != State.RUNNING:
        return False
    by_system = context.by_system()
    found = _next(session, row, limit)
    offered = _offered(session, row, found)
    for order in found:
        if order.id not in offered:
            _deal_with(session, row, order, by_system)
        row.last_order = order.id
    if len(found) == limit or (row.end_others and not others.end_some(session, row, limit, by_system)):
        return True
    finish(session, row, by_system)
    return False


def _next(session: Session, row: CancellationRow, limit: int) -> Sequence[Order]:
    """The next orders to deal with. What was bought after it had begun, for the new date, is none of them."""
    if row.choice == Choice.NOTHING:
        return []
    event = EventKey(row.organisation_id, row.event_id)
    return owing.refundable_after(session, event, row.last_order, limit, made_by=row.begun_at)


def _offered(session: Session, row: CancellationRow, found: Sequence[Order]) -> set[str]:
    """Those of these orders that have been offered the date: when failed ones are tried again, all are gone through."""
    if row.choice != Choice.ANOTHER_DATE:
        return set()
    ids = [order.id for order in found]
    return dates.offered(session, row.organisation_id, ids, row.new_date, row.begun_at)


def _deal_with(session: Session, row: CancellationRow, order: Order, context: ActionContext) -> None:
    """Refund an order or offer it the date, and count it: nobody has confirmed one that was paid only afterwards."""
    key = OrderKey(row.organisation_id, order.id)
    row.done_orders += 1
    if (order.paid_at or 0) > row.begun_at:
        row.orders, row.tickets = row.orders + 1, row.tickets + order.admissions
        row.cents += order.total_cents - (order.fees_cents if row.keep_fees else 0)
    if row.choice == Choice.REFUND:
        refunding.call_off(
            session, key, context, keep_fees=row.keep_fees, reason=row.reason or "the event is cancelled"
        )
    else:
        dates.record_offer(session, *key, (row.new_date, row.keep_until), context)


def offer_late(session: Session, key: OrderKey, event: EventKey, context: ActionContext) -> None:
    """Offer the other date to an order that was paid after the job had gone past it."""
    if (found := queries.find(session, event)) is None or found.choice != Choice.ANOTHER_DATE:
        return
    row, order = _locked(session, event), orders.order(session, *key)
    passed = row.state == State.DONE or (row.last_order or "") >= order.id
    open_still = row.choice == Choice.ANOTHER_DATE and context.now <= (row.keep_until or 0)
    refundable = order.created_at <= row.begun_at and OrderState(order.state) in REFUNDABLE
    if passed and open_still and refundable and not _offered(session, row, [order]):
        _deal_with(session, row, order, context.by_system())


def skip(session: Session, event: EventKey) -> None:
    """Leave out the next order, which cannot be dealt with: somebody has to look at it, and resume."""
    row = _locked(session, event)
    found = _next(session, row, 1)
    for order in found:
        row.last_order, row.failed_orders = order.id, row.failed_orders + 1
    if not found:
        others.skip(session, row)


def finish(session: Session, row: CancellationRow, context: ActionContext) -> None:
    """Every order has been dealt with."""
    row.state, row.finished_at = State.DONE.value, context.now
    record(session, row, "cancellation_finished", context)


def answer(session: Session, key: OrderKey, event: EventKey, chosen: Answer, context: ActionContext) -> None:
    """A buyer keeps the tickets for the other date, or has the money back; Conflict once the time for it is over."""
    row = offered(session, event, context.now, lock=True)
    standing = session.get(DateAnswerRow, tuple(key)) or DateAnswerRow(organisation_id=key[0], order_id=key[1])
    if standing.answer == chosen.value and standing.new_date == row.new_date:
        return
    refunding.require_refundable(session, key)
    standing.event_id, standing.new_date = row.event_id, row.new_date or 0
    standing.answer, standing.at = chosen.value, context.now
    session.add(standing)
    session.flush()
    dates.record_answer(session, *key, chosen.value, context)
    if chosen is Answer.REFUND:
        refunding.call_off(
            session, key, context.by_system(), keep_fees=row.keep_fees, reason="the new date does not suit"
        )


def offered(session: Session, event: EventKey, now: Millis, *, lock: bool = False) -> CancellationRow:
    """The offer of another date; Conflict where there is none, or its time is over."""
    row = _locked(session, event) if lock else queries.cancellation(session, event)
    if row.choice != Choice.ANOTHER_DATE or row.keep_until is None:
        raise Conflict("No other date is offered for this event.", code="no_other_date")
    if lock and now > row.keep_until:
        raise Conflict("The time to choose is over: the tickets are kept for the new date.", code="choice_over")
    return row


def record(session: Session, row: CancellationRow, name: str, context: ActionContext) -> None:
    """Record what became of it."""
    fields = ("choice", "orders", "done_orders", "failed_orders", "ended_tickets", "cents", "new_date", "keep_until")
    after = {field: getattr(row, field) for field in fields}
    number = events.event(session, row.organisation_id, row.event_id).number
    fact = Fact(name, row.organisation_id, context.now, {"event": row.event_id, "event_number": number}, after)
    record_change(session, context, Subject("event", row.event_id, None, after, row.reason), fact)
