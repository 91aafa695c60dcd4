"""Sells, frees and moves seats and places, all or nothing: the inventory that ticket sales use.

Lock order, to avoid deadlocks: the event (where needed), seats in ascending order, places, then holds.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TypeVar

from sqlalchemy import select
from sqlalchemy.orm import Session

from shared.clock import Millis
from shared.errors import Conflict, InvalidRequest
from sync_server.events import queries as events
from sync_server.holds import ending, queries
from sync_server.holds.caches.sale_state import SaleState
from sync_server.holds.models import WHOLE_EVENT, EventSeatRow, HoldRow, HoldStatus, SeatState
from sync_server.holds.taking import places, seats
from sync_server.plumbing.principals import ActionContext
from sync_server.seating.layouts.overlay import EventZone
from sync_server.seating.plans.seat_plans import event_plan, find_event_plan

T = TypeVar("T")


def sell(
    session: Session,
    organisation_id: str,
    event_id: str,
    tickets: Mapping[int, int],
    context: ActionContext,
    *,
    holds: Collection[str] = (),
) -> None:
    """Sell seats to tickets, {seat number: ticket id}: from these holds, which are converted, or from free seats.

    Conflict `seat_taken` names the seats that are taken, `hold_expired` the holds that ran out; then nothing is sold.
    """
    event = events.event(session, organisation_id, event_id)
    present = seats.locked(session, organisation_id, event_id, tickets)
    mine = _mine(session, organisation_id, event_id, holds, context.now)
    used_holds = {id: hold for id, hold in mine.items() if hold.seat in tickets}
    if taken := {seat for seat in tickets if not seats.is_available(present.get(seat), context.now, used_holds)}:
        raise _taken(session, organisation_id, event_id, taken)
    _end_overdue(session, event, present.values(), used_holds, context)
    sold = seats.sell(session, organisation_id, event_id, tickets, now=context.now, mine=list(used_holds))
    if len(sold) < len(tickets):
        raise _taken(session, organisation_id, event_id, set(tickets) - sold)
    ending.end(session, event.number, list(used_holds.values()), HoldStatus.CONVERTED, context)


def _mine(
    session: Session, organisation_id: str, event_id: str, ids: Collection[str], now: Millis
) -> dict[str, HoldRow]:
    wanted = set(ids)
    mine = {hold.id: hold for hold in ending.open_holds(session, organisation_id, wanted) if hold.event_id == event_id}
    stale = sorted(id for id in wanted if id not in mine or mine[id].held_until <= now)
    if stale:
        raise Conflict("A hold has run out or was released. Choose the seats again.", code="hold_expired", holds=stale)
    return mine


def _end_overdue(
    session: Session,
    event: events.Event,
    rows: Iterable[EventSeatRow],
    mine: Collection[str],
    context: ActionContext,
) -> None:
    """End the overdue holds of these seats: the sweep may not have run yet."""
    overdue = {row.hold_id for row in rows if row.state == SeatState.HELD and row.hold_id and row.hold_id not in mine}
    open_holds = ending.open_holds(session, event.organisation_id, overdue)
    ending.end(session, event.number, open_holds, HoldStatus.EXPIRED, context)


def _taken(session: Session, organisation_id: str, event_id: str, numbers: Collection[int]) -> Conflict:
    plan = find_event_plan(session, organisation_id, event_id)
    names = plan.layout.names_of(numbers) if plan else [str(seat) for seat in sorted(numbers)]
    return Conflict(f"Already taken: {', '.join(names[:20])}. Nothing was sold.", code="seat_taken", seats=names[:500])


def free(session: Session, organisation_id: str, event_id: str, tickets: Collection[int]) -> list[int]:
    """Free the seats of these tickets; returns the seats."""
    return seats.free_sold(session, organisation_id, event_id, tickets)


def move(
    session: Session, organisation_id: str, event_id: str, moves: Mapping[int, tuple[int, int]], context: ActionContext
) -> None:
    """Move tickets to other seats, {ticket: (old seat, new seat)}, all at once, so that two may swap seats.

    Conflict `seat_taken` where a new seat is not free, or a ticket no longer has the old one; then none is moved.
    """
    event = events.event(session, organisation_id, event_id)
    new = {to: ticket for ticket, (_, to) in moves.items()}
    if len(new) < len(moves):
        raise InvalidRequest("Two tickets cannot move to the same seat.", code="seat_named_twice")
    locked = seats.lock(session, organisation_id, event_id, {*new, *(old for old, _ in moves.values())})
    _end_overdue(session, event, [row for row in locked if _is_overdue(row, context.now)], (), context)
    owners = {old: ticket for ticket, (old, _) in moves.items()}
    if mismatched := owners.keys() ^ seats.vacate(session, organisation_id, event_id, list(moves)):
        raise _taken(session, organisation_id, event_id, mismatched)
    for batch in _batches(sorted(new)):
        sold = seats.sell(session, organisation_id, event_id, {seat: new[seat] for seat in batch}, now=context.now)
        if len(sold) < len(batch):
            raise _taken(session, organisation_id, event_id, {*batch} - sold)


def _is_overdue(row: EventSeatRow, now: Millis) -> bool:
    return row.state == SeatState.HELD and row.held_until is not None and row.held_until <= now


def sell_places(  # noqa: PLR0917 - the same parameters in the same order as sell
    session: Session,
    organisation_id: str,
    event_id: str,
    zone: int,
    count: int,
    context: ActionContext,
    *,
    holds: Collection[str] = (),
) -> None:
    """Sell places of a zone (by its number in the layout), including those of these holds, which are converted.

    Conflict `zone_full` where the zone has too few left, `hold_expired` for a hold that ran out.
    """
    event = events.event(session, organisation_id, event_id)
    capacity = _zone(session, organisation_id, event_id, zone).capacity
    places.locked(session, organisation_id, event_id, zone)
    mine = _mine(session, organisation_id, event_id, holds, context.now)
    used_holds = [hold for hold in mine.values() if hold.kind == "places" and hold.zone == zone]
    held = sum(hold.quantity for hold in used_holds)
    _require_no_more_held(held, count)

    def try_to_sell() -> bool:
        return places.sell(session, organisation_id, event_id, zone, count, held=held, capacity=capacity)

    if not try_to_sell() and not (end_overdue_places(session, event, zone, context) and try_to_sell()):
        raise Conflict(f"The zone has fewer than {count} places left.", code="zone_full", zone=zone)
    ending.end(session, event.number, used_holds, HoldStatus.CONVERTED, context)


def use_holds(
    session: Session, organisation_id: str, event_id: str, count: int, context: ActionContext, *, holds: Collection[str]
) -> None:
    """Convert the holds of an event without a layout, which counts its issued tickets itself.

    Conflict `hold_expired` for a hold that ran out.
    """
    event = events.event(session, organisation_id, event_id)
    places.locked(session, organisation_id, event_id, WHOLE_EVENT)
    mine = list(_mine(session, organisation_id, event_id, holds, context.now).values())
    held = sum(hold.quantity for hold in mine)
    _require_no_more_held(held, count)
    places.release(session, organisation_id, event_id, WHOLE_EVENT, held)
    ending.end(session, event.number, mine, HoldStatus.CONVERTED, context)


def _require_no_more_held(held: int, count: int) -> None:
    if held > count:
        raise InvalidRequest(
            f"{held} places are held but only {count} bought: release the others first.", field="count"
        )


def free_places(session: Session, organisation_id: str, event_id: str, zone: int, count: int) -> None:
    """Free sold places."""
    if not places.free_sold(session, organisation_id, event_id, zone, count):
        raise Conflict(f"The zone has sold fewer than {count} places.", code="places_not_sold", zone=zone)


def end_overdue_places(
    session: Session,
    event: events.Event | SaleState,
    zone: int,
    context: ActionContext,
    *,
    for_ms: Millis = 0,
) -> int:
    """End holds of places that have been overdue for `for_ms`; returns how many places that freed."""
    organisation_id, event_id = event.organisation_id, event.id
    places.locked(session, organisation_id, event_id, zone)
    overdue = ending.open_holds(
        session,
        organisation_id,
        [hold.id for hold in places.overdue(session, organisation_id, event_id, zone, context.now - for_ms)],
    )
    overdue = [hold for hold in overdue if hold.held_until <= context.now - for_ms]
    count = sum(hold.quantity for hold in overdue)
    if count:
        places.release(session, organisation_id, event_id, zone, count)
        ending.end(session, event.number, overdue, HoldStatus.EXPIRED, context)
    return count


def require_capacity(session: Session, organisation_id: str, event_id: str, now: Millis) -> None:
    """Conflict `capacity_exceeded` where more is issued and held than the event sells in all.

    Called after issuing, with the event's row locked. Seats and zones have guards of their own; the limit of an event
    that sells less than its zones have is guarded only here.
    """
    event = events.event(session, organisation_id, event_id, lock=True)
    limit = event.capacity or (0 if event.layout_capacity else event.venue_capacity)
    if not limit or (event.layout_capacity and limit >= event.layout_capacity):
        return
    held = queries.held(session, organisation_id, event_id, now)
    if held and held + event.tickets_issued > limit:
        raise Conflict(
            f"{held} of the last places are on hold for some minutes. Ask for fewer, or try again later.",
            code="capacity_exceeded",
            held=held,
        )


def _zone(session: Session, organisation_id: str, event_id: str, number: int) -> EventZone:
    zone = event_plan(session, organisation_id, event_id).zones.get(number)
    if zone is not None and not zone.zone_type.numbered:
        return zone
    raise InvalidRequest(
        "The event has no open zone of that number for places without seats.", code="unknown_zone", zone=number
    )


def open_holds(session: Session, organisation_id: str, event_id: str) -> list[HoldRow]:
    """All holds of an event that have not ended, locked, as are their seats and places."""
    here = HoldRow.organisation_id == organisation_id, HoldRow.event_id == event_id
    is_open = HoldRow.status.in_([HoldStatus.ACTIVE.value, HoldStatus.SUSPENDED.value])
    found = session.execute(select(HoldRow.id, HoldRow.seat, HoldRow.zone).where(*here, is_open)).all()
    seats.locked(session, organisation_id, event_id, [seat for _, seat, _ in found if seat is not None])
    for zone in sorted({zone for _, seat, zone in found if seat is None}):
        places.locked(session, organisation_id, event_id, zone)
    return [
        hold
        for batch in _batches([row[0] for row in found])
        for hold in ending.open_holds(session, organisation_id, batch)
    ]


def _batches(ids: Sequence[T]) -> Iterable[Sequence[T]]:
    return (ids[start : start + seats.BATCH_SIZE] for start in range(0, len(ids), seats.BATCH_SIZE))
