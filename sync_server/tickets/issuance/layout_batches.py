"""Finds the requested seats or places in an event's layout, and refuses those that cannot be sold."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from shared.errors import Conflict, InvalidRequest
from shared.tickets import TicketFlags
from sync_server.seating.plans.layout_seats import Seat
from sync_server.tickets import rules
from sync_server.tickets.issuance import seat_flags, wheelchairs, zone_access
from sync_server.tickets.issuance.issue_request import IssueRequest, TicketBatch, TicketDraft
from sync_server.tickets.issuance.layout import IssuingLayout
from sync_server.tickets.models import TicketTypeRecord


def batch_of_places(layout: IssuingLayout, ticket_type: TicketTypeRecord, request: IssueRequest) -> TicketBatch:
    """Tickets without seats; InvalidRequest if their zone has numbered seats, Conflict if it is closed."""
    number = layout.number_of(ticket_type.zone) if ticket_type.zone else None
    if number is None:
        return TicketBatch(
            ticket_type,
            [TicketDraft(ticket_type.zone, member=request.member, flags=_membership_flag(request))] * request.count,
        )
    zone = layout.plan.zones.get(number)
    if zone is None:
        raise Conflict("The zone of this ticket type is closed at this event.", code="zone_closed")
    if zone.zone_type.numbered:
        raise InvalidRequest(f"{zone.name} has numbered seats: name the seats.", field="seats", code="seat_required")
    entitlement = zone_access.guest_entitlement(layout, request, zone, 0)
    zone_access.check_one_guest_per_membership(layout, request, [(0, ticket_type, entitlement)] * request.count)
    flags = seat_flags.flags_from_zone(zone, entitlement, member=request.member is not None)
    return TicketBatch(ticket_type, [TicketDraft(ticket_type.zone, member=request.member, flags=flags)] * request.count)


def _membership_flag(request: IssueRequest) -> TicketFlags:
    return TicketFlags.MEMBERSHIP if request.member else TicketFlags.NONE


def batches_of_seats(
    layout: IssuingLayout, ticket_types: Sequence[TicketTypeRecord], request: IssueRequest
) -> list[TicketBatch]:
    """The requested seats, in one batch per ticket type.

    `ticket_types` has only the requested ticket type, or all of the event if none was requested.
    """
    seats = _find_seats(layout, request.seats)
    _check_available(layout, seats)
    wheelchair_seating = wheelchairs.check_wheelchair_rules(layout, seats, request)
    guest_entitlements = [
        zone_access.guest_entitlement(layout, request, layout.plan.zones[seat.zone], index)
        for index, seat in enumerate(seats)
    ]
    batches: dict[int, TicketBatch] = {}
    guests = []
    for index, (seat, entitlement) in enumerate(zip(seats, guest_entitlements, strict=True)):
        ticket_type = ticket_types[0] if request.ticket_type else _type_for(layout, ticket_types, seat)
        _check_sold_for(layout, ticket_type, seat)
        batch = batches.setdefault(ticket_type.number, TicketBatch(ticket_type))
        guests.append((index, ticket_type, entitlement))
        member = request.of(index)[1] is not None
        flags = seat_flags.flags_from_zone(
            layout.plan.zones[seat.zone], entitlement, member=member
        ) | wheelchairs.flags_of(seat, wheelchair_seating)
        batch.drafts.append(_draft(layout, request, index, seat, flags))
    zone_access.check_one_guest_per_membership(layout, request, guests)
    return list(batches.values())


def _find_seats(layout: IssuingLayout, requested: Sequence[rules.Seat]) -> list[Seat]:
    names = [seat.seat_id for seat in requested]
    if not all(names):
        raise InvalidRequest(
            "This event has a layout: name each seat by its seat_id.", field="seats", code="seat_id_required"
        )
    found = layout.plan.layout.find_all(names)
    unknown = [name for name in names if name not in found]
    if unknown:
        raise InvalidRequest(
            f"This layout has no seat {', '.join(unknown[:10])}.", code="unknown_seat", seats=unknown[:500]
        )
    if len({*found.values()}) < len(names):
        raise InvalidRequest("seats: a seat is listed twice.", field="seats")
    return [layout.plan.layout.seat(found[name]) for name in names]


def _check_available(layout: IssuingLayout, seats: Collection[Seat]) -> None:
    _refuse(
        "zone_closed",
        "The zone is closed at this event",
        [seat for seat in seats if seat.zone not in layout.plan.zones],
    )
    unnumbered = [seat for seat in seats if seat.zone not in layout.plan.numbered]
    _refuse("zone_without_seats", "Seats are not numbered in this zone at this event", unnumbered)
    blocked = [seat for seat in seats if seat.number in layout.plan.blocked]
    _refuse("seat_blocked", "Blocked at this event", blocked)


def _refuse(code: str, message: str, refused: Collection[Seat]) -> None:
    if refused:
        names = [seat.name for seat in refused]
        raise Conflict(f"{message}: {', '.join(names[:10])}. Nothing was issued.", code=code, seats=names[:500])


def _type_for(layout: IssuingLayout, ticket_types: Sequence[TicketTypeRecord], seat: Seat) -> TicketTypeRecord:
    """The one ticket type sold for the seat; of several, the one named like its price category."""
    sold = [
        ticket_type
        for ticket_type in ticket_types
        if _is_sold_for(layout, ticket_type, seat) and (ticket_type.zone or _listed_types(layout, seat))
    ]
    matching = [ticket_type for ticket_type in sold if ticket_type.name.casefold() == seat.price_category.casefold()]
    candidates = matching if len(matching) == 1 else sold
    if len(candidates) != 1:
        raise InvalidRequest(
            f"{seat.name}: {'several ticket types are' if candidates else 'no specific ticket type is'} sold for "
            "it. Name the ticket_type.",
            field="ticket_type",
            code="ticket_type_required",
        )
    return candidates[0]


def _listed_types(layout: IssuingLayout, seat: Seat) -> Sequence[int]:
    return layout.plan.zones[seat.zone].price.get("ticket_types") or ()


def _is_sold_for(layout: IssuingLayout, ticket_type: TicketTypeRecord, seat: Seat) -> bool:
    listed = _listed_types(layout, seat)
    return ticket_type.zone in {0, layout.plan.event_zones[seat.zone]} and (not listed or ticket_type.number in listed)


def _check_sold_for(layout: IssuingLayout, ticket_type: TicketTypeRecord, seat: Seat) -> None:
    if not _is_sold_for(layout, ticket_type, seat):
        raise Conflict(
            f"“{ticket_type.name}” is not sold for {seat.name} in {layout.plan.zones[seat.zone].name}. "
            "Choose another ticket type.",
            code="ticket_type_not_sold_here",
            seats=[seat.name],
        )


def _draft(layout: IssuingLayout, request: IssueRequest, index: int, seat: Seat, flags: TicketFlags) -> TicketDraft:
    _, member = request.of(index)
    printed = rules.Seat(seat.row, seat.seat_number, request.seats[index].holder_name, seat.section, seat.name)
    return TicketDraft(
        layout.plan.event_zones[seat.zone], seat.number, printed, rules.layout_key(seat.number), flags, member
    )
