"""Holds that belong to an order: claimed by it, kept until it is paid, and released with it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final, cast

from sqlalchemy import ColumnElement, Executable, Table, case, inspect, select, update
from sqlalchemy.orm import Session

from shared.clock import Millis
from shared.ids import uuid7
from sync_server.events import locked_events
from sync_server.events import queries as events
from sync_server.events.days.chosen_days import dates_of
from sync_server.holds import rules, service
from sync_server.holds.caches.sale_state import SaleState, SaleStates, create_sale_lock, load_sale_state
from sync_server.holds.endings import ending
from sync_server.holds.endings.gone_holds import hold_expired
from sync_server.holds.models import WHOLE_EVENT, HoldRow, HoldStatus
from sync_server.holds.rules import Asked
from sync_server.holds.signals import HoldsMade
from sync_server.holds.taking import places, seats
from sync_server.plumbing.database import database_of
from sync_server.plumbing.event_key import EventKey
from sync_server.plumbing.ports import ports_of
from sync_server.plumbing.requests.principals import ActionContext
from sync_server.plumbing.signals import send
from sync_server.plumbing.sql.asked_together import Question
from sync_server.plumbing.sql.known_rows import known_row
from sync_server.plumbing.sql.prepared import placeholder
from sync_server.plumbing.sql.prepared_changes import PreparedChange
from sync_server.seating.plans.seat_plans import know_plan

Held = HoldRow
"""A hold's row, as orders may read it within their transaction."""

_STATES: Final = "states of the sale of events that this transaction has locked"


def find(session: Session, event: EventKey, ids: Collection[str]) -> list[HoldRow]:
    """The open holds among these, as they are now. Nothing is locked: `claim` and `give_to_order` judge."""
    if not ids:
        return []
    statement, values = asks_found(session, event, ids)
    found = (row._asdict() for row in statement.rows(session, **values))
    return [known_row(session, HoldRow, row | {"days": int(row["days"], 16)}) for row in found]


def asks_found(session: Session, event: EventKey, ids: Collection[str]) -> Question:
    """What `find` asks."""
    among = ending.among(ids, database_of(session).embedded)
    return _FIND, {"organisation": event.organisation_id, "event": event.event_id, "ids": among}


def _find(embedded: bool) -> Executable:
    here = HoldRow.organisation_id == placeholder("organisation"), HoldRow.event_id == placeholder("event")
    columns = cast(Table, HoldRow.__table__).columns
    return select(*columns).where(*here, ending.is_among(embedded), ending.IS_OPEN).order_by(HoldRow.id)


_FIND: Final = PreparedChange(_find)


def require_on_sale(state: SaleState, now: Millis, *, early: bool = False) -> None:
    """The refusals of a hold that come from the event: its status, its sale window, guests who are being moved.

    `early` is for whom a code opens the sale before it begins.
    """
    rules.require(Asked(state.sale, now, early=early))


def known_state(session: Session, organisation_id: str, event_id: str) -> SaleState | None:
    """The same as this process remembers it, if it does; it may have changed since."""
    return ports_of(session, SaleStates).peek(organisation_id, event_id)


def current_state(session: Session, organisation_id: str, event_id: str) -> SaleState:
    """What decides the sale of an event: as this process keeps it, if nothing has changed.

    Where the transaction has locked the event it stays so, and the plan of its seats is known.
    """
    known: dict[str, SaleState] = session.info.setdefault(_STATES, {})
    if event_id in known:
        return known[event_id]
    state = known_state(session, organisation_id, event_id)
    if state is None or not state.is_unchanged(session):
        version = create_sale_lock(session, organisation_id, event_id)
        return load_sale_state(session, organisation_id, event_id, version)
    if locked_events.is_locked(session, organisation_id, event_id):
        known[event_id] = state
    if not state.sale.moving:
        know_plan(session, organisation_id, event_id, state.plan if state.sale.revision else None)
    return state


