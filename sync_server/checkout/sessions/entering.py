"""Opens a guest's checkout session, continues it after a lost connection, and ends it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from shared.clock import Millis
from shared.errors import NotFound
from shared.ids import uuid7
from sync_server.checkout.models import CheckoutLimitRow, CheckoutSessionRow, OrderRow
from sync_server.checkout.rules import Channel
from sync_server.checkout.sessions import queries, rules
from sync_server.checkout.sessions.counters import count
from sync_server.checkout.sessions.queries import Visit
from sync_server.checkout.sessions.rules import SessionState
from sync_server.plumbing.event_key import EventKey
from sync_server.plumbing.requests.principals import ActionContext
from sync_server.plumbing.sql import writes
from sync_server.plumbing.sql.asked_together import Question
from sync_server.plumbing.sql.bulk import insert_rows
from sync_server.plumbing.sql.prepared import placeholder
from sync_server.plumbing.sql.prepared_changes import PreparedChange
from sync_server.queueing import queries as queueing
from sync_server.queueing import wiring as queue

Row = CheckoutSessionRow
_LIMIT: Final = PreparedChange(
    lambda _: (
        select(CheckoutLimitRow.sessions)
        .where(
            CheckoutLimitRow.organisation_id == placeholder("organisation"),
            CheckoutLimitRow.event_id == placeholder("event"),
        )
        .with_for_update()
    )
)


@dataclass(frozen=True, slots=True)
class Entered:
    """The session of somebody who is in the checkout."""

    session: CheckoutSessionRow
    opened: bool  # just now; else it goes on


def enter(
    session: Session,
    visit: Visit,
    context: ActionContext,
    *,
    tab: str = "",
    early: bool = False,
    queued: bool | None = None,
) -> Entered:
    """Open a session, or go on with the one that is open; the refusals of `find_slot`."""
    entered = find_slot(session, visit, context, tab=tab, early=early, queued=queued)
    open_slot(session, entered)
    return entered


def open_slot(session: Session, entered: Entered) -> None:
    """Write a session that has just found its slot."""
    if entered.opened:
        insert_rows(session, Row, [entered.session])
        count(session, "opened")


def pass_through(session: Session, entered: Entered, now: Millis) -> None:
    """Write a session that has found its slot and is paid at once; or end the one that was open."""
    row = entered.session
    row.state, row.ended_at = SessionState.PAID.value, now
    if entered.opened:
        insert_rows(session, Row, [row])
        count(session, "opened")
    session.flush()
    count(session, row.state)


def find_slot(
    session: Session,
    visit: Visit,
    context: ActionContext,
    *,
    tab: str = "",
    early: bool = False,
    queued: bool | None = None,
) -> Entered:
    """The open session of this guest, or a free slot for one that is not written yet.

    No other session of the event opens before the transaction ends. `queued` says whether the event has a queue.

    `checkout_full` where all slots are taken; the refusals of a pass where the event has a queue, but for whom a code
    lets in `early`: nobody queues then.
    """
    limit = _lock_limit(session, visit.event)
    with_slots = queries.slots(session, visit.event)
    open_ones = [each for each in with_slots if each.expires_at > context.now]
    if any(each.bearer_id == visit.bearer_id for each in open_ones):
        return Entered(required(queries.open_session(session, visit, context.now)), opened=False)
    if not early and (queueing.is_queued(session, *visit.event) if queued is None else queued):
        _require_turn(session, visit, tab, context.now)
    if len(open_ones) < len(with_slots):
        expire(session, visit.event, context.now)
    slot = rules.lowest_free({each.slot for each in open_ones}, limit)
    if slot is None:
        count(session, "full")
        raise rules.full(limit, min(each.expires_at for each in open_ones), context.now)
    row = Row(
        organisation_id=visit.event.organisation_id,
        event_id=visit.event.event_id,
        id=uuid7(context.now, context.entropy),
        bearer_kind=visit.bearer_kind,
        bearer_id=visit.bearer_id,
        slot=slot,
        state=SessionState.OPEN.value,
        opened_at=context.now,
        expires_at=context.now + rules.SESSION_MS,
        ended_at=None,
    )
    return Entered(row, opened=True)


def _require_turn(session: Session, visit: Visit, tab: str, now: Millis) -> None:
    """The pass of the event's queue opens the checkout, as it opens the seats."""
    refused = queue.refusal(session, *visit.event, visit.bearer_id, tab, now)
    if refused is not None:
        raise refused


def _lock_limit(session: Session, event: EventKey) -> int:
    """The limit; sessions of the event are opened one after another until the transaction ends."""
    found = {"organisation_id": event.organisation_id, "event_id": event.event_id}
    made = writes.insert(session, CheckoutLimitRow).values(**found, sessions=rules.DEFAULT_LIMIT)
    here = _of(event)
    while not (limits := _LIMIT.rows(session, **here)):
        session.execute(made.on_conflict_do_nothing())
    return int(limits[0].sessions)


def _of(event: EventKey) -> dict[str, Any]:
    return {"organisation": event.organisation_id, "event": event.event_id}


def asks_slot(event: EventKey) -> Sequence[Question]:
    """What `find_slot` asks first."""
    return (_LIMIT, _of(event)), queries.asks_slots(event)


def expire(session: Session, event: EventKey, now: Millis) -> int:
    """Free the slots of sessions that have run out; returns how many."""
    over = Row.state == SessionState.OPEN.value, Row.expires_at <= now
    return _end(session, SessionState.EXPIRED, now, event.of(Row), *over)


def close(session: Session, visit: Visit, state: SessionState, now: Millis) -> bool:
    """Free the slot of somebody who has paid or left; whether there was any."""
    return bool(_end(session, state, now, visit.event.of(Row), Row.bearer_id == visit.bearer_id))


def close_of(session: Session, order: OrderRow, state: SessionState, now: Millis) -> None:
    """Free the slot of the guest who made this order in the shop."""
    if order.channel == Channel.SHOP and order.bearer_kind not in rules.BOX_OFFICE:
        close(session, Visit(order.event, order.bearer_kind, order.bearer_id), state, now)


def _end(session: Session, state: SessionState, now: Millis, *which: object) -> int:
    ended = update(Row).where(Row.state == SessionState.OPEN.value, *which)  # type: ignore[arg-type]
    ended = ended.values(state=state.value, ended_at=now).execution_options(synchronize_session=False)
    number = len(session.execute(ended.returning(Row.slot)).all())
    if number:
        count(session, state.value, number)
    return number


def required(row: CheckoutSessionRow | None) -> CheckoutSessionRow:
    """The session; NotFound where there is none that is open."""
    if row is None:
        raise NotFound(
            "You are not in the checkout, or your time there is over. Enter it again to pay.",
            code="no_checkout_session",
        )
    return row
