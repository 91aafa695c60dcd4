"""Derives the flags of tickets from their seats in the new layout, by the same rules as at issue."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from shared.tickets import TicketFlags
from sync_server.reseating.planning import SeatingPlan
from sync_server.reseating.sides import Side
from sync_server.seating.layouts.plan import Category
from sync_server.seating.plans.layout_seats import Seat
from sync_server.seating.rules import Policy
from sync_server.seating.search.accessibility import WheelchairPlaces
from sync_server.tickets.issuance import seat_flags, wheelchairs
from sync_server.tickets.issuance.seat_flags import SeatTraits
from sync_server.tickets.issuance.wheelchairs import WheelchairSeating
from sync_server.tickets.queries import SeatedTicket


@dataclass(slots=True)
class FlagResolver:
    """Derives the flags of all tickets; equal cases, which are most of them, are derived once."""

    old: Side
    new: Side
    policy: Policy
    of_type: Mapping[int, int]
    _cache: dict[tuple[object, ...], int] = field(default_factory=dict)

    def flags(self, guests: Iterable[SeatedTicket], plan: SeatingPlan) -> dict[int, int]:
        """The flags by ticket, for every ticket with a seat."""
        seated = [ticket for ticket in guests if ticket.id not in plan.unplaced]
        groups: dict[str, set[int]] = defaultdict(set)
        for ticket in seated:
            groups[ticket.group_id or str(ticket.id)].add(plan.seat(ticket.id))
        special = self._special(plan)
        pairs = self.old.paired_seats(), self.new.paired_seats()
        flags: dict[int, int] = {}
        for ticket in seated:
            seat, old_seat = self.new.layout.seat(plan.seat(ticket.id)), self.old.layout.seat(ticket.seat)
            given = TicketFlags.NONE
            if seat.category in {Category.WHEELCHAIR, Category.COMPANION}:
                same = ticket.id in plan.stays and pairs[0].get(old_seat.name) == pairs[1].get(seat.name)
                seats_of_group = frozenset(groups[ticket.group_id or str(ticket.id)])
                given = self._flags_from_pairing(
                    ticket, seat, WheelchairSeating(special.companions, special.reserved, seats_of_group), same=same
                )
            flags[ticket.id] = self._flags(ticket, old_seat, seat, given)
        return flags

    def _special(self, plan: SeatingPlan) -> WheelchairSeating:
        pairings = tuple(pairing for pairing in self.new.layout.pairings if self.new.sells_seats(pairing.zone))
        taken = {seat.number for seats in (plan.stays, plan.moves) for seat in seats.values()}
        used = self.new.layout.count_by_zone(taken)
        reserved = WheelchairPlaces(pairings, self.policy.accessibility()).reserved_companions(
            lambda zone: 100.0 * used[zone] / self._capacity(zone)
        )
        return WheelchairSeating(
            {pairing.wheelchair: pairing.companions for pairing in pairings}, reserved - taken, frozenset()
        )

    def _capacity(self, zone: int) -> int:
        return max(1, self.new.zones[zone].capacity)

    @staticmethod
    def _flags_from_pairing(ticket: SeatedTicket, seat: Seat, special: WheelchairSeating, *, same: bool) -> TicketFlags:
        """The flags from wheelchair places; a guest with the same paired seats keeps theirs, and so the code."""
        if same:
            return seat_flags.flags_from_seat(TicketFlags(ticket.flags), seat.category)
        return wheelchairs.flags_of(seat, special)

    def _flags(self, ticket: SeatedTicket, old: Seat, new: Seat, given: TicketFlags) -> int:
        key = ticket.flags, ticket.ticket_type, ticket.member, old.zone, old.category, new.zone, new.category, given
        if key not in self._cache:
            before = SeatTraits(self.old.zones.get(old.zone), old.category)
            after = SeatTraits(self.new.zones.get(new.zone), new.category, given)
            of_type = TicketFlags(self.of_type.get(ticket.ticket_type, 0))
            self._cache[key] = int(
                seat_flags.flags_after_move(TicketFlags(ticket.flags), of_type, before, after, member=ticket.member)
            )
        return self._cache[key]
