"""Sells, frees and moves seats and places for the rooms above: from holds or from what is free, all of it or nothing.

Everybody locks in one order, so that nobody waits in a circle: the event (where it is needed), seats ascending,
places, then holds.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TypeVar

from sqlalchemy import select
from sqlalchemy.orm import Session

from shared.clock import Millis
from shared.errors import Conflict, InvalidRequest
from sync_server.events import queries as events
from sync_server.holds import ending, places, queries, seats
from sync_server.holds.models import WHOLE_EVENT, HoldRow, HoldStatus, SeatOfEventRow, SeatState
from sync_server.plumbing.principals import Deed
from sync_server.seating import queries as seating
from sync_server.seating.overlay import EventZone, event_zones

T = TypeVar("T")


def sell(
    session: Session,
    organisation_id: str,
    event_id: str,
    tickets: Mapping[int, int],
    deed: Deed,
    *,
    holds: Collection[str] = (),
) -> None:
    """Give seats (by number) to tickets (by id): from these holds, which are converted, or from what is free.

    Conflict `seat_taken` names the seats that cannot be had, `hold_expired` a hold whose time is over; then nothing
    is sold.
    """
    event = events.event(session, organisation_id, event_id)
    present = seats.locked(session, event_id, tickets)
    mine = _mine(session, organisation_id, event_id, holds, deed.now)
    at_stake = {id: hold for id, hold in mine.items() if hold.seat in tickets}
    if gone := {seat for seat in tickets if not seats.obtainable(present.get(seat), deed.now, at_stake)}:
        raise _taken(session, organisation_id, event_id, gone)
    _end_overdue(session, event.number, present.values(), at_stake, deed)
    got = seats.sell(session, organisation_id, event_id, tickets, now=deed.now, mine=list(at_stake))
    if len(got) < len(tickets):
        raise _taken(session, organisation_id, event_id, set(tickets) - got)
    ending.end(session, event.number, list(at_stake.values()), HoldStatus.CONVERTED, deed)


def _mine(
    session: Session, organisation_id: str, event_id: str, ids: Collection[str], now: Millis
) -> dict[str, HoldRow]:
    wanted = set(ids)
    mine = {
        hold.id: hold
        for hold in ending.living(session, wanted)
        if hold.organisation_id == organisation_id and hold.event_id == event_id
    }
    stale = sorted(id for id in wanted if id not in mine or mine[id].held_until <= now)
    if stale:
        raise Conflict(
            "The time of a hold is over, or it was given up. Choose the seats again.", code="hold_expired", holds=stale
        )
    return mine


def _end_overdue(
    session: Session, event_number: int, rows: Iterable[SeatOfEventRow], mine: Collection[str], deed: Deed
) -> None:
    """Whoever buys a seat whose hold is over ends that hold: the sweeper may not have come by yet."""
    over = {row.hold_id for row in rows if row.state == SeatState.HELD and row.hold_id and row.hold_id not in mine}
    ending.end(session, event_number, ending.living(session, over), HoldStatus.EXPIRED, deed)


def _taken(session: Session, organisation_id: str, event_id: str, gone: Collection[int]) -> Conflict:
    layout = seating.maybe_event_layout(session, organisation_id, event_id)
    names = seating.seat_names(session, layout.layout_id, gone) if layout else [str(seat) for seat in sorted(gone)]
    return Conflict(f"Taken already: {', '.join(names[:20])}. Nothing was sold.", code="seat_taken", seats=names[:500])


def free(session: Session, event_id: str, tickets: Collection[int], _now: Millis) -> list[int]:
    """Let the seats of these tickets be sold again; which seats those were."""
    return seats.unsell(session, event_id, tickets)


def move(
    session: Session, organisation_id: str, event_id: str, moves: Mapping[int, tuple[int, int]], deed: Deed
) -> None:
    """Give tickets other seats: {ticket: (old seat, new seat)}, all at once, so that they may change with one another.

    Conflict `seat_taken` where a new seat is not free, or a ticket has not the old one any more; then nobody moves.
    """
    event = events.event(session, organisation_id, event_id)
    new = {to: ticket for ticket, (_, to) in moves.items()}
    if len(new) < len(moves):
        raise InvalidRequest("Two tickets cannot move to one seat.", code="seat_named_twice")
    everybody = seats.lock(session, event_id, {*new, *(old for old, _ in moves.values())})
    _end_overdue(session, event.number, [row for row in everybody if _over(row, deed.now)], (), deed)
    owners = {old: ticket for ticket, (old, _) in moves.items()}
    if strangers := owners.keys() ^ seats.vacate(session, event_id, list(moves)):
        raise _taken(session, organisation_id, event_id, strangers)
    for some in _chunks(sorted(new)):
        got = seats.sell(session, organisation_id, event_id, {seat: new[seat] for seat in some}, now=deed.now)
        if len(got) < len(some):
            raise _taken(session, organisation_id, event_id, {*some} - got)


def _over(row: SeatOfEventRow, now: Millis) -> bool:
    return row.state == SeatState.HELD and row.held_until is not None and row.held_until <= now


def sell_places(  # noqa: PLR0917 - the same words in the same order as sell
    session: Session,
    organisation_id: str,
    event_id: str,
    zone: int,
    count: int,
    deed: Deed,
    *,
    holds: Collection[str] = (),
) -> None:
    """Sell places of a zone without seats (by its number in the layout), of which these holds have some already.

    Conflict `zone_full` where the zone has not so many left, `hold_expired` for a hold whose time is over.
    """
    event = events.event(session, organisation_id, event_id)
    capacity = _zone(session, organisation_id, event_id, zone).capacity
    places.locked(session, event_id, zone)
    mine = _mine(session, organisation_id, event_id, holds, deed.now)
    at_stake = [hold for hold in mine.values() if hold.kind == "places" and hold.zone == zone]
    held = sum(hold.quantity for hold in at_stake)
    _require_all_bought(held, count)

    def sold() -> bool:
        return places.sell(session, organisation_id, event_id, zone, count, held=held, capacity=capacity)

    if not sold() and not (end_overdue_places(session, event_id, event.number, zone, deed) and sold()):
        raise Conflict(f"The zone has not {count} places left.", code="zone_full", zone=zone)
    ending.end(session, event.number, at_stake, HoldStatus.CONVERTED, deed)


def use_up(
    session: Session, organisation_id: str, event_id: str, count: int, deed: Deed, *, holds: Collection[str]
) -> None:
    """Turn places held at an event without a layout into so many tickets: what was held is now counted as sold.

    Conflict `hold_expired` for a hold whose time is over.
    """
    event = events.event(session, organisation_id, event_id)
    places.locked(session, event_id, WHOLE_EVENT)
    mine = list(_mine(session, organisation_id, event_id, holds, deed.now).values())
    held = sum(hold.quantity for hold in mine)
    _require_all_bought(held, count)
    places.let_go(session, event_id, WHOLE_EVENT, held)
    ending.end(session, event.number, mine, HoldStatus.CONVERTED, deed)


def _require_all_bought(held: int, count: int) -> None:
    if held > count:
        raise InvalidRequest(f"{held} places are held and {count} are bought: give up the others first.", field="count")


def free_places(session: Session, event_id: str, zone: int, count: int, _now: Millis) -> None:
    """Let sold places be sold again."""
    if not places.unsell(session, event_id, zone, count):
        raise Conflict(f"The zone has not sold {count} places.", code="places_not_sold", zone=zone)


def end_overdue_places(
    session: Session, event_id: str, event_number: int, zone: int, deed: Deed, *, for_ms: Millis = 0
) -> int:
    """End what has been over `for_ms` but is counted still, so that its places are free; how many places that gave."""
    places.locked(session, event_id, zone)
    over = ending.living(session, [hold.id for hold in places.overdue(session, event_id, zone, deed.now - for_ms)])
    over = [hold for hold in over if hold.held_until <= deed.now - for_ms]
    count = sum(hold.quantity for hold in over)
    if count:
        places.let_go(session, event_id, zone, count)
        ending.end(session, event_number, over, HoldStatus.EXPIRED, deed)
    return count


def require_room(session: Session, organisation_id: str, event_id: str, now: Millis) -> None:
    """Conflict `capacity_exceeded` where more is issued and held than the event sells in all.

    For whoever has locked the event's row, and issued: zones and seats guard themselves, an event that sells less than
    they have is guarded here alone. What somebody holds, nobody else gets.
    """
    event = events.event(session, organisation_id, event_id, lock=True)
    most = event.capacity or (0 if event.layout_room else event.venue_capacity)
    if not most or (event.layout_room and most >= event.layout_room):
        return
    held = queries.occupancy(session, event_id, now).held
    if held and held + event.tickets_issued > most:
        raise Conflict(
            f"{held} of the last places are held by guests for some minutes. Ask for fewer, or try again later.",
            code="capacity_exceeded",
            held=held,
        )


def _zone(session: Session, organisation_id: str, event_id: str, number: int) -> EventZone:
    for zone in zones_of(session, organisation_id, event_id):
        if zone.number == number and not zone.zone_type.numbered:
            return zone
    raise InvalidRequest("The event has no open zone of that number without seats.", code="unknown_zone", zone=number)


def zones_of(session: Session, organisation_id: str, event_id: str) -> Sequence[EventZone]:
    """The zones that are open at an event with a layout."""
    row = seating.event_layout(session, organisation_id, event_id)
    deltas = seating.deltas(row)
    blocked = seating.seats_by_zone(session, row.layout_id, deltas.blocked)
    return event_zones(seating.zones(session, row.layout_id), deltas, blocked)


def living_holds(session: Session, event_id: str) -> list[HoldRow]:
    """All holds of an event that have not ended, with their seats and places locked."""
    here = HoldRow.event_id == event_id, HoldRow.status.in_([HoldStatus.ACTIVE.value, HoldStatus.SUSPENDED.value])
    found = session.execute(select(HoldRow.id, HoldRow.seat, HoldRow.zone).where(*here)).all()
    seats.locked(session, event_id, [seat for _, seat, _ in found if seat is not None])
    for zone in sorted({zone for _, seat, zone in found if seat is None}):
        places.locked(session, event_id, zone)
    return [hold for some in _chunks([row[0] for row in found]) for hold in ending.living(session, some)]


def _chunks(ids: Sequence[T]) -> Iterable[Sequence[T]]:
    return (ids[start : start + seats.AT_ONCE] for start in range(0, len(ids), seats.AT_ONCE))
