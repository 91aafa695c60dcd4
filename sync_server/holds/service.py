"""Holds several seats or places at once, all or nothing; releases and extends holds.

A single seat is held by the one statement of `reserve`; both apply `rules`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import select, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from shared.clock import Millis
from shared.errors import Conflict
from shared.ids import uuid7
from sync_server.events import queries as events
from sync_server.events import service as event_service
from sync_server.holds import ending, inventory, places, queries, rules, seats
from sync_server.holds.hold_request import HoldRequest, HoldResult
from sync_server.holds.models import (
    WHOLE_EVENT,
    EventSeatRow,
    HoldCounterRow,
    HoldRow,
    HoldStatus,
    SaleLockRow,
    SeatState,
)
from sync_server.holds.sale_state import SaleState, load_sale_state
from sync_server.holds.signals import HoldsMade
from sync_server.outbox.service import Fact, Subject, record_change
from sync_server.plumbing.database import database_of
from sync_server.plumbing.principals import ActionContext
from sync_server.plumbing.signals import send
from sync_server.seating.seats_for_sale import SeatForSale


class StaleSaleState(Exception):
    """The event has changed since its sale state was loaded; nothing was done."""


@dataclass(frozen=True, slots=True)
class RequestedItems:
    """The seats, or the places of a zone, that one request asks for."""

    seats: Sequence[SeatForSale] = ()
    zone: int = WHOLE_EVENT
    count: int = 0
    capacity: int = 0  # of the zone

    @property
    def total(self) -> int:
        """The number of people."""
        return len(self.seats) + self.count


def limits_of(sale_state: SaleState, request: HoldRequest) -> rules.Limits:
    """How much this bearer may hold at the event."""
    if request.override:
        return rules.Limits(None, None, None, None)
    policy = sale_state.policy
    booking = policy.max_seats_per_booking
    # The rate allows at least one full booking.
    return rules.Limits(booking, policy.max_holds_per_user, policy.max_holds_per_ip, max(rules.RATE, booking or 0))


def hold(session: Session, sale_state: SaleState, request: HoldRequest, items: RequestedItems) -> list[HoldResult]:
    """Hold all of it; seats that this bearer holds already are returned as they are.

    StaleSaleState where the event has changed since `sale_state` was loaded; else the refusals of `rules`.
    """
    if sale_state.event_limit is not None:
        event_service.lock_event(session, sale_state.organisation_id, sale_state.id)
    _lock_sale(session, sale_state, request.now)
    _count(session, request)
    rows = seats.locked(session, sale_state.id, (seat.number for seat in items.seats))
    mine = queries.mine(session, request.organisation_id, request.id, request.now, sale_state.id)
    here = {row.seat: row for row in mine if row.seat is not None}
    new = [seat for seat in items.seats if seat.number not in here]
    _check_limits(session, sale_state, request, mine, len(new) + items.count)
    _require_free(rows, new, request.now)
    _check_event_limit(session, sale_state, len(new) + items.count, request.now)
    _end_overdue(session, sale_state, rows, new, request.context)
    made = _new_rows(sale_state, request, new, items)
    _take(session, sale_state, request, made, items)
    held_before = [
        _result(sale_state, here[seat.number], seat, created=False) for seat in items.seats if seat.number in here
    ]
    by_seat = {seat.number: seat for seat in new}
    return held_before + [_result(sale_state, row, by_seat.get(row.seat or 0)) for row in made]


def _lock_sale(session: Session, sale_state: SaleState, now: Millis) -> None:
    """Share the sale lock, so that nobody closes the sale meanwhile, and check that the sale state is current."""
    lock = select(SaleLockRow.version).where(SaleLockRow.event_id == sale_state.id).with_for_update(read=True)
    version = session.execute(lock).scalar_one_or_none()
    if version is None:
        raise StaleSaleState
    current = load_sale_state(session, sale_state.organisation_id, sale_state.id, sale_state.plan, version)
    if current.sale != sale_state.sale:
        raise StaleSaleState
    rules.check_sale(sale_state.sale, now)


def create_counter(session: Session, bearer_id: str, organisation_id: str, now: Millis) -> None:
    """Create the bearer's hold counter, where there is none."""
    dialect = sqlite if database_of(session).embedded else postgresql
    row = {"bearer_id": bearer_id, "organisation_id": organisation_id, "version": 1, "updated_at": now}
    session.execute(dialect.insert(HoldCounterRow).values(row).on_conflict_do_nothing())