def require_unordered(session: Session, organisation_id: str, ids: Collection[str]) -> None:
    """Conflict `hold_ordered` where one of these holds belongs to an order, which alone may sell it."""
    here = HoldRow.organisation_id == organisation_id, HoldRow.id.in_(sorted(ids)), HoldRow.order_id.is_not(None)
    found = session.execute(select(HoldRow.id).where(*here).order_by(HoldRow.id)).scalars().all() if ids else []
    if found:
        raise service.belongs_to_order(found)


def claim(
    session: Session,
    event: EventKey,
    ids: Collection[str],
    bearer_id: str | None,
    now: Millis,
    *,
    found: Sequence[HoldRow] | None = None,
    whole: bool = False,
) -> list[HoldRow]:
    """These holds of this bearer (None: of anybody, for the box office).

    Those of places are locked with their counts if they may be split, and always at an event without a layout. Others
    are taken as they were `found`: what changes when they are sold, or given to an order, is the judge. Conflict
    `hold_expired` names those that ran out, are somebody else's or of another event; the others stay held.
    `hold_ordered` names those that belong to an order.
    """
    if found is None or any(hold.seat is None and (not whole or is_of_whole_event(hold)) for hold in found):
        found = _locked(session, event, HoldRow.id.in_(sorted(ids)))
    return claimable(session, event, found, ids, bearer_id, now)


def is_of_whole_event(hold: HoldRow) -> bool:
    """Whether a hold has places of an event without a layout."""
    return hold.seat is None and hold.zone == WHOLE_EVENT


def claimable(  # noqa: PLR0917 - holds, and for whom
    session: Session,
    event: EventKey,
    found: Sequence[HoldRow],
    ids: Collection[str],
    bearer_id: str | None,
    now: Millis,
) -> list[HoldRow]:
    """Those of these holds that were asked for, judged as they were found; the refusals of `claim`."""
    mine = {hold.id: hold for hold in found if bearer_id in {None, hold.bearer_id} and hold.held_until > now}
    if gone := set(ids) - mine.keys():
        raise hold_expired(session, event, gone, bearer_id)
    if ordered := sorted(id for id, hold in mine.items() if hold.order_id is not None):
        raise service.belongs_to_order(ordered)
    return sorted(mine.values(), key=lambda hold: (hold.zone, hold.seat or 0, hold.id))


def give_to_order(
    session: Session, holds: Sequence[HoldRow], order_id: str, context: ActionContext, *, until: Millis
) -> None:
    """Let these claimed holds belong to an order, and last as long as it; Conflict where one has just ended.

    First the seats, then the holds, as everybody changes them: two requests that order the same hold meet there.
    """
    if not holds:
        return
    _keep_seats(session, holds, until)
    row, as_found = HoldRow, {(hold.id, hold.quantity) for hold in holds}
    mine = row.organisation_id == holds[0].organisation_id, row.id.in_(sorted(hold.id for hold in holds))
    free = ending.IS_OPEN, row.order_id.is_(None), row.held_until > context.now
    longer = case((row.held_until < until, until), else_=row.held_until)
    change = update(row).where(*mine, *free).values(order_id=order_id, held_until=longer, updated_at=context.now)
    once = {"synchronize_session": False, "populate_existing": True}
    given = session.execute(change.returning(row), execution_options=once).scalars().all()
    if gone := as_found - {(hold.id, hold.quantity) for hold in given}:
        raise hold_expired(session, EventKey(holds[0].organisation_id, holds[0].event_id), {id for id, _ in gone})
    send(session, HoldsMade(given, context.now))


def _keep_seats(session: Session, holds: Sequence[HoldRow], until: Millis) -> None:
    """Let the holds keep their seats until then, or longer if they last longer."""
    lasting: dict[Millis, dict[int, str]] = {}
    for hold in holds:
        if hold.seat is not None:
            lasting.setdefault(max(hold.held_until, until), {})[hold.seat] = hold.id
    for moment, theirs in sorted(lasting.items()):
        seats.extend_all(session, holds[0].organisation_id, holds[0].event_id, theirs, until=moment)


