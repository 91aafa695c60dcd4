"""Sells, frees and moves seats and places, all or nothing: the inventory that ticket sales use.

Lock order, to avoid deadlocks: the event (where needed), seats in ascending order, places, then holds.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, Final, TypeVar

from sqlalchemy import select
from sqlalchemy.orm import Session

from shared.clock import Millis
from shared.errors import Conflict, InvalidRequest
from sync_server.events import queries as events
from sync_server.events.days.chosen_days import EVERY_DAY, ChosenDays, covers, dates_of, numbers
from sync_server.holds import queries
from sync_server.holds.caches.sale_state import SaleState
from sync_server.holds.endings import ending
from sync_server.holds.endings.gone_holds import hold_expired
from sync_server.holds.models import WHOLE_EVENT, EventSeatRow, HoldRow, HoldStatus, SeatState
from sync_server.holds.selling.held_places import have_places, sell_held_places
from sync_server.holds.taking import places, seats
from sync_server.holds.taking.places import FIRST_DAY, ZoneDays
from sync_server.holds.taking.seat_claims import SeatDay
from sync_server.plumbing.event_key import EventKey
from sync_server.plumbing.requests.principals import ActionContext
from sync_server.seating.layouts.overlay import EventZone
from sync_server.seating.plans.seat_plans import event_plan, find_event_plan

T = TypeVar("T")
Held = HoldRow
"""A hold's row, as whoever issues tickets may hand it on within the transaction."""

_EVERY_DAY: Final[Mapping[int, int]] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class HeldDays:
    """For which days some holds are, as bitmaps."""

    seats: Mapping[int, int]  # by seat number
    places: frozenset[int]


def sell(
    session: Session,
    organisation_id: str,
    event_id: str,
    tickets: Mapping[int, int],
    context: ActionContext,
    *,
    holds: Collection[str] = (),
    held: Sequence[HoldRow] | None = None,
    days: Mapping[int, int] = _EVERY_DAY,
    for_order: str = "",
) -> None:
    """Sell seats to tickets, {seat number: ticket id}: from these holds, which are converted, or from free seats.

    `days` are the bitmaps of those seats that are not sold for every day; `held` are the holds, where they were read;
    they become those of the order `for_order` if they were nobody's.
    Conflict `seat_taken` names the seats that are taken, `hold_expired` the holds that ran out; then nothing is sold.
    """
    event = events.event(session, organisation_id, event_id)
    dates = dates_of(event)
    lasting = [hold for hold in held or () if hold.held_until > context.now]
    if len(dates) == 1 and {hold.seat for hold in lasting} == tickets.keys():
        _sell_held(session, event, tickets, lasting, context, for_order)
        return
    wanted = {
        (seat, day): ticket
        for seat, ticket in tickets.items()
        for day in numbers(days.get(seat, EVERY_DAY), len(dates))
    }
    locked = seats.locked(session, organisation_id, event_id, tickets)
    present = {cell: row for cell, row in locked.items() if cell in wanted}
    mine = _mine(session, organisation_id, event_id, holds, context.now)
    used_holds = {id: hold for id, hold in mine.items() if hold.seat in tickets}
    if taken := {cell for cell in wanted if not seats.is_available(present.get(cell), context.now, used_holds)}:
        raise _taken(session, organisation_id, event_id, taken, dates)
    _end_overdue(session, event, present.values(), used_holds, context)
    sold = seats.sell(session, organisation_id, event_id, wanted, now=context.now, mine=list(used_holds))
    if len(sold) < len(wanted):
        raise _taken(session, organisation_id, event_id, wanted.keys() - sold, dates)
    _free_other_days(session, event, used_holds.values(), days, len(dates))
    ending.end(session, event.number, list(used_holds.values()), HoldStatus.CONVERTED, context, dates=dates)


