"""Finds the requested seats or places in an event's layout, and refuses those that cannot be sold."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from shared.errors import Conflict, InvalidRequest
from shared.tickets import TicketFlags
from sync_server.events.days.chosen_days import ChosenDays, joined
from sync_server.seating.plans.layout_seats import Seat
from sync_server.seating.taken import sold_among
from sync_server.tickets import queries, rules
from sync_server.tickets.issuance import seat_flags, wheelchairs, zone_access
from sync_server.tickets.issuance.issue_request import IssueRequest, TicketBatch, TicketDraft
from sync_server.tickets.issuance.layout import IssuingLayout
from sync_server.tickets.issuance.ticket_days import TicketDays
from sync_server.tickets.models import TicketTypeRecord
from sync_server.tickets.types.seat_types import SoldIn, types_of_seat


def batch_of_places(
    layout: IssuingLayout, ticket_type: TicketTypeRecord, request: IssueRequest, days: TicketDays
) -> TicketBatch:
    """Tickets without seats; InvalidRequest if their zone has numbered seats, Conflict if it is closed."""
    number, on_days = layout.number_of(ticket_type.zone) if ticket_type.zone else None, days.of_places(ticket_type)
    if number is None:
        draft = TicketDraft(ticket_type.zone, on_days, member=request.member, flags=_membership_flag(request))
        return TicketBatch(ticket_type, [draft] * request.count)
    zone = layout.plan.zones.get(number)
    if zone is None:
        raise Conflict("The zone of this ticket type is closed at this event.", code="zone_closed")
    if zone.zone_type.numbered:
        raise InvalidRequest(f"{zone.name} has numbered seats: name the seats.", field="seats", code="seat_required")
    entitlement = zone_access.guest_entitlement(layout, request, zone, 0)
    zone_access.check_one_guest_per_membership(layout, request, [(0, on_days, entitlement)] * request.count)
    flags = seat_flags.flags_from_zone(zone, entitlement, member=request.member is not None)
    draft = TicketDraft(ticket_type.zone, on_days, member=request.member, flags=flags)
    return TicketBatch(ticket_type, [draft] * request.count)


def _membership_flag(request: IssueRequest) -> TicketFlags:
    return TicketFlags.MEMBERSHIP if request.member else TicketFlags.NONE


def batches_of_seats(
    layout: IssuingLayout, ticket_types: Sequence[TicketTypeRecord], request: IssueRequest, days: TicketDays
) -> list[TicketBatch]:
    """The requested seats, in one batch per ticket type; `ticket_types` has those that the event offers."""
    seats = _find_seats(layout, request.seats)
    _check_available(layout, seats)
    party = frozenset(seat.number for seat in seats) | {request.joins}
    requested = [request.type_of(index) for index in range(len(seats))]
    named = _named(ticket_types, requested)
    sold_types = [
        named[number] if number else _type_for(layout, ticket_types, seat, layout.plan.price_category(seat, party))
        for number, seat in zip(requested, seats, strict=True)
    ]
    seat_days = [days.of_seat(kind, seat.number) for kind, seat in zip(sold_types, seats, strict=True)]
    all_days = joined([each.bits for each in seat_days])
    _check_whole_groups(layout, seats, request, all_days)
    wheelchair_seating = wheelchairs.check_wheelchair_rules(layout, seats, request, all_days)
    guest_entitlements = [
        zone_access.guest_entitlement(layout, request, layout.plan.zones[seat.zone], index)
        for index, seat in enumerate(seats)
    ]
    batches: dict[int, TicketBatch] = {}
    guests = []
    for index, (seat, entitlement) in enumerate(zip(seats, guest_entitlements, strict=True)):
        ticket_type = sold_types[index]
        _check_sold_for(layout, ticket_type, seat)
        batch = batches.setdefault(ticket_type.number, TicketBatch(ticket_type))
        guests.append((index, seat_days[index], entitlement))
        member = request.of(index)[1] is not None
        flags = seat_flags.flags_from_zone(
            layout.plan.zones[seat.zone], entitlement, member=member
        ) | wheelchairs.flags_of(seat, wheelchair_seating)
        batch.drafts.append(_draft(layout, request, index, seat, seat_days[index], flags))
    zone_access.check_one_guest_per_membership(layout, request, guests)
    return list(batches.values())


def _named(ticket_types: Sequence[TicketTypeRecord], numbers: Collection[int]) -> Mapping[int, TicketTypeRecord]:
    """The ticket types by number; NotFound where one of these is missing."""
    named = {ticket_type.number: ticket_type for ticket_type in ticket_types}
    for number in sorted(numbers):
        if number and number not in named:
            raise queries.no_such_type(number)
    return named


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


def _check_whole_groups(layout: IssuingLayout, seats: Collection[Seat], request: IssueRequest, days: int) -> None:
    """Conflict for a part of a group that is only sold whole, as long as the rest of it is not sold."""
    groups = [layout.plan.sold_whole[seat.number] for seat in seats if seat.number in layout.plan.sold_whole]
    if not groups or request.override:
        return
    members = {seat for group in groups for seat in group.seats}
    sold = sold_among(layout.session, layout.organisation_id, layout.event_id, members, days)
    refusal = layout.plan.part_of_whole({seat.number for seat in seats}, lambda seat: seat not in sold)
    if refusal:
        raise Conflict(refusal.message, code=refusal.reason)


def _refuse(code: str, message: str, refused: Collection[Seat]) -> None:
    if refused:
        names = [seat.name for seat in refused]
        raise Conflict(f"{message}: {', '.join(names[:10])}. Nothing was issued.", code=code, seats=names[:500])


def _type_for(
    layout: IssuingLayout, ticket_types: Sequence[TicketTypeRecord], seat: Seat, price_category: str
) -> TicketTypeRecord:
    """The one ticket type sold for the seat; of several, the one named like its price category."""
    where = SoldIn.at(layout.plan, seat.zone)
    candidates = types_of_seat(ticket_types, where, price_category)
    if len(candidates) != 1:
        raise InvalidRequest(
            f"{seat.name}: {'several ticket types are' if candidates else 'no specific ticket type is'} sold for "
            "it. Name the ticket_type.",
            field="ticket_type",
            code="ticket_type_required",
        )
    return candidates[0]


def _check_sold_for(layout: IssuingLayout, ticket_type: TicketTypeRecord, seat: Seat) -> None:
    if not SoldIn.at(layout.plan, seat.zone).has(ticket_type):
        raise Conflict(
            f"“{ticket_type.name}” is not sold for {seat.name} in {layout.plan.zones[seat.zone].name}. "
            "Choose another ticket type.",
            code="ticket_type_not_sold_here",
            seats=[seat.name],
        )


def _draft(  # noqa: PLR0917 - all that a ticket is made of
    layout: IssuingLayout, request: IssueRequest, index: int, seat: Seat, days: ChosenDays, flags: TicketFlags
) -> TicketDraft:
    _, member = request.of(index)
    printed = rules.Seat(seat.row, seat.seat_number, request.seats[index].holder_name, seat.section, seat.name)
    return TicketDraft(
        layout.plan.event_zones[seat.zone], days, seat.number, printed, rules.layout_key(seat.number), flags, member
    )
