"""The rules for wheelchair places and the companion seats reserved for them, when tickets are issued."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy.orm import Session

from shared.errors import Conflict
from shared.tickets import TicketFlags
from sync_server.audit.service import AuditLine, record
from sync_server.plumbing.requests.principals import ActionContext
from sync_server.seating.layouts.plan import Category
from sync_server.seating.plans.layout_seats import Seat
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
    layout: IssuingLayout, seats: Sequence[Seat], request: IssueRequest, days: int
) -> WheelchairSeating:
    """Check the rules for wheelchair places on these days; Conflict if one is broken without an override."""
    requested = frozenset(seat.number for seat in seats)
    if not any(seat.category in _CATEGORIES for seat in seats):
        return WheelchairSeating({}, frozenset(), requested)
    places = layout.plan.places
    unavailable = taken(layout.session, layout.organisation_id, layout.event_id, layout.now, days)
    occupancy = _occupancy(layout, unavailable.seats)
    refusal = places.check(requested, owned=(request.joins,), occupancy=occupancy, staff=bool(request.override))
    if refusal:
        raise Conflict(refusal.message, code=refusal.reason)
    return WheelchairSeating(
        {pairing.wheelchair: pairing.companions for pairing in places.pairings},
        places.reserved_companions(occupancy) - unavailable.seats,
        requested | {request.joins},
    )


def _occupancy(layout: IssuingLayout, seats: Collection[int]) -> Callable[[int], float]:
    used = layout.plan.layout.count_by_zone(seats)

    def percent(zone: int) -> float:
        capacity = layout.plan.zones[zone].capacity
        return 100.0 * used[zone] / capacity if capacity else 100.0

    return percent


def flags_of(seat: Seat, seating: WheelchairSeating) -> TicketFlags:
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
    if not sold or not layout.plan.policy.accessibility_audit_enabled:
        return
    for row in sold:
        reserved = bool(row.flags & TicketFlags.COMPANION_RESERVED)
        after = {
            "event": row.event_id,
            "seat": row.seat_id,
            "companion_reserved": reserved,
            "companion_seats": layout.plan.layout.names_of(layout.plan.places.companions_of(row.seat)),
        }
        where, subject = row.organisation_id, public_id(row.id)
        line = AuditLine(context, "wheelchair_place_sold", "ticket", subject, where, after=after)
        record(session, line)
