"""Works out a move of an event's guests to another layout, without locking or changing anything."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from sqlalchemy.orm import Session

from sync_server.plumbing.requests.principals import ActionContext
from sync_server.reseating.carryover import CarriedOver, carry_over
from sync_server.reseating.fingerprints import ResolvedMove, fingerprint
from sync_server.reseating.general_admission import ZoneMove, zone_moves
from sync_server.reseating.planning import Guest, SeatingPlan, plan
from sync_server.reseating.sides import Side
from sync_server.reseating.ticket_flags import FlagResolver
from sync_server.seating import event_layouts, queries, rules
from sync_server.seating.event_layouts import LayoutChoice
from sync_server.seating.layouts.overlay import Deltas, event_zones
from sync_server.seating.plans.layout_seats import LayoutSeats
from sync_server.seating.plans.seat_plans import layout_seats
from sync_server.tickets import queries as tickets
from sync_server.tickets.queries import SeatedTicket


@dataclass(frozen=True, slots=True)
class Proposal:
    """A move that has been worked out but not carried out."""

    organisation_id: str
    event_id: str
    before: Side
    after: Side
    guests: Sequence[SeatedTicket]
    plan: SeatingPlan
    places: Sequence[ZoneMove]
    flags: Mapping[int, int]  # by ticket, in the new layout
    carried: CarriedOver
    fingerprint: str

    def new_code(self, guest: SeatedTicket) -> bool:
        """Whether the content of a ticket changes, so that its code must be replaced."""
        return guest.id in self.plan.moves or self.flags.get(guest.id, guest.flags) != guest.flags


def propose(
    session: Session,
    organisation_id: str,
    event_id: str,
    requested: LayoutChoice,
    context: ActionContext,
    *,
    any_price: bool,
    given: Collection[str] = (),
) -> Proposal:
    """Work out the move to the requested layout; raises if the event cannot use that layout at all.

    `given` names the parts of the choice that the organiser gave; the others are carried over from the old layout.
    """
    current = queries.event_layout(session, organisation_id, event_id)
    chosen, carried = carry_over(session, organisation_id, event_id, requested, given)
    checked = event_layouts.examine(session, organisation_id, event_id, chosen, context)
    old_seats, new_seats = (layout_seats(session, organisation_id, id) for id in (current.layout_id, checked.layout_id))
    before = _before(old_seats, current.layout_version, queries.deltas(current))
    after = Side(new_seats, checked.version, checked.deltas, checked.zones)
    guests = list(tickets.seated_tickets(session, organisation_id, event_id))
    # Seats blocked in the old layout count too: their guests still have to be moved.
    old = {seat.number: seat for seat in replace(before, deltas=Deltas()).seats(any_price=any_price)}
    seating_plan = plan(
        [Guest(ticket.id, ticket.seat, ticket.sequence, ticket.group_id, ticket.days) for ticket in guests],
        old,
        after.seats(any_price=any_price),
    )
    event_zone_numbers = {int(number): int(event_zone) for number, event_zone in current.event_zones.items()}
    places = zone_moves(
        event_zone_numbers, before.zones, after.zones, tickets.count_seatless(session, organisation_id, event_id)
    )
    policy = rules.effective(queries.policy(session, organisation_id), chosen.seating_overrides)
    of_type = {kind.number: kind.flags for kind in tickets.ticket_types(session, organisation_id, event_id)}
    flags = FlagResolver(before, after, policy, of_type).flags(guests, seating_plan)
    digest = fingerprint(session, ResolvedMove(organisation_id, event_id, chosen, any_price), guests)
    return Proposal(organisation_id, event_id, before, after, guests, seating_plan, places, flags, carried, digest)


def _before(layout: LayoutSeats, version: int, deltas: Deltas) -> Side:
    return Side(layout, version, deltas, {zone.number: zone for zone in event_zones(layout.zones, deltas, {})})
