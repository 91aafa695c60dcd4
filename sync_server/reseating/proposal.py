"""Works out what a move of an event's guests to another layout would come to, from the database as it stands."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import orjson
from sqlalchemy.orm import Session

from sync_server.plumbing.principals import Deed
from sync_server.reseating.carrying import Carried, carried
from sync_server.reseating.floor import Place
from sync_server.reseating.planning import Guest, Plan, plan
from sync_server.seating import event_layouts, queries
from sync_server.seating.event_layouts import Chosen
from sync_server.seating.overlay import Deltas, EventZone, event_zones
from sync_server.seating.plan import AccessMode, Category
from sync_server.seating.queries import StandingSeat
from sync_server.tickets import queries as tickets
from sync_server.tickets import rules as ticket_rules
from sync_server.tickets.queries import SeatedTicket

_KIND = {Category.AISLE.value: Category.STANDARD.value}


@dataclass(frozen=True, slots=True)
class ZoneMove:
    """Guests without seats: they stay in their zone, if there is room for them."""

    name: str
    before: int  # number in the old layout
    after: int | None  # number in the new one; None: no such zone, or one with seats
    sold: int
    capacity: int

    @property
    def fits(self) -> bool:
        """Whether everybody finds a place."""
        return self.after is not None and self.sold <= self.capacity


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two layouts of a move, as the event uses it."""

    layout_id: str
    version: int
    deltas: Deltas
    zones: Mapping[int, EventZone]
    seats: Mapping[int, StandingSeat]

    def vip(self, seat: int) -> bool:
        """Whether this seat is in a zone for very important people."""
        zone = self.zones.get(self.seats[seat].zone)
        return zone is not None and zone.zone_type.vip


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
    chosen: Chosen  # with what came along from the old layout
    along: Carried
    fingerprint: str

    @property
    def seats(self) -> dict[int, int]:
        """Everybody's number in the new layout, by ticket."""
        return {ticket: place.number for ticket, place in (self.plan.stays | self.plan.moves).items()}

    @property
    def new_codes(self) -> int:
        """How many tickets say otherwise from now on, so that the codes that people have are replaced."""
        return sum(
            each.id in self.plan.moves or self.flags[each.id] != each.flags
            for each in self.guests
            if each.id in self.flags
        )

    @property
    def leaves_nobody_out(self) -> bool:
        """Whether everybody has a seat or a place."""
        return not self.plan.unplaced and all(zone.fits for zone in self.places)


def propose(
    session: Session, organisation_id: str, event_id: str, asked: Chosen, deed: Deed,
    *, any_price: bool, said: Collection[str] = (),
) -> Proposal:  # fmt: skip
    """The move to the chosen layout; every reason against the layout itself is told at once.

    `said` are the parts of the choice that the organiser spelled out; all others come along from the old layout.
    """
    present = queries.event_layout(session, organisation_id, event_id)
    chosen, along = carried(session, organisation_id, event_id, asked, said)
    examined = event_layouts.examine(session, organisation_id, event_id, chosen, deed)
    before = _before(session, present.layout_id, present.layout_version, queries.deltas(present))
    seats = _seats(session, examined.layout_id)
    after = Side(examined.layout_id, examined.version, examined.deltas, examined.zones, seats)
    guests = tickets.seated(session, event_id)
    # What was blocked before is no matter: whoever sat there sat there.
    old = {place.number: place for place in _places(session, replace(before, deltas=Deltas()), any_price=any_price)}
    found = plan(
        [Guest(each.id, each.seat, each.sequence, each.party) for each in guests], old,
        _places(session, after, any_price=any_price),
    )  # fmt: skip
    known = {int(number): int(event_zone) for number, event_zone in present.event_zones.items()}
    places = _zone_moves(known, before.zones, after.zones, tickets.seatless(session, event_id))
    mark = _fingerprint([present.revision, present.layout_id, asdict(chosen), any_price], guests, found, places)
    of_type = {kind.number: kind.flags for kind in tickets.ticket_types(session, event_id)}
    flags = {
        each.id: _flags(each, of_type, before, after.vip(found.seat(each.id)))
        for each in guests
        if each.id not in found.unplaced
    }
    return Proposal(organisation_id, event_id, before, after, guests, found, places, flags, chosen, along, mark)


def _flags(each: SeatedTicket, of_type: Mapping[int, int], before: Side, vip: bool) -> int:
    was_vip = before.vip(each.seat)
    return ticket_rules.flags_elsewhere(each.flags, of_type.get(each.ticket_type, 0), vip=vip, was_vip=was_vip)


def _before(session: Session, layout_id: str, version: int, deltas: Deltas) -> Side:
    zones = {zone.number: zone for zone in event_zones(queries.zones(session, layout_id), deltas, {})}
    return Side(layout_id, version, deltas, zones, _seats(session, layout_id))


def _seats(session: Session, layout_id: str) -> dict[int, StandingSeat]:
    return {seat.number: seat for seat in queries.standing_seats(session, layout_id)}


def _fingerprint(asked: list[Any], guests: Iterable[SeatedTicket], found: Plan, places: Iterable[ZoneMove]) -> str:
    """The same if, and only if, the same was asked of the same guests and would come to the same."""
    said = [
        *asked,
        [(each.id, each.seat, each.issue, each.state, each.party, each.flags) for each in guests],
        [asdict(each) for each in places],
    ]
    said += [sorted((ticket, place.number) for ticket, place in some.items()) for some in (found.stays, found.moves)]
    said.append(sorted(found.unplaced.items()))
    return hashlib.sha256(orjson.dumps(said, option=orjson.OPT_SORT_KEYS)).hexdigest()


def _places(session: Session, side: Side, *, any_price: bool) -> list[Place]:
    beside = {pairing.wheelchair: pairing.companions for pairing in queries.pairings(session, side.layout_id)}
    doors = {number: _door(zone) for number, zone in side.zones.items()}
    ids = {number: zone.id for number, zone in side.zones.items()}
    numbered = {number for number, zone in side.zones.items() if zone.zone_type.numbered}
    return [
        Place(
            seat.number, seat.seat_id, ids.get(seat.zone, f"closed {seat.zone}"), (seat.section, seat.row), seat.place,
            (seat.x, seat.y), _KIND.get(seat.category, seat.category), "" if any_price else seat.price_category,
            doors.get(seat.zone, ""), seat.zone not in numbered or seat.number in side.deltas.blocked,
            beside.get(seat.number, ()),
        )
        for seat in side.seats.values()
    ]  # fmt: skip


def _door(zone: EventZone) -> str:
    """By what a zone tells its guests; those who were let in by one door are not sent to another."""
    if zone.access_mode is AccessMode.PUBLIC:
        return ""
    return f"{zone.access_mode}:{zone.membership_tier or ''}:{','.join(sorted(zone.allowed_roles))}"


def _zone_moves(
    known: Mapping[int, int], old: Mapping[int, EventZone], new: Mapping[int, EventZone], sold: Mapping[int, int]
) -> list[ZoneMove]:
    by_id = {zone.id: zone for zone in new.values() if not zone.zone_type.numbered}
    moves = []
    for zone in old.values():
        count = 0 if zone.zone_type.numbered else sold.get(known.get(zone.number, 0), 0)
        after = by_id.get(zone.id)
        if count:
            room = after.capacity if after else 0
            moves.append(ZoneMove(zone.name, zone.number, after.number if after else None, count, room))
    return moves