def _sell_held(  # noqa: PLR0917 - seats, their holds, and whose they are to be
    session: Session,
    event: events.Event,
    tickets: Mapping[int, int],
    held: Sequence[HoldRow],
    context: ActionContext,
    for_order: str,
) -> None:
    """Sell seats of an event of one day, all of them held by these holds, without looking first.

    Two conditional updates judge: the seats', then the holds'. So it is as sure as behind locks, and asks less often.
    """
    wanted, ids = {(seat, FIRST_DAY): ticket for seat, ticket in tickets.items()}, [hold.id for hold in held]
    where = event.organisation_id, event.id
    sold = seats.sell(session, *where, wanted, now=context.now, mine=ids)
    if len(sold) < len(wanted) and not for_order:
        raise _taken(session, *where, wanted.keys() - sold, dates_of(event))
    if len(sold) < len(wanted) or len(ending.convert(session, held, context, for_order)) < len(held):
        raise hold_expired(session, event.key, ids)
    ending.record(session, event.number, held, context, dates=dates_of(event))


def _free_other_days(
    session: Session, event: events.Event, holds: Iterable[HoldRow], days: Mapping[int, int], count: int
) -> None:
    """Free what a hold has beyond the days of its ticket."""
    more = [
        (hold.seat, hold.id)
        for hold in holds
        if hold.seat is not None and not covers(days.get(hold.seat, EVERY_DAY), hold.days, count)
    ]
    if more:
        seats.release(session, event.organisation_id, event.id, more)


def _mine(
    session: Session, organisation_id: str, event_id: str, ids: Collection[str], now: Millis
) -> dict[str, HoldRow]:
    wanted = set(ids)
    mine = {hold.id: hold for hold in ending.open_holds(session, organisation_id, wanted) if hold.event_id == event_id}
    stale = {id for id in wanted if id not in mine or mine[id].held_until <= now}
    if stale:
        raise hold_expired(session, EventKey(organisation_id, event_id), stale)
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
    end_overdue_seats(session, event, overdue, context)


def end_overdue_seats(
    session: Session, event: events.Event | SaleState, ids: Collection[str], context: ActionContext
) -> None:
    """End these overdue holds, whose seats are about to be taken; the caller has locked those on all days."""
    open_holds, dates = ending.open_holds(session, event.organisation_id, ids), _dates(event)
    if len(dates) > 1:  # they may have had other days, too
        theirs = [(hold.seat, hold.id) for hold in open_holds if hold.seat is not None]
        seats.release(session, event.organisation_id, event.id, theirs)
    ending.end(session, event.number, open_holds, HoldStatus.EXPIRED, context, dates=dates)


def _dates(event: events.Event | SaleState) -> tuple[str, ...]:
    return event.dates if isinstance(event, SaleState) else dates_of(event)


def _taken(
    session: Session, organisation_id: str, event_id: str, cells: Collection[SeatDay], dates: tuple[str, ...]
) -> Conflict:
    plan, seat_numbers = find_event_plan(session, organisation_id, event_id), {seat for seat, _ in cells}
    names = plan.layout.names_of(seat_numbers) if plan else [str(seat) for seat in sorted(seat_numbers)]
    days = ChosenDays(dates).names_of(day for _, day in cells)
    on, details = (f" on {', '.join(days)}", {"days": list(days)}) if days else ("", {})
    return Conflict(
        f"Already taken{on}: {', '.join(names[:20])}. Nothing was sold.",
        code="seat_taken",
        seats=names[:500],
        **details,
    )


def free(session: Session, organisation_id: str, event_id: str, tickets: Collection[int]) -> list[int]:
    """Free the seats of these tickets, on all their days; returns the seats."""
    return sorted({seat for seat, _ in seats.free_sold(session, organisation_id, event_id, tickets)})


