"""Finds the seats and places of an event's layout that somebody wishes, and why they cannot be had."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from shared.errors import Conflict, InvalidRequest
from shared.tickets import TicketFlags
from sync_server.seating import queries
from sync_server.seating.queries import CalledSeat
from sync_server.tickets import doors, rules, seat_flags, wheelchairs
from sync_server.tickets.house import House
from sync_server.tickets.models import TicketTypeRecord
from sync_server.tickets.wishes import Admission, Lot, Wish


def places(here: House, kind: TicketTypeRecord, wish: Wish) -> Lot:
    """So many tickets without seats; InvalidRequest where their zone has seats, Conflict where it is closed."""
    number = here.number_of(kind.zone) if kind.zone else None
    if number is None:
        return Lot(kind, [Admission(kind.zone, member=wish.member, flags=_of_member(wish))] * wish.count)
    zone = here.zones.get(number)
    if zone is None:
        raise Conflict("The zone of this ticket type is closed at this event.", code="zone_closed")
    if zone.zone_type.numbered:
        raise InvalidRequest(
            f"In {zone.name} every guest has a seat: name the seats.", field="seats", code="seat_required"
        )
    ground = doors.ground(here, wish, zone, 0)
    doors.one_guest_each(here, wish, [(0, kind, ground)] * wish.count)
    flags = seat_flags.of_zone(zone, ground, member=wish.member is not None)
    return Lot(kind, [Admission(kind.zone, member=wish.member, flags=flags)] * wish.count)


def _of_member(wish: Wish) -> TicketFlags:
    return TicketFlags.MEMBERSHIP if wish.member else TicketFlags.NONE


def seats(here: House, kinds: Sequence[TicketTypeRecord], wish: Wish) -> list[Lot]:
    """The seats of a wish, by ticket type; `kinds` is the one that was asked for, else all there are."""
    called = _called(here, wish.seats)
    _require_open(here, called)
    special = wheelchairs.judged(here, called, wish)
    grounds = [doors.ground(here, wish, here.zones[seat.zone], place) for place, seat in enumerate(called)]
    lots: dict[int, Lot] = {}
    sitting = []
    for place, (seat, ground) in enumerate(zip(called, grounds, strict=True)):
        kind = kinds[0] if wish.ticket_type else _kind_for(here, kinds, seat)
        _require_sold_here(here, kind, seat)
        lot = lots.setdefault(kind.number, Lot(kind))
        sitting.append((place, kind, ground))
        member = wish.of(place)[1] is not None
        flags = seat_flags.of_zone(here.zones[seat.zone], ground, member=member) | wheelchairs.flags_of(seat, special)
        lot.admissions.append(_admission(here, wish, place, seat, flags))
    doors.one_guest_each(here, wish, sitting)
    return list(lots.values())


def _called(here: House, wished: Sequence[rules.Seat]) -> list[CalledSeat]:
    names = [seat.seat_id for seat in wished]
    if not all(names):
        raise InvalidRequest(
            "This event has a layout: name each seat by its seat_id.", field="seats", code="seat_id_required"
        )
    found = queries.seats_called(here.session, here.layout_id, names)
    unknown = [name for name in names if name not in found]
    if unknown:
        raise InvalidRequest(
            f"This layout has no seat {', '.join(unknown[:10])}.", code="unknown_seat", seats=unknown[:500]
        )
    called = [found[name] for name in names]
    if len({seat.number for seat in called}) < len(called):
        raise InvalidRequest("seats: a seat is named twice.", field="seats")
    return called


def _require_open(here: House, called: Collection[CalledSeat]) -> None:
    _refuse("zone_closed", "The zone is closed at this event", [seat for seat in called if seat.zone not in here.zones])
    loose = [seat for seat in called if not here.zones[seat.zone].zone_type.numbered]
    _refuse("zone_without_seats", "At this event nobody has a seat of his own there", loose)
    blocked = [seat for seat in called if seat.number in here.deltas.blocked]
    _refuse("seat_blocked", "Blocked at this event", blocked)


def _refuse(code: str, words: str, wrong: Collection[CalledSeat]) -> None:
    if wrong:
        names = [seat.seat_id for seat in wrong]
        raise Conflict(f"{words}: {', '.join(names[:10])}. Nothing was issued.", code=code, seats=names[:500])


def _kind_for(here: House, kinds: Sequence[TicketTypeRecord], seat: CalledSeat) -> TicketTypeRecord:
    """The one type that is sold here; the one called like the seat's price category where there are several."""
    sold = [kind for kind in kinds if _is_sold_here(here, kind, seat) and (kind.zone or _listed(here, seat))]
    named = [kind for kind in sold if kind.name.casefold() == seat.price_category.casefold()]
    chosen = named if len(named) == 1 else sold
    if len(chosen) != 1:
        raise InvalidRequest(
            f"{seat.seat_id}: {'several ticket types are' if chosen else 'no ticket type of its own is'} sold there. "
            "Name the ticket_type.",
            field="ticket_type",
            code="ticket_type_required",
        )
    return chosen[0]


def _listed(here: House, seat: CalledSeat) -> Sequence[int]:
    return here.zones[seat.zone].price.get("ticket_types") or ()


def _is_sold_here(here: House, kind: TicketTypeRecord, seat: CalledSeat) -> bool:
    listed = _listed(here, seat)
    return kind.zone in {0, here.event_zones[seat.zone]} and (not listed or kind.number in listed)


def _require_sold_here(here: House, kind: TicketTypeRecord, seat: CalledSeat) -> None:
    if not _is_sold_here(here, kind, seat):
        raise Conflict(
            f"“{kind.name}” is not sold for {seat.seat_id} in {here.zones[seat.zone].name}. Take another ticket type.",
            code="ticket_type_not_sold_here",
            seats=[seat.seat_id],
        )


def _admission(here: House, wish: Wish, place: int, seat: CalledSeat, flags: TicketFlags) -> Admission:
    _, member = wish.of(place)
    words = rules.Seat(seat.row, seat.seat_number, wish.seats[place].holder_name, seat.section, seat.seat_id)
    return Admission(here.event_zones[seat.zone], seat.number, words, rules.layout_key(seat.number), flags, member)