def _count(session: Session, request: HoldRequest) -> None:
    create_counter(session, request.id, request.organisation_id, request.now)
    change = update(HoldCounterRow).where(HoldCounterRow.bearer_id == request.id)
    session.execute(change.values(version=HoldCounterRow.version + 1, updated_at=request.now))


def _check_limits(
    session: Session, sale_state: SaleState, request: HoldRequest, mine: Sequence[HoldRow], more: int
) -> None:
    limits = limits_of(sale_state, request)
    held = sum(row.quantity for row in mine)
    recent, oldest = queries.count_recent(session, request.id, request.now - rules.RATE_MS)
    if more and rules.exceeds_rate(recent, more, limits):
        raise rules.too_fast(oldest, limits, request.now)
    if rules.exceeds(held, more, limits.per_booking):
        raise rules.too_many_seats(limits)
    if rules.exceeds(held, more, limits.per_user):
        raise rules.too_many_holds(limits)
    if limits.per_address is not None:
        held_there = queries.count_from_address(session, sale_state.id, request.origin, request.now)
        if rules.exceeds(held_there, more, limits.per_address):
            raise rules.too_many_from_address()


def _require_free(rows: Mapping[int, EventSeatRow], new: Sequence[SeatForSale], now: Millis) -> None:
    taken = [seat for seat in new if not seats.is_available(rows.get(seat.number), now)]
    if not taken:
        return
    row = rows[taken[0].number]
    refusal = (
        rules.not_available("sold") if row.state == SeatState.SOLD else rules.held_by_another(row.held_until or 0, now)
    )
    raise rules.naming_seats(refusal, {seat.id: seat.name for seat in taken}) if len(new) > 1 else refusal


def _check_event_limit(session: Session, sale_state: SaleState, more: int, now: Millis) -> None:
    """Enforce the limit of an event that sells less than its zones hold; its row is locked by now."""
    if sale_state.event_limit is None or not more:
        return
    issued = events.event(session, sale_state.organisation_id, sale_state.id).tickets_issued
    if queries.occupancy(session, sale_state.id, now).held + issued + more > sale_state.event_limit:
        raise rules.at_capacity()


def _end_overdue(
    session: Session,
    sale_state: SaleState,
    rows: Mapping[int, EventSeatRow],
    new: Sequence[SeatForSale],
    context: ActionContext,
) -> None:
    present = [rows[seat.number] for seat in new if seat.number in rows]
    overdue = ending.open_holds(session, {row.hold_id for row in present if row.hold_id is not None})
    ending.end(session, sale_state.number, overdue, HoldStatus.EXPIRED, context)


def _new_rows(
    sale_state: SaleState, request: HoldRequest, new: Sequence[SeatForSale], items: RequestedItems
) -> list[HoldRow]:
    context, group_id = request.context, None
    if len(new) + bool(items.count) > 1:
        group_id = uuid7(context.now, context.entropy)

    def row(kind: str, zone: int, quantity: int, seat: int | None) -> HoldRow:
        return HoldRow(
            id=uuid7(context.now, context.entropy),
            organisation_id=sale_state.organisation_id,
            event_id=sale_state.id,
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
            origin=address_hash(sale_state, request),
            extended=0,
            created_at=context.now,
            updated_at=context.now,
        )

    places_held = [row("places", items.zone, items.count, None)] if items.count else []
    return [row("seat", seat.zone, 1, seat.number) for seat in new] + places_held


def expires_at(sale_state: SaleState, now: Millis) -> Millis:
    """When a hold made now runs out."""
    return now + rules.ttl_ms(sale_state.policy.default_hold_ttl_minutes)


def address_hash(sale_state: SaleState, request: HoldRequest) -> str | None:
    """The hashed client address, only where the policy limits holds by address."""
    return request.origin if sale_state.policy.max_holds_per_ip is not None else None


def _take(
    session: Session, sale_state: SaleState, request: HoldRequest, made: Sequence[HoldRow], items: RequestedItems
) -> None:
    numbers = {row.seat: row.id for row in made if row.seat is not None}
    ends = expires_at(sale_state, request.now)
    held = seats.hold(session, sale_state.organisation_id, sale_state.id, numbers, until=ends, now=request.now)
    if len(held) < len(numbers):
        raise rules.no_longer_available()
    if items.count:
        _take_places(session, sale_state, request.context, items)
    session.add_all(made)
    session.flush()
    ids = {seat.number: seat.id for seat in items.seats}
    for row in made:
        seat_id = None if row.seat is None else ids[row.seat]
        _record(session, sale_state.number, row, request.context, "seat_held", seat_id=seat_id)
    send(session, HoldsMade(made, request.now))