def move(
    session: Session, organisation_id: str, event_id: str, moves: Mapping[int, tuple[int, int]], context: ActionContext
) -> None:
    """Move tickets to other seats, {ticket: (old seat, new seat)}, all at once, so that two may swap seats.

    Each keeps its days. Conflict `seat_taken` where a new seat is not free, or a ticket no longer has the old one; then
    none is moved.
    """
    event = events.event(session, organisation_id, event_id)
    affected = {seat for both in moves.values() for seat in both}
    locked = list(seats.lock(session, organisation_id, event_id, affected))
    _end_overdue(session, event, [row for row in locked if _is_overdue(row, context.now)], (), context)
    had = [(row.seat, row.day, row.ticket_id) for row in locked if row.ticket_id in moves]
    new = {(moves[ticket][1], day): ticket for _, day, ticket in had}
    if len(new) < len(had):
        raise InvalidRequest("Two tickets cannot move to the same seat.", code="seat_named_twice")
    dates, lost = dates_of(event), moves.keys() - {ticket for seat, _, ticket in had if seat == moves[ticket][0]}
    vacated = seats.vacate(session, organisation_id, event_id, list(moves))
    if lost or vacated != {(seat, day) for seat, day, _ in had}:
        raise _taken(session, organisation_id, event_id, vacated or {(moves[ticket][0], 0) for ticket in lost}, ())
    for batch in _batches(sorted(new)):
        sold = seats.sell(session, organisation_id, event_id, {cell: new[cell] for cell in batch}, now=context.now)
        if len(sold) < len(batch):
            raise _taken(session, organisation_id, event_id, {*batch} - sold, dates)


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
    held: Sequence[HoldRow] | None = None,
    days: int = EVERY_DAY,
    for_order: str = "",
) -> None:
    """Sell places of a zone (by its number in the layout), including those of these holds, which are converted.

    `held` are the holds, where they were read; they become those of the order `for_order` if they were nobody's.
    Conflict `zone_full` where the zone has too few left on one of the days, `hold_expired` for a hold that ran out.
    """
    event = events.event(session, organisation_id, event_id)
    capacity = _zone(session, organisation_id, event_id, zone).capacity
    where = ZoneDays(organisation_id, event_id, zone, ChosenDays(dates_of(event), days))
    if held and have_places(held, where, count, context.now):
        sell_held_places(session, event, where, held, context, for_order)
        return
    places.locked(session, organisation_id, event_id, zone)
    mine = _mine(session, organisation_id, event_id, holds, context.now)
    used_holds = [hold for hold in mine.values() if hold.kind == "places" and hold.zone == zone]
    _require_no_more_held(sum(hold.quantity for hold in used_holds), count)
    release_places(session, where, used_holds)

    def try_to_sell() -> bool:
        return places.sell(session, where, count, capacity=capacity)

    if not try_to_sell() and not (end_overdue_places(session, event, zone, context) and try_to_sell()):
        raise _zone_full(session, event, where, count, capacity, context.now)
    ending.end(session, event.number, used_holds, HoldStatus.CONVERTED, context, dates=where.days.dates)


def _zone_full(  # noqa: PLR0917 - what was asked for
    session: Session, event: events.Event, where: ZoneDays, count: int, capacity: int, now: Millis
) -> Conflict:
    found = places.by_day(session, event.organisation_id, event.id, now)
    full = [day for day in where.days.numbers if day in found and found[day].taken()[where.zone] + count > capacity]
    days = where.days.names_of(full)
    on, details = (f" on {', '.join(days)}", {"days": list(days)}) if days else ("", {})
    return Conflict(f"The zone has fewer than {count} places left{on}.", code="zone_full", zone=where.zone, **details)


def release_places(session: Session, where: ZoneDays, holds: Iterable[HoldRow]) -> None:
    """Free the held places of these holds of one zone, each on its own days; the caller ends the holds."""
    held: Counter[int] = Counter()
    for hold in holds:
        held[hold.days] += hold.quantity
    for bits, count in sorted(held.items()):
        places.release(session, replace(where, days=ChosenDays(where.days.dates, bits)), count)


