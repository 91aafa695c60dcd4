"""Works out what a move of an event's guests to another layout would come to; nothing is locked or changed."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from sqlalchemy.orm import Session

from sync_server.plumbing.principals import Deed
from sync_server.reseating.asked import Asked, fingerprint
from sync_server.reseating.carrying import Carried, carried
from sync_server.reseating.floor import Place
from sync_server.reseating.planning import Guest, Plan, plan
from sync_server.reseating.saying import Room, Saying
from sync_server.reseating.standing_room import ZoneMove, zone_moves
from sync_server.seating import event_layouts, queries, rules
from sync_server.seating.event_layouts import Chosen
from sync_server.seating.overlay import Deltas, EventZone, event_zones
from sync_server.seating.plan import AccessMode, Category
from sync_server.seating.queries import StandingSeat
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
    seats: Mapping[int, StandingSeat]

    def zone_of(self, seat: int) -> str:
        """The id of the zone in which a seat lies, which is the same in all versions; "": closed."""
        zone = self.zones.get(self.seats[seat].zone)
        return zone.id if zone is not None else ""


@dataclass(frozen=True, slots=True)
class Proposal:
    """A move, worked out: nothing of it is done yet."""

    organisation_id: str
    event_id: str
    before: Side
    after: Side
    guests: Sequence[SeatedTicket]
    plan: Plan
    places: Sequence[ZoneMove]
    flags: Mapping[int, int]  # what each ticket says from now on
    along: Carried
    fingerprint: str

    def new_code(self, guest: SeatedTicket) -> bool:
        """Whether a ticket says otherwise from now on, so that the code that somebody has is replaced."""
        return guest.id in self.plan.moves or self.flags.get(guest.id, guest.flags) != guest.flags


def propose(
    session: Session,
    organisation_id: str,
    event_id: str,
    asked: Chosen,
    deed: Deed,
    *,
    any_price: bool,
    said: Collection[str] = (),
) -> Proposal:
    """The move to the chosen layout; every reason against the layout itself is told at once.

    `said` are the parts of the choice that the organiser spelled out; all others come along from the old layout.
    """
    present = queries.event_layout(session, organisation_id, event_id)
    chosen, along = carried(session, organisation_id, event_id, asked, said)
    examined = event_layouts.examine(session, organisation_id, event_id, chosen, deed)
    before = _before(session, present.layout_id, present.layout_version, queries.deltas(present))
    seats = _seats(session, examined.layout_id)
    after = Side(examined.layout_id, examined.version, examined.deltas, examined.zones, seats)
    guests = list(tickets.seated(session, event_id))
    # What was blocked before is no matter: whoever sat there sat there.
    old = {place.number: place for place in _places(session, replace(before, deltas=Deltas()), any_price=any_price)}
    found = plan(
        [Guest(each.id, each.seat, each.sequence, each.party) for each in guests],
        old,
        _places(session, after, any_price=any_price),
    )
    known = {int(number): int(event_zone) for number, event_zone in present.event_zones.items()}
    places = zone_moves(known, before.zones, after.zones, tickets.seatless(session, event_id))
    policy = rules.effective(queries.policy(session, organisation_id), chosen.seating_overrides)
    of_type = {kind.number: kind.flags for kind in tickets.ticket_types(session, event_id)}
    flags = Saying(_room(session, before), _room(session, after), policy, of_type).flags(guests, found)
    mark = fingerprint(session, Asked(organisation_id, event_id, chosen, any_price), guests)
    return Proposal(organisation_id, event_id, before, after, guests, found, places, flags, along, mark)


def _room(session: Session, side: Side) -> Room:
    return Room(side.zones, side.seats, queries.pairings(session, side.layout_id))


def _before(session: Session, layout_id: str, version: int, deltas: Deltas) -> Side:
    zones = {zone.number: zone for zone in event_zones(queries.zones(session, layout_id), deltas, {})}
    return Side(layout_id, version, deltas, zones, _seats(session, layout_id))


def _seats(session: Session, layout_id: str) -> dict[int, StandingSeat]:
    return {seat.number: seat for seat in queries.standing_seats(session, layout_id)}


def _places(session: Session, side: Side, *, any_price: bool) -> list[Place]:
    beside = {pairing.wheelchair: pairing.companions for pairing in queries.pairings(session, side.layout_id)}
    doors = {number: _door(zone) for number, zone in side.zones.items()}
    ids = {number: zone.id for number, zone in side.zones.items()}
    numbered = {number for number, zone in side.zones.items() if zone.zone_type.numbered}
    return [
        Place(
            seat.number,
            seat.seat_id,
            ids.get(seat.zone, f"closed {seat.zone}"),
            (seat.section, seat.row),
            seat.place,
            (seat.x, seat.y),
            _KIND.get(seat.category, seat.category),
            "" if any_price else seat.price_category,
            doors.get(seat.zone, ""),
            seat.zone not in numbered or seat.number in side.deltas.blocked,
            beside.get(seat.number, ()),
        )
        for seat in side.seats.values()
    ]


def _door(zone: EventZone) -> str:
    """By what a zone tells its guests; those who were let in by one door are not sent to another."""
    if zone.access_mode is AccessMode.PUBLIC:
        return ""
    return f"{zone.access_mode}:{zone.membership_tier or ''}:{','.join(sorted(zone.allowed_roles))}"
