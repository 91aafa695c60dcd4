"""What issuing obeys about wheelchair places and the companion seats that are kept for them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy.orm import Session

from shared.errors import Conflict
from shared.tickets import TicketFlags
from sync_server.audit.service import AuditLine, record
from sync_server.plumbing.principals import Deed
from sync_server.seating import queries
from sync_server.seating.accessibility import Pairing, Places
from sync_server.seating.plan import Category
from sync_server.seating.queries import CalledSeat
from sync_server.seating.taken import taken
from sync_server.tickets.house import House
from sync_server.tickets.models import TicketRecord
from sync_server.tickets.queries import public_id
from sync_server.tickets.wishes import Wish

_SPECIAL = {Category.WHEELCHAIR, Category.COMPANION}


@dataclass(frozen=True, slots=True)
class Special:
    """What is particular about wheelchair places and companion seats of a wish."""

    paired: Mapping[int, tuple[int, ...]]  # companion seats by wheelchair place
    kept: frozenset[int]  # companion seats that are not for everybody now
    wished: frozenset[int]  # with the seat of the guest whom these join


def judged(here: House, called: Sequence[CalledSeat], wish: Wish) -> Special:
    """The rules for guests in wheelchairs; Conflict where the wish breaks one and nobody answers for it."""
    wished = frozenset(seat.number for seat in called)
    if not any(seat.category in _SPECIAL for seat in called):
        return Special({}, frozenset(), wished)
    pairings = _pairings(here)
    gone = taken(here.session, here.event_id, here.now)
    full = _occupancy(here, gone.seats)
    care = Places(pairings, here.policy.care())
    refused = care.check(wished, owned=(wish.joins,), occupancy=full, staff=bool(wish.override))
    if refused:
        raise Conflict(refused.words, code=refused.reason)
    return Special(
        {each.wheelchair: each.companions for each in pairings}, care.kept(full) - gone.seats, wished | {wish.joins}
    )


def _pairings(here: House) -> tuple[Pairing, ...]:
    found = queries.pairings(here.session, here.layout_id)
    return tuple(each for each in found if each.zone in here.zones and here.zones[each.zone].zone_type.numbered)


def _occupancy(here: House, gone: Collection[int]) -> Callable[[int], float]:
    used: Counter[int] = queries.seats_by_zone(here.session, here.layout_id, gone)

    def percent(zone: int) -> float:
        capacity = here.zones[zone].capacity
        return 100.0 * used[zone] / capacity if capacity else 100.0

    return percent


def flags_of(seat: CalledSeat, special: Special) -> TicketFlags:
    """What gates are told of a seat: who sits there, and whether somebody comes along."""
    if seat.category == Category.WHEELCHAIR:
        beside = special.paired.get(seat.number, ())
        reserved = bool(special.kept.intersection(beside) | special.wished.intersection(beside))
        return TicketFlags.WHEELCHAIR | (TicketFlags.COMPANION_RESERVED if reserved else TicketFlags.NONE)
    if seat.category == Category.COMPANION:
        together = any(seat.number in beside and place in special.wished for place, beside in special.paired.items())
        return TicketFlags.COMPANION if together or seat.number in special.kept else TicketFlags.NONE
    return TicketFlags.NONE


def write_down(session: Session, here: House, made: Iterable[TicketRecord], deed: Deed) -> None:
    """Keep in the audit log which wheelchair places were sold, where the policy asks for that."""
    sold = [row for row in made if row.seat and row.flags & TicketFlags.WHEELCHAIR]
    if not sold or not here.policy.accessibility_audit_enabled:
        return
    beside = {each.wheelchair: each.companions for each in _pairings(here)}
    numbers = {number for row in sold for number in beside.get(row.seat, ())}
    names = {seat.number: seat.seat_id for seat in queries.seats_numbered(session, here.layout_id, numbers).values()}
    for row in sold:
        reserved = bool(row.flags & TicketFlags.COMPANION_RESERVED)
        after = {
            "event": row.event_id,
            "seat": row.seat_id,
            "companion_reserved": reserved,
            "companion_seats": [names[number] for number in beside.get(row.seat, ())],
        }
        where, subject = row.organisation_id, public_id(row.id)
        line = AuditLine(deed.actor, "wheelchair_place_sold", "ticket", subject, where, deed.now, None, after)
        record(session, line)
