"""What tickets say of their guests in another layout: the flags that their new seats give, derived as at issuing."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from shared.tickets import TicketFlags
from sync_server.reseating.planning import Plan
from sync_server.seating.accessibility import Pairing, Places
from sync_server.seating.overlay import EventZone
from sync_server.seating.plan import Category
from sync_server.seating.queries import StandingSeat
from sync_server.seating.rules import Policy
from sync_server.tickets import seat_flags, wheelchairs
from sync_server.tickets.queries import SeatedTicket
from sync_server.tickets.seat_flags import Sitting
from sync_server.tickets.wheelchairs import Special


@dataclass(frozen=True, slots=True)
class Room:
    """One of the two layouts, as far as flags ask."""

    zones: Mapping[int, EventZone]
    seats: Mapping[int, StandingSeat]
    pairings: Iterable[Pairing]

    def beside(self) -> dict[str, frozenset[str]]:
        """Which seats belong to which, by what people call them: of a wheelchair place, and of a companion seat."""
        found: dict[str, set[str]] = defaultdict(set)
        for each in self.pairings:
            place = self.seats[each.wheelchair].seat_id
            for number in each.companions:
                found[place].add(self.seats[number].seat_id)
                found[self.seats[number].seat_id].add(place)
        return {name: frozenset(names) for name, names in found.items()}


@dataclass(slots=True)
class Saying:
    """The flags of all guests; most of them are alike, and are worked out once."""

    old: Room
    new: Room
    policy: Policy
    of_type: Mapping[int, int]
    _known: dict[tuple[object, ...], int] = field(default_factory=dict)

    def flags(self, guests: Iterable[SeatedTicket], found: Plan) -> dict[int, int]:
        """By ticket, for everybody who has a seat."""
        seated = [each for each in guests if each.id not in found.unplaced]
        parties: dict[str, set[int]] = defaultdict(set)
        for each in seated:
            parties[each.party or str(each.id)].add(found.seat(each.id))
        special = self._special(found)
        pairs = self.old.beside(), self.new.beside()
        said: dict[int, int] = {}
        for each in seated:
            seat, was = self.new.seats[found.seat(each.id)], self.old.seats[each.seat]
            given = TicketFlags.NONE
            if Category(seat.category) in {Category.WHEELCHAIR, Category.COMPANION}:
                same = each.id in found.stays and pairs[0].get(was.seat_id) == pairs[1].get(seat.seat_id)
                wished = frozenset(parties[each.party or str(each.id)])
                given = self._beside(each, seat, Special(special.paired, special.kept, wished), same=same)
            said[each.id] = self._flags(each, was, seat, given)
        return said

    def _special(self, found: Plan) -> Special:
        pairings = tuple(each for each in self.new.pairings if self._sells(each.zone))
        gone = {place.number for some in (found.stays, found.moves) for place in some.values()}
        used = Counter(self.new.seats[number].zone for number in gone)
        kept = Places(pairings, self.policy.care()).kept(lambda zone: 100.0 * used[zone] / self._capacity(zone))
        return Special({each.wheelchair: each.companions for each in pairings}, kept - gone, frozenset())

    def _sells(self, zone: int) -> bool:
        return zone in self.new.zones and self.new.zones[zone].zone_type.numbered

    def _capacity(self, zone: int) -> int:
        return max(1, self.new.zones[zone].capacity)

    @staticmethod
    def _beside(each: SeatedTicket, seat: StandingSeat, special: Special, *, same: bool) -> TicketFlags:
        """Whoever keeps his place, and with it the seats beside it, is told the same as before: his code stays good."""
        if same:
            return seat_flags.of_seat(TicketFlags(each.flags), Category(seat.category))
        return wheelchairs.flags_of(seat, special)

    def _flags(self, each: SeatedTicket, was: StandingSeat, now: StandingSeat, given: TicketFlags) -> int:
        name = each.flags, each.ticket_type, each.member, was.zone, was.category, now.zone, now.category, given
        if name not in self._known:
            before = Sitting(self.old.zones.get(was.zone), Category(was.category))
            after = Sitting(self.new.zones.get(now.zone), Category(now.category), given)
            of_type = TicketFlags(self.of_type.get(each.ticket_type, 0))
            self._known[name] = int(
                seat_flags.elsewhere(TicketFlags(each.flags), of_type, before, after, member=each.member)
            )
        return self._known[name]
