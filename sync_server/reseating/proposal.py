"""Works out a move of an event's guests to another layout, without locking or changing anything."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from sqlalchemy.orm import Session

from sync_server.plumbing.principals import ActionContext
from sync_server.reseating.carryover import CarriedOver, carry_over
from sync_server.reseating.fingerprints import ResolvedMove, fingerprint
from sync_server.reseating.free_seats import LayoutSeat
from sync_server.reseating.general_admission import ZoneMove, zone_moves
from sync_server.reseating.planning import Guest, SeatingPlan, plan
from sync_server.reseating.ticket_flags import FlagResolver, LayoutSeats
from sync_server.seating import event_layouts, queries, rules
from sync_server.seating.event_layouts import LayoutChoice
from sync_server.seating.layouts.overlay import Deltas, EventZone, event_zones
from sync_server.seating.layouts.plan import AccessMode, Category
from sync_server.seating.queries import LocatedSeat
from sync_server.tickets import queries as tickets
from sync_server.tickets.queries import SeatedTicket

_KIND = {Category.AISLE.value: Category.STANDARD.value}


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two layouts of a move, as the event uses it."""

    layout_id: str
    version: int
    deltas: Deltas
    zones: Mapping[int, EventZone]
    seats: Mapping[int, LocatedSeat]

    def zone_of(self, seat: int) -> str:
        """The id of the zone of a seat, which is the same in all versions; "" for a closed zone."""
        zone = self.zones.get(self.seats[seat].zone)
        return zone.id if zone is not None else ""


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
    before = _before(session, current.layout_id, current.layout_version, queries.deltas(current))
    seats = _seats(session, checked.layout_id)
    after = Side(checked.layout_id, checked.version, checked.deltas, checked.zones, seats)
    guests = list(tickets.seated_tickets(session, event_id))
    # Seats blocked in the old layout count too: their guests still have to be moved.
    old = {seat.number: seat for seat in _layout_seats(session, replace(before, deltas=Deltas()), any_price=any_price)}
    seating_plan = plan(
        [Guest(ticket.id, ticket.seat, ticket.sequence, ticket.group_id) for ticket in guests],
        old,
        _layout_seats(session, after, any_price=any_price),
    )
    event_zone_numbers = {int(number): int(event_zone) for number, event_zone in current.event_zones.items()}
    places = zone_moves(event_zone_numbers, before.zones, after.zones, tickets.count_seatless(session, event_id))
    policy = rules.effective(queries.policy(session, organisation_id), chosen.seating_overrides)
    of_type = {kind.number: kind.flags for kind in tickets.ticket_types(session, event_id)}
    flags = FlagResolver(_flag_seats(session, before), _flag_seats(session, after), policy, of_type).flags(
        guests, seating_plan
    )
    digest = fingerprint(session, ResolvedMove(organisation_id, event_id, chosen, any_price), guests)
    return Proposal(organisation_id, event_id, before, after, guests, seating_plan, places, flags, carried, digest)


def _flag_seats(session: Session, side: Side) -> LayoutSeats:
    return LayoutSeats(side.zones, side.seats, queries.pairings(session, side.layout_id))


def _before(session: Session, layout_id: str, version: int, deltas: Deltas) -> Side:
    zones = {zone.number: zone for zone in event_zones(queries.zones(session, layout_id), deltas, {})}
    return Side(layout_id, version, deltas, zones, _seats(session, layout_id))


def _seats(session: Session, layout_id: str) -> dict[int, LocatedSeat]:
    return {seat.number: seat for seat in queries.located_seats(session, layout_id)}


def _layout_seats(session: Session, side: Side, *, any_price: bool) -> list[LayoutSeat]:
    companions = {pairing.wheelchair: pairing.companions for pairing in queries.pairings(session, side.layout_id)}
    access = {number: _access(zone) for number, zone in side.zones.items()}
    ids = {number: zone.id for number, zone in side.zones.items()}
    numbered = {number for number, zone in side.zones.items() if zone.zone_type.numbered}
    return [
        LayoutSeat(
            seat.number,
            seat.seat_id,
            ids.get(seat.zone, f"closed {seat.zone}"),
            (seat.section, seat.row),
            seat.place,
            (seat.x, seat.y),
            _KIND.get(seat.category, seat.category),
            "" if any_price else seat.price_category,
            access.get(seat.zone, ""),
            seat.zone not in numbered or seat.number in side.deltas.blocked,
            companions.get(seat.number, ()),
        )
        for seat in side.seats.values()
    ]


def _access(zone: EventZone) -> str:
    """The access rules of a zone as a key: guests are only moved to zones with the same rules, or public ones."""
    if zone.access_mode is AccessMode.PUBLIC:
        return ""
    return f"{zone.access_mode}:{zone.membership_tier or ''}:{','.join(sorted(zone.allowed_roles))}"
