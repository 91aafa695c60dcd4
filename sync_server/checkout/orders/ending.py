"""Ends orders that are not paid: cancelled by somebody, or expired. Everything they kept is free again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from sqlalchemy import ColumnElement, case, select, text, update
from sqlalchemy.orm import Session

from shared.clock import Millis
from shared.lifecycle import OVER, EventStatus
from shared.wire.snapshot import TicketState
from sync_server.checkout import queries
from sync_server.checkout.codes import spending
from sync_server.checkout.models import OrderRow
from sync_server.checkout.money import amounts as money
from sync_server.checkout.money import ledger
from sync_server.checkout.orders import fulfilling, recording
from sync_server.checkout.orders.locking import lock_order
from sync_server.checkout.rules import LineState, OrderState, require_transition
from sync_server.events import queries as events
from sync_server.events.signals import EventChanged, EventStatusChanged
from sync_server.holds import ordering
from sync_server.plumbing.due import next_due, organisations_due
from sync_server.plumbing.jobs import MORE, Job
from sync_server.plumbing.requests.principals import ActionContext
from sync_server.plumbing.waking import wake
from sync_server.seating import queries as seating
from sync_server.tickets import queries as tickets
from sync_server.tickets import service as ticket_service

EXPIRE: Final = "checkout.expire"
BATCH_SIZE: Final = 50
NEVER: Final[Millis] = 253_402_300_799_000
"""`expires_at` while the order's event is postponed without a date."""
MIN_REMAINING_MS: Final = 60_000
"""An order lasts a minute at least once its event has a new date; its holds do, too."""
_PENDING: Final = OrderRow.state == text("'pending'")
"""As literal text, to match the partial index."""


def end(session: Session, order: OrderRow, state: OrderState, context: ActionContext, *, reason: str = "") -> None:
    """End an order that is not paid; it is locked together with its event. Conflict for one that is no longer open."""
    require_transition(OrderState(order.state), state)
    lines = queries.lines(session, order.organisation_id, order.id)
    fulfilling.end_reservations(session, order, lines)
    issued = [line for line in lines if line.state == LineState.ISSUED.value]
    _cancel_unpaid(session, order, [line.ticket_id for line in issued if line.ticket_id], context)
    number = events.event(session, order.organisation_id, order.event_id).number
    ordering.release(session, order.event, number, order.id, context)
    spending.give_back(session, order, context.now)
    for line in lines:
        line.state = LineState.RELEASED.value
    ledger.reverse(session, order, money.amounts_of(lines), context)
    order.state, order.remaining_ms, order.updated_at = state.value, None, context.now
    order.reason = reason or order.reason
    session.flush()
    name = "order_expired" if state is OrderState.EXPIRED else "order_cancelled"
    recording.record_order(session, order, number, name, context, reason=order.reason)


def _cancel_unpaid(session: Session, order: OrderRow, ids: list[int], context: ActionContext) -> None:
    for id, row in sorted(tickets.tickets_by_id(session, order.organisation_id, ids).items()):
        if row.state != TicketState.CANCELLED:
            ticket_service.cancel(session, order.organisation_id, id, context, reason="the order was not paid")


def job() -> Job:
    """Ends orders whose time is over; several workers may do it at once."""
    return Job(
        EXPIRE,
        5_000,
        _expire_some,
        lambda session, _now: next_due(session, OrderRow.expires_at, _PENDING),
    )


def _due(now: Millis) -> tuple[ColumnElement[bool], ...]:
    return _PENDING, OrderRow.expires_at <= now


def _expire_some(session: Session, context: ActionContext) -> object:
    """End a batch, event by event: events are locked in one order, so that nobody deadlocks."""
    done, by_system = 0, context.by_system()
    for organisation_id in organisations_due(session, OrderRow.organisation_id, *_due(context.now)):
        wanted = select(OrderRow.event_id, OrderRow.id).where(
            OrderRow.organisation_id == organisation_id, *_due(context.now)
        )
        found = session.execute(wanted.order_by(OrderRow.expires_at).limit(BATCH_SIZE - done)).all()
        for event_id, order_id in sorted((row.event_id, row.id) for row in found):
            if not seating.guests_moving(session, organisation_id, event_id):
                done += _expire(session, organisation_id, order_id, by_system)
        if done >= BATCH_SIZE:
            return MORE
    return None


def _expire(session: Session, organisation_id: str, order_id: str, context: ActionContext) -> bool:
    order = lock_order(session, organisation_id, order_id)
    if order.state != OrderState.PENDING.value or order.expires_at > context.now:
        return False  # paid, ended by another worker, or prolonged meanwhile
    end(session, order, OrderState.CANCELLED if order.reason else OrderState.EXPIRED, context)
    return True


def on_status_changed(session: Session, event: EventStatusChanged) -> None:
    """Orders of an event that is over end soon, by the job; those of a postponed one wait for its new date."""
    if event.status.value in OVER:
        reason = "the event was cancelled" if event.status is EventStatus.CANCELLED else "the event is over"
        over = {"expires_at": event.context.now, "remaining_ms": None, "reason": reason}
        _change(session, event, OrderRow.expires_at > event.context.now, over)
        wake(session, EXPIRE)
    elif event.status is EventStatus.POSTPONED:
        left = OrderRow.expires_at - event.context.now
        waiting = {"remaining_ms": left, "expires_at": NEVER}
        _change(session, event, OrderRow.expires_at > event.context.now, waiting)
    else:
        _resume(session, event)


def on_changed(session: Session, event: EventChanged) -> None:
    """A postponed event may have its new date."""
    row = events.event(session, event.organisation_id, event.event_id)
    if row.status != EventStatus.POSTPONED.value or row.rescheduled_at is not None:
        _resume(session, event)


def _resume(session: Session, event: EventChanged | EventStatusChanged) -> None:
    left = case((OrderRow.remaining_ms > MIN_REMAINING_MS, OrderRow.remaining_ms), else_=MIN_REMAINING_MS)
    values = {"expires_at": event.context.now + left, "remaining_ms": None}
    _change(session, event, OrderRow.remaining_ms.is_not(None), values)


def _change(
    session: Session, event: EventChanged | EventStatusChanged, which: ColumnElement[bool], values: Mapping[str, object]
) -> None:
    """Change the pending orders of the event, whose row is locked, and with it theirs."""
    here = OrderRow.organisation_id == event.organisation_id, OrderRow.event_id == event.event_id, _PENDING, which
    session.execute(update(OrderRow).where(*here).values(values).execution_options(synchronize_session=False))