def extend(session: Session, holds: Sequence[HoldRow], now: Millis, *, until: Millis) -> None:
    """Let holds of an order last until then, if they do not last longer already."""
    for hold in holds:
        hold.held_until, hold.updated_at = max(hold.held_until, until), now
    session.flush()
    _keep_seats(session, holds, until)
    if holds:
        send(session, HoldsMade(holds, now))


def keep_until(session: Session, event: EventKey, ids: Collection[str], now: Millis, *, until: Millis) -> None:
    """Let these holds, which were made in this transaction, last until then."""
    extend(session, _locked(session, event, HoldRow.id.in_(sorted(ids))), now, until=until)


def hand_over(
    session: Session, event: EventKey, giver_id: str, bearer: tuple[str, str], now: Millis, *, until: Millis
) -> list[HoldRow]:
    """Give all that one bearer holds at an event to another, by kind and id, until then at least."""
    found = _locked(session, event, HoldRow.bearer_id == giver_id)
    open_holds = [hold for hold in found if hold.held_until > now]
    for hold in open_holds:
        hold.bearer_kind, hold.bearer_id = bearer
    extend(session, open_holds, now, until=until)
    return open_holds


def give_back(session: Session, event: EventKey, event_number: int, bearer_id: str, context: ActionContext) -> int:
    """Release all that a bearer holds at an event; returns how many seats and places that is."""
    held = _locked(session, event, HoldRow.bearer_id == bearer_id)
    dates = dates_of(events.event(session, *event))
    service.release_all(session, held, dates)
    ending.end(session, event_number, held, HoldStatus.CANCELLED, context, dates=dates, reason="given up")
    return sum(hold.quantity for hold in held)


def split(session: Session, hold: HoldRow, quantity: int, context: ActionContext) -> HoldRow:
    """Take this many places out of a claimed hold, into one of its own."""
    columns = {column.key: getattr(hold, column.key) for column in inspect(HoldRow).column_attrs}
    hold.quantity, hold.updated_at = hold.quantity - quantity, context.now
    made = HoldRow(**columns | {"id": uuid7(context.now, context.entropy), "quantity": quantity})
    session.add(made)
    session.flush()
    return made


def of_order(session: Session, event: EventKey, order_id: str, now: Millis) -> list[HoldRow]:
    """The holds that an order still has; overdue ones are left out. Nothing is locked: whoever sells them judges."""
    mine = event.of(HoldRow), HoldRow.order_id == order_id, HoldRow.held_until > now, ending.IS_OPEN
    wanted = select(HoldRow).where(*mine).order_by(HoldRow.id).execution_options(populate_existing=True)
    return list(session.execute(wanted).scalars())


def locked_of_order(session: Session, event: EventKey, order_id: str, now: Millis) -> list[HoldRow]:
    """The holds that an order still has, locked with their seats and places; overdue ones are left out."""
    found = _locked(session, event, HoldRow.order_id == order_id)
    return [hold for hold in found if hold.held_until > now]


def release(session: Session, event: EventKey, event_number: int, order_id: str, context: ActionContext) -> None:
    """Release whatever an order still holds."""
    held = _locked(session, event, HoldRow.order_id == order_id)
    dates = dates_of(events.event(session, *event))
    service.release_all(session, held, dates)
    for status, ended in (
        (HoldStatus.CANCELLED, [hold for hold in held if hold.held_until > context.now]),
        (HoldStatus.EXPIRED, [hold for hold in held if hold.held_until <= context.now]),
    ):
        ending.end(session, event_number, ended, status, context, dates=dates, reason="the order has ended")


def _locked(session: Session, event: EventKey, which: ColumnElement[bool]) -> list[HoldRow]:
    """The open holds among these; in the order of all locks: seats, places, holds."""
    wanted = select(HoldRow.id, HoldRow.seat, HoldRow.zone).where(event.of(HoldRow), which)
    found = session.execute(wanted).all()
    seats.locked(session, *event, [row.seat for row in found if row.seat is not None])
    for zone in sorted({row.zone for row in found if row.seat is None}):
        places.locked(session, *event, zone)
    return ending.open_holds(session, event.organisation_id, [row.id for row in found])