def use_holds(
    session: Session,
    organisation_id: str,
    event_id: str,
    count: int,
    context: ActionContext,
    *,
    holds: Collection[str],
) -> None:
    """Convert the holds of an event without a layout, which counts its issued tickets itself.

    Conflict `hold_expired` for a hold that ran out.
    """
    event = events.event(session, organisation_id, event_id)
    where = ZoneDays(organisation_id, event_id, WHOLE_EVENT, ChosenDays(dates_of(event)))
    places.locked(session, organisation_id, event_id, WHOLE_EVENT)
    mine = list(_mine(session, organisation_id, event_id, holds, context.now).values())
    _require_no_more_held(sum(hold.quantity for hold in mine), count)
    release_places(session, where, mine)
    ending.end(session, event.number, mine, HoldStatus.CONVERTED, context, dates=where.days.dates)


def days_of_holds(session: Session, organisation_id: str, event_id: str, holds: Collection[str]) -> HeldDays:
    """For which days these holds are, as bitmaps: by seat, and those of places. Some may have ended."""
    if not holds:
        return HeldDays({}, frozenset())
    here = HoldRow.organisation_id == organisation_id, HoldRow.event_id == event_id, HoldRow.id.in_(sorted(holds))
    return days_of(session.execute(select(HoldRow.seat, HoldRow.days).where(*here)).all())


def days_of(holds: Iterable[HoldRow | Any]) -> HeldDays:
    """For which days holds are whose rows were read."""
    found = [(hold.seat, hold.days) for hold in holds]
    of_seats = {seat: days for seat, days in found if seat is not None}
    return HeldDays(of_seats, frozenset(days for seat, days in found if seat is None))


def _require_no_more_held(held: int, count: int) -> None:
    if held > count:
        raise InvalidRequest(
            f"{held} places are held but only {count} bought: release the others first.", field="count"
        )


def free_places(  # noqa: PLR0917 - the same parameters in the same order as sell_places
    session: Session, organisation_id: str, event_id: str, zone: int, count: int, days: int = EVERY_DAY
) -> None:
    """Free sold places."""
    dates = dates_of(events.event(session, organisation_id, event_id))
    if not places.free_sold(session, ZoneDays(organisation_id, event_id, zone, ChosenDays(dates, days)), count):
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
    dates = _dates(event)
    places.locked(session, organisation_id, event_id, zone)
    overdue = ending.open_holds(
        session,
        organisation_id,
        [hold.id for hold in places.overdue(session, organisation_id, event_id, zone, context.now - for_ms)],
    )
    overdue = [hold for hold in overdue if hold.held_until <= context.now - for_ms]
    if overdue:
        release_places(session, ZoneDays(organisation_id, event_id, zone, ChosenDays(dates)), overdue)
        ending.end(session, event.number, overdue, HoldStatus.EXPIRED, context, dates=dates)
    return sum(hold.quantity for hold in overdue)


def require_capacity(session: Session, organisation_id: str, event_id: str, now: Millis) -> None:
    """Conflict `capacity_exceeded` where more is issued and held than the event sells in all.

    Called after issuing, with the event's row locked. Seats and zones have guards of their own; the limit of an event
    that sells less than its zones have is guarded only here.
    """
    event = events.event(session, organisation_id, event_id)
    limit = event.capacity or (0 if event.layout_capacity else event.venue_capacity)
    if not limit or (event.layout_capacity and limit >= event.layout_capacity):
        return
    event = events.event(session, organisation_id, event_id, lock=True)  # once more: its counts have changed
    issued = queries.issued_by_day(session, event)
    for day, held in sorted(queries.held(session, organisation_id, event_id, now).items()):
        if held and held + issued.get(day, 0) > limit:
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
    for _ in seats.lock(session, organisation_id, event_id, {seat for _, seat, _ in found if seat is not None}):
        pass
    for zone in sorted({zone for _, seat, zone in found if seat is None}):
        places.locked(session, organisation_id, event_id, zone)
    return [
        hold
        for batch in _batches([row[0] for row in found])
        for hold in ending.open_holds(session, organisation_id, batch)
    ]


def _batches(ids: Sequence[T]) -> Iterable[Sequence[T]]:
    return (ids[start : start + seats.BATCH_SIZE] for start in range(0, len(ids), seats.BATCH_SIZE))
