"""The rules for wheelchair places and the companion seats reserved for them, when tickets are issued."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy.orm import Session

from shared.errors import Conflict
from shared.tickets import TicketFlags
from sync_server.audit.service import AuditLine, record
from sync_server.plumbing.principals import ActionContext
from sync_server.seating import queries
from sync_server.seating.layouts.plan import Category
from sync_server.seating.queries import SeatDetails
from sync_server.seating.search.accessibility import Pairing, WheelchairPlaces
from sync_server.seating.taken import taken
from sync_server.tickets.issuance.issue_request import IssueRequest
from sync_server.tickets.issuance.layout import IssuingLayout
from sync_server.tickets.models import TicketRecord
from sync_server.tickets.queries import public_id

_CATEGORIES = {Category.WHEELCHAIR, Category.COMPANION}


@dataclass(frozen=True, slots=True)
class WheelchairSeating:
    """Wheelchair places and companion seats of a request."""

    companions: Mapping[int, tuple[int, ...]]  # companion seats by wheelchair place
    reserved: frozenset[int]  # companion seats that are reserved now
    requested: frozenset[int]  # and the seat of the ticket that the request joins


def check_wheelchair_rules(
    layout: IssuingLayout, seats: Sequence[SeatDetails], request: IssueRequest
) -> WheelchairSeating:
    """Check the rules for wheelchair places; Conflict if the request breaks one without an override."""
    requested = frozenset(seat.number for seat in seats)
    if not any(seat.category in _CATEGORIES for seat in seats):
        return WheelchairSeating({}, frozenset(), requested)
    pairings = _pairings(layout)
    unavailable = taken(layout.session, layout.event_id, layout.now)
    occupancy = _occupancy(layout, unavailable.seats)
    places = WheelchairPlaces(pairings, layout.policy.accessibility())
    refusal = places.check(requested, owned=(request.joins,), occupancy=occupancy, staff=bool(request.override))
    if refusal:
        raise Conflict(refusal.message, code=refusal.reason)
    return WheelchairSeating(
        {pairing.wheelchair: pairing.companions for pairing in pairings},
        places.reserved_companions(occupancy) - unavailable.seats,
        requested | {request.joins},
    )


def _pairings(layout: IssuingLayout) -> tuple[Pairing, ...]:
    found = queries.pairings(layout.session, layout.layout_id)
    return tuple(each for each in found if each.zone in layout.zones and layout.zones[each.zone].zone_type.numbered)


def _occupancy(layout: IssuingLayout, seats: Collection[int]) -> Callable[[int], float]:
    used: Counter[int] = queries.seats_by_zone(layout.session, layout.layout_id, seats)

    def percent(zone: int) -> float:
        capacity = layout.zones[zone].capacity
        return 100.0 * used[zone] / capacity if capacity else 100.0

    return percent


def flags_of(seat: SeatDetails, seating: WheelchairSeating) -> TicketFlags:
    """The flags of a wheelchair place or companion seat."""
    if seat.category == Category.WHEELCHAIR:
        companions = seating.companions.get(seat.number, ())
        reserved = bool(seating.reserved.intersection(companions) | seating.requested.intersection(companions))
        return TicketFlags.WHEELCHAIR | (TicketFlags.COMPANION_RESERVED if reserved else TicketFlags.NONE)
    if seat.category == Category.COMPANION:
        accompanies = any(
            seat.number in companions and place in seating.requested for place, companions in seating.companions.items()
        )
        return TicketFlags.COMPANION if accompanies or seat.number in seating.reserved else TicketFlags.NONE
    return TicketFlags.NONE


def record_wheelchair_sales(
    session: Session, layout: IssuingLayout, tickets: Iterable[TicketRecord], context: ActionContext
) -> None:
    """Record in the audit log which wheelchair places were sold, if the policy asks for it."""
    sold = [row for row in tickets if row.seat and row.flags & TicketFlags.WHEELCHAIR]
    if not sold or not layout.policy.accessibility_audit_enabled:
        return
    companions = {each.wheelchair: each.companions for each in _pairings(layout)}
    numbers = {number for row in sold for number in companions.get(row.seat, ())}
    names = {seat.number: seat.seat_id for seat in queries.seats_by_number(session, layout.layout_id, numbers).values()}
    for row in sold:
        reserved = bool(row.flags & TicketFlags.COMPANION_RESERVED)
        after = {
            "event": row.event_id,
            "seat": row.seat_id,
            "companion_reserved": reserved,
            "companion_seats": [names[number] for number in companions.get(row.seat, ())],
        }
        where, subject = row.organisation_id, public_id(row.id)
        line = AuditLine(context.actor, "wheelchair_place_sold", "ticket", subject, where, context.now, None, after)
        record(session, line)