def _take_places(session: Session, sale_state: SaleState, context: ActionContext, items: RequestedItems) -> None:
    def try_to_hold() -> bool:
        return places.hold(
            session, sale_state.organisation_id, sale_state.id, items.zone, items.count, capacity=items.capacity
        )

    if try_to_hold():
        return
    freed = inventory.end_overdue_places(session, sale_state.id, sale_state.number, items.zone, context)
    if not freed or not try_to_hold():
        raise rules.at_capacity()


def _record(
    session: Session,
    event_number: int,
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
        "source": row.source,
    }
    subjects, payload = ending.subjects_of(row, event_number), ending.payload_of(row) | extra
    fact = Fact(name, row.organisation_id, context.now, subjects, payload)
    record_change(session, context, Subject("hold", row.id, None, after), fact)


def _result(sale_state: SaleState, row: HoldRow, seat: SeatForSale | None, *, created: bool = True) -> HoldResult:
    zone = sale_state.plan.zones.get(row.zone)
    name = zone.name if zone is not None else ""
    return HoldResult(row.id, sale_state.id, seat, row.zone, name, row.quantity, row.held_until, created, row.group_id)


def release(
    session: Session, organisation_id: str, hold_id: str, bearer_id: str | None, context: ActionContext
) -> HoldRow:
    """Release a hold; releasing it again changes nothing. Conflict for one that was bought."""
    row = queries.hold(session, organisation_id, bearer_id, hold_id)
    number = events.event(session, organisation_id, row.event_id).number
    open_hold = _locked(session, row)
    if open_hold is None:
        if row.status == HoldStatus.CONVERTED.value:
            raise Conflict("This hold was bought and cannot be released.", code="hold_converted")
        return row
    release_all(session, [open_hold])
    status = HoldStatus.CANCELLED if open_hold.held_until > context.now else HoldStatus.EXPIRED
    ending.end(session, number, [open_hold], status, context, reason="given up")
    return open_hold


def _locked(session: Session, row: HoldRow) -> HoldRow | None:
    """The hold if it has not ended, locked after its seat or places."""
    if row.seat is not None:
        seats.locked(session, row.event_id, [row.seat])
    else:
        places.locked(session, row.event_id, row.zone)
    return next(iter(ending.open_holds(session, [row.id])), None)


def release_all(session: Session, holds: Sequence[HoldRow]) -> None:
    """Free the seats and places of these open holds, which the caller ends in the same transaction."""
    by_event: dict[str, dict[int, str]] = {}
    for row in holds:
        if row.seat is not None:
            by_event.setdefault(row.event_id, {})[row.seat] = row.id
        else:
            places.release(session, row.event_id, row.zone, row.quantity)
    for event_id, numbers in by_event.items():
        seats.release(session, event_id, numbers)


def extend(session: Session, sale_state: SaleState, hold_id: str, request: HoldRequest) -> HoldRow:
    """Extend a hold by its full time from now; Conflict for one that ran out or was extended already."""
    row = queries.hold(session, request.organisation_id, None if request.override else request.id, hold_id)
    open_hold = _locked(session, row)
    if open_hold is None or open_hold.held_until <= request.now:
        raise Conflict("This hold has run out. Choose the seat again.", code="hold_expired")
    rules.check_sale(sale_state.sale, request.now)
    if open_hold.status != HoldStatus.ACTIVE.value:
        raise Conflict("This hold is suspended until the event has a new date.", code="hold_suspended")
    if open_hold.extended >= rules.EXTENSIONS and not request.override:
        raise Conflict("This hold was already extended once.", code="hold_extended_already")
    open_hold.held_until = max(open_hold.held_until, expires_at(sale_state, request.now))
    open_hold.extended, open_hold.updated_at = open_hold.extended + 1, request.now
    if open_hold.seat is not None:
        seats.extend(session, open_hold.event_id, open_hold.seat, open_hold.id, open_hold.held_until)
    session.flush()
    _record(session, sale_state.number, open_hold, request.context, "seat_hold_extended")
    send(session, HoldsMade([open_hold], request.now))
    return open_hold
