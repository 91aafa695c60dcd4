"""Holds several seats or places at once, all or nothing; releases and extends holds.

A single seat is held by the one statement of `reserve`; `rules` judges both.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy.orm import Session

from shared.clock import Millis
from shared.errors import Conflict, GatehouseError
from shared.ids import uuid7
from sync_server.events import queries as events
from sync_server.events.days import chosen_days
from sync_server.events.days.chosen_days import ChosenDays, dates_of
from sync_server.holds import queries, rules
from sync_server.holds.attempts.evidence import RequestedItems, gather
from sync_server.holds.attempts.hold_request import HoldRequest, HoldResult
from sync_server.holds.attempts.retrying import Lost, StaleSaleState
from sync_server.holds.caches.sale_state import SaleState
from sync_server.holds.endings import ending
from sync_server.holds.models import HoldRow, HoldStatus
from sync_server.holds.rules import Asked, Outcome
from sync_server.holds.selling import inventory
from sync_server.holds.signals import HoldsMade
from sync_server.holds.taking import places, seats
from sync_server.holds.taking.places import ZoneDays
from sync_server.outbox.service import Fact, Subject, record_change
from sync_server.plumbing.requests.addresses import tells_apart, within
from sync_server.plumbing.requests.principals import ActionContext
from sync_server.plumbing.signals import send
from sync_server.seating.plans.layout_seats import Seat
from sync_server.seating.plans.seat_plans import find_event_plan
from sync_server.seating.rules import Policy


def limits_of(sale_state: SaleState, request: HoldRequest) -> rules.Limits:
    """How much this bearer may hold at the event."""
    if request.override:
        return rules.UNLIMITED
    policy = sale_state.policy
    booking = policy.max_seats_per_booking
    per_address = None if _is_exempt(policy, request.address) else policy.max_holds_per_ip
    if per_address is not None and sale_state.capacity:  # never more than half of a small event, but always one booking
        per_address = min(per_address, max(booking, sale_state.capacity // 2))
    per_card = policy.max_holds_per_membership if request.card else None
    # The rate allows at least one full booking.
    return rules.Limits(booking, policy.max_holds_per_user, per_address, per_card, max(rules.RATE, booking or 0))


def _is_exempt(policy: Policy, address: str) -> bool:
    return not tells_apart(address) or within(address, policy.exempt_networks)


def values_to_judge(
    sale_state: SaleState, request: HoldRequest, limits: rules.Limits, count: int = 1
) -> dict[str, Any]:
    """The parameters by which a statement judges a hold of so many seats."""

    def before_this(limit: int | None) -> int:
        """What the bearer may have at most besides one of these seats."""
        return -1 if limit is None else max(0, limit - count + 1)

    return {
        **sale_state.values(),
        **request.values(),
        "rate": before_this(limits.rate),
        "per_booking": before_this(limits.per_booking),
        "per_user": before_this(limits.per_user),
        "per_address": before_this(limits.per_address),
        "per_card": before_this(limits.per_card),
    }


def days_of(sale_state: SaleState, request: HoldRequest) -> ChosenDays:
    """The days that are asked for; InvalidRequest for one that is no day of the event."""
    return chosen_days.choose(sale_state.dates, request.dates)


def asked(
    sale_state: SaleState,
    request: HoldRequest,
    chosen: Sequence[Seat] = (),
    closed: GatehouseError | None = None,
) -> Asked:
    """The request for these seats, as `rules` judges it; `closed` is why a zone is closed to the bearer."""
    blocked = {seat.id: seat.name for seat in chosen if seat.number in sale_state.plan.blocked}
    limits = limits_of(sale_state, request)
    several = len(chosen) > 1
    return Asked(
        sale_state.sale, request.now, limits, several=several, blocked=blocked, closed=closed, early=request.early
    )


def hold(session: Session, sale_state: SaleState, request: HoldRequest, items: RequestedItems) -> list[HoldResult]:
    """Hold all of it; seats that this bearer holds already are returned as they are.

    StaleSaleState where the event has changed since `sale_state` was loaded, Lost where somebody was quicker; else the
    refusals of `rules`.
    """
    wanted = asked(sale_state, request, items.seats)
    gathered = gather(session, sale_state, request, items, wanted.limits)
    if rules.require(wanted, gathered.evidence) is Outcome.RELOAD:
        raise StaleSaleState
    inventory.end_overdue_seats(session, sale_state, gathered.overdue, request.context)
    made = _new_rows(sale_state, request, gathered.new, items)
    _take(session, sale_state, request, made, items)
    here = gathered.mine
    held_before = [
        result_of(sale_state, here[seat.number], seat, created=False) for seat in items.seats if seat.number in here
    ]
    by_seat = {seat.number: seat for seat in gathered.new}
    return held_before + [result_of(sale_state, row, by_seat.get(row.seat or 0)) for row in made]


def _new_rows(sale_state: SaleState, request: HoldRequest, new: Sequence[Seat], items: RequestedItems) -> list[HoldRow]:
    context, group_id = request.context, None
    if len(new) + bool(items.count) > 1:
        group_id = uuid7(context.now, context.entropy)

    def row(kind: str, zone: int, quantity: int, seat: int | None) -> HoldRow:
        return HoldRow(
            id=uuid7(context.now, context.entropy),
            organisation_id=sale_state.organisation_id,
            event_id=sale_state.id,
            days=items.days.bits,
            kind=kind,
            seat=seat,
            zone=zone,
            quantity=quantity,
            bearer_kind=request.kind,
            bearer_id=request.id,
            group_id=group_id,
            status=HoldStatus.ACTIVE.value,
            held_until=expires_at(sale_state, context.now),
            source=request.source,
            notes=request.notes,
            origin=address_hash(limits_of(sale_state, request), request),
            membership_id=request.card,
            extended=0,
            created_at=context.now,
            updated_at=context.now,
        )

    places_held = [row("places", items.zone, items.count, None)] if items.count else []
    return [row("seat", seat.zone, 1, seat.number) for seat in new] + places_held


def expires_at(sale_state: SaleState, now: Millis) -> Millis:
    """When a hold made now runs out."""
    return now + rules.ttl_ms(sale_state.policy.default_hold_ttl_minutes)


def address_hash(limits: rules.Limits, request: HoldRequest) -> str | None:
    """The hashed client address, only where holds are limited by it."""
    return request.origin if limits.per_address is not None else None


def _take(
    session: Session, sale_state: SaleState, request: HoldRequest, made: Sequence[HoldRow], items: RequestedItems
) -> None:
    days = items.days.numbers
    wanted = {(row.seat, day): row.id for row in made if row.seat is not None for day in days}
    ends = expires_at(sale_state, request.now)
    held = seats.hold(session, sale_state.organisation_id, sale_state.id, wanted, until=ends, now=request.now)
    if len(held) < len(wanted):
        raise Lost
    if items.count:
        _take_places(session, sale_state, request.context, items)
    session.add_all(made)
    session.flush()
    ids = {seat.number: seat.id for seat in items.seats}
    for row in made:
        seat_id = None if row.seat is None else ids[row.seat]
        _record(session, sale_state, row, request.context, "seat_held", seat_id=seat_id)
    send(session, HoldsMade(made, request.now))


def _take_places(session: Session, sale_state: SaleState, context: ActionContext, items: RequestedItems) -> None:
    where = ZoneDays(sale_state.organisation_id, sale_state.id, items.zone, items.days)

    def try_to_hold() -> bool:
        return places.hold(session, where, items.count, capacity=items.capacity)

    if try_to_hold():
        return
    freed = inventory.end_overdue_places(session, sale_state, items.zone, context)
    if not freed or not try_to_hold():
        raise Lost


def _record(
    session: Session,
    sale_state: SaleState,
    row: HoldRow,
    context: ActionContext,
    name: str,
    **extra: str | None,
) -> None:
    after = {
        "status": row.status,
        "event_id": row.event_id,
        "seat": row.seat,
        "zone": row.zone,
        "quantity": row.quantity,
        "held_until": row.held_until,
        **ending.on_days(row, sale_state.dates),
        "source": row.source,
    }
    after["seat"] = ending.seat_in_words(session, row)
    subjects = ending.subjects_of(row, sale_state.number)
    payload = ending.payload_of(row, sale_state.dates) | extra
    fact = Fact(name, row.organisation_id, context.now, subjects, payload)
    record_change(session, context, Subject("hold", row.id, None, after), fact)


def result_of(sale_state: SaleState, row: HoldRow, seat: Seat | None, *, created: bool = True) -> HoldResult:
    """A hold as its bearer sees it."""
    zone, days = sale_state.plan.zones.get(row.zone), ChosenDays(sale_state.dates, row.days)
    what = row.id, sale_state.id, seat, row.zone, zone.name if zone is not None else "", row.quantity
    return HoldResult(*what, row.held_until, days, created, row.group_id)


def release(
    session: Session, organisation_id: str, hold_id: str, bearer_id: str | None, context: ActionContext
) -> HoldRow:
    """Release a hold; releasing it again changes nothing. Conflict for one that was bought."""
    row = queries.hold(session, organisation_id, bearer_id, hold_id)
    event = events.event(session, organisation_id, row.event_id)
    open_hold = _locked(session, row)
    if open_hold is None:
        if row.status == HoldStatus.CONVERTED.value:
            raise Conflict("This hold was bought and cannot be released.", code="hold_converted")
        return row
    _require_no_order(open_hold)
    dates = dates_of(event)
    release_all(session, [open_hold], dates)
    status = HoldStatus.CANCELLED if open_hold.held_until > context.now else HoldStatus.EXPIRED
    ending.end(session, event.number, [open_hold], status, context, dates=dates, reason="given up")
    return open_hold


def _require_no_order(hold: HoldRow) -> None:
    if hold.order_id is not None:
        raise belongs_to_order([hold.id])


def belongs_to_order(ids: Sequence[str]) -> Conflict:
    """What to say about holds that only their order may sell, extend or release."""
    return Conflict(
        "These seats belong to an order. Pay or cancel the order: its seats are sold or released with it.",
        code="hold_ordered",
        holds=list(ids[:500]),
    )


def _locked(session: Session, row: HoldRow) -> HoldRow | None:
    """The hold if it has not ended, locked after its seat or places."""
    if row.seat is not None:
        seats.locked(session, row.organisation_id, row.event_id, [row.seat])
    else:
        places.locked(session, row.organisation_id, row.event_id, row.zone)
    return next(iter(ending.open_holds(session, row.organisation_id, [row.id])), None)


def _places_of(row: HoldRow, dates: tuple[str, ...]) -> ZoneDays:
    return ZoneDays(row.organisation_id, row.event_id, row.zone, ChosenDays(dates, row.days))


def release_all(session: Session, holds: Sequence[HoldRow], dates: tuple[str, ...]) -> None:
    """Free the seats and places of these open holds of one event, with these days.

    The caller ends the holds in the same transaction.
    """
    for row in holds:
        if row.seat is None:
            places.release(session, _places_of(row, dates), row.quantity)
    held = [(row.seat, row.id) for row in holds if row.seat is not None]
    if held:
        seats.release(session, holds[0].organisation_id, holds[0].event_id, held)


def end_together(session: Session, holds: Sequence[HoldRow], context: ActionContext, *, reason: str) -> None:
    """End open holds of one event, with one audit line and one fact for all of them."""
    if not holds:
        return
    organisation_id, event_id = holds[0].organisation_id, holds[0].event_id
    event = events.event(session, organisation_id, event_id)
    release_all(session, holds, dates_of(event))
    ending.close(session, holds, HoldStatus.CANCELLED, context)
    numbers = sorted(hold.seat for hold in holds if hold.seat is not None)
    summary = {"seats": numbers, "count": sum(hold.quantity for hold in holds), "reason": reason}
    subjects = {"event": event_id, "event_number": event.number}
    fact = Fact("holds_ended", organisation_id, context.now, subjects, summary)
    plan = find_event_plan(session, organisation_id, event_id)
    after = {**summary, "seats": plan.layout.names_of(numbers) if plan is not None else []}
    record_change(session, context, Subject("event", event_id, None, after), fact)


def extend(session: Session, sale_state: SaleState, hold_id: str, request: HoldRequest) -> HoldRow:
    """Extend a hold by its full time from now; Conflict for one that ran out or was extended already."""
    row = queries.hold(session, request.organisation_id, None if request.override else request.id, hold_id)
    open_hold = _locked(session, row)
    if open_hold is None or open_hold.held_until <= request.now:
        raise Conflict("This hold has expired. Choose the seat again.", code="hold_expired")
    _require_no_order(open_hold)
    rules.require(Asked(sale_state.sale, request.now, early=request.early))
    if open_hold.status != HoldStatus.ACTIVE.value:
        raise Conflict("This hold is suspended until the event has a new date.", code="hold_suspended")
    if open_hold.extended >= rules.EXTENSIONS and not request.override:
        raise Conflict("This hold was already extended once.", code="hold_extended_already")
    open_hold.held_until = max(open_hold.held_until, expires_at(sale_state, request.now))
    open_hold.extended, open_hold.updated_at = open_hold.extended + 1, request.now
    if open_hold.seat is not None:
        here = open_hold.organisation_id, open_hold.event_id
        seats.extend(session, *here, open_hold.seat, open_hold.id, until=open_hold.held_until)
    session.flush()
    _record(session, sale_state, open_hold, request.context, "seat_hold_extended")
    send(session, HoldsMade([open_hold], request.now))
    return open_hold
