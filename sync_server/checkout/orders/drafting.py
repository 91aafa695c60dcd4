"""Drafts orders: checks everything anew, and computes every price. Whoever asked for it writes it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy.orm import Session

from shared.clock import Millis
from shared.errors import InvalidRequest
from sync_server.checkout.codes import presales, spending
from sync_server.checkout.codes.spending import Redeemed
from sync_server.checkout.models import OrderLineRow, OrderRow
from sync_server.checkout.orders import composing
from sync_server.checkout.orders.order_request import OrderRequest
from sync_server.checkout.orders.parcels import Buyers, PlannedParcel
from sync_server.checkout.orders.rehearsing import Rehearsed, rehearse
from sync_server.checkout.sessions import entering
from sync_server.checkout.sessions.entering import Entered
from sync_server.checkout.settings import asks_order_minutes, order_minutes
from sync_server.customers import queries as customers
from sync_server.events.queries import EventHead
from sync_server.holds import ordering
from sync_server.holds.caches.sale_state import SaleState
from sync_server.holds.ordering import Held
from sync_server.plumbing.requests.principals import ActionContext
from sync_server.plumbing.sealing import Sealer
from sync_server.plumbing.sql.asked_together import Question, asked_together
from sync_server.seating import event_layouts
from sync_server.seating import queries as seating
from sync_server.tickets.issuance import issuing
from sync_server.tickets.queries import TicketType

MINUTE_MS = 60_000


@dataclass(frozen=True, slots=True)
class Draft:
    """An order that was checked and priced under the lock of its event; nothing of it is written yet."""

    request: OrderRequest
    event: EventHead
    queued: bool  # whether the event has a queue
    order: OrderRow  # without its number
    lines: Sequence[OrderLineRow]
    types: Mapping[int, TicketType]  # of the lines
    holds: Sequence[Held]  # which it takes over
    planned: Sequence[PlannedParcel]  # its tickets
    redeemed: Redeemed
    buyers: Buyers
    entered: Entered | None  # its checkout session, where it needs one


def draft(session: Session, sealer: Sealer, request: OrderRequest, context: ActionContext) -> Draft:
    """Check everything, and price it.

    Refused are holds that ran out (`hold_expired`), an event or ticket type that is not on sale, and whatever issuing
    the tickets would refuse, but for quantities: those are judged when they are taken.
    """
    where, ids = request.organisation_id, [each.hold_id for each in request.chosen if each.hold_id is not None]
    if len(set(ids)) < len(ids):
        raise InvalidRequest("holds: a hold is listed twice.", field="holds")
    with asked_together(session, *_before_the_lock(session, request, ids, context.now)):
        found = ordering.find(session, request.visit.event, ids)
        cards, signed_in = {hold.membership_id or "" for hold in found}, request.bearer_kind != "guest"
        who = session, where, sealer, context.now, request.access
        buyers = Buyers.resolve(*who, memberships=cards, signed_in=signed_in)
        customer_id = _customer(session, request, context.now)
        minutes = order_minutes(session, where)
        rehearsed = _rehearse(session, request, buyers, found, context)
    asks_lock = rehearsed.asks_lock() if rehearsed else ()
    with asked_together(session, *asks_lock, *_behind_the_lock(session, request)):
        unchanged = rehearsed is not None and rehearsed.lock(session)
        state = ordering.current_state(session, where, request.event_id)
        event = issuing.lock(session, where, request.event_id)
        redeemed = spending.redeem(session, sealer, event.key, request.codes, context.now)
        early = bool(redeemed.opened_early) and presales.is_to_begin(session, event.key, context.now)
        entered = _enter(session, request, state, context, early=early)
    bearer = request.bearer_id if request.in_shop else None
    stands = rehearsed is not None and unchanged and state is rehearsed.state
    holds = ordering.claim(session, event.key, ids, bearer, context.now, found=found, whole=stands)
    if rehearsed is not None and stands and rehearsed.is_of(holds):
        composed = rehearsed.composed
    else:
        given = session, event, request, buyers, holds, context
        composed = composing.compose(*given, redeemed=redeemed, early=early)
    order, lines = composed.order, composed.lines
    order.customer_id, order.expires_at = customer_id, context.now + minutes * MINUTE_MS
    parts, planned = {line.hold_id for line in lines if line.hold_id is not None}, composed.planned
    if parts != {hold.id for hold in holds}:  # some were split
        holds = ordering.claim(session, event.key, parts, bearer, context.now)
        planned = composing.planned(session, event, lines, buyers, holds, context)
    return Draft(
        request,
        event,
        state.queued,
        order,
        lines,
        {number: composed.types[number] for number in sorted({line.ticket_type for line in lines})},
        holds,
        planned,
        redeemed,
        buyers,
        entered,
    )


def _rehearse(
    session: Session, request: OrderRequest, buyers: Buyers, found: Sequence[Held], context: ActionContext
) -> Rehearsed | None:
    """The order as far as it can be composed before the event is locked; where it cannot, lock it now."""
    event_layouts.require_not_moving(session, request.organisation_id, request.event_id)
    rehearsed = rehearse(session, request, buyers, found, context)
    if rehearsed is None:
        issuing.lock_alone(session, request.organisation_id, request.event_id)
    return rehearsed


def _enter(
    session: Session, request: OrderRequest, state: SaleState, context: ActionContext, *, early: bool
) -> Entered | None:
    """The checkout session of the buyer, where one is needed; the refusals of the shop for the whole event."""
    if request.in_shop:
        ordering.require_on_sale(state, context.now, early=early)
    if not request.needs_slot:
        return None
    return entering.find_slot(session, request.visit, context, tab=request.tab, early=early, queued=state.queued)


def _before_the_lock(session: Session, request: OrderRequest, ids: Sequence[str], now: Millis) -> Iterable[Question]:
    """What is asked before the event is locked."""
    where = request.organisation_id
    if ids:
        yield ordering.asks_found(session, request.visit.event, ids)
    if request.bearer_kind == "guest":
        yield customers.asks_customer(where, request.bearer_id, now)
    yield asks_order_minutes(where)
    yield seating.asks_moving(where, request.event_id)


def _behind_the_lock(session: Session, request: OrderRequest) -> Iterable[Question]:
    """What is asked of an event that was just locked."""
    state = ordering.known_state(session, request.organisation_id, request.event_id)
    if state is not None:
        yield state.asks_unchanged()
    if request.needs_slot:
        yield from entering.asks_slot(request.visit.event)


def _customer(session: Session, request: OrderRequest, now: Millis) -> str | None:
    """The customer who is signed in in the guest's browser."""
    if request.bearer_kind != "guest":
        return None
    return customers.customer_of_guest(session, request.organisation_id, request.bearer_id, now)
