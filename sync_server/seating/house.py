"""The house of one event as it stands now: its hall with what is taken, its wheelchair places, its policy."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace

from sqlalchemy.orm import Session

from shared.clock import Millis
from shared.errors import Conflict, InvalidRequest
from sync_server.seating import queries
from sync_server.seating.accessibility import Pairing, Places
from sync_server.seating.allocation import best_available
from sync_server.seating.choices import judge
from sync_server.seating.geometry import NumberedSeat, hall_rows
from sync_server.seating.hall import Hall
from sync_server.seating.models import EventLayoutRecord
from sync_server.seating.offers import Offer, Refused, Wish
from sync_server.seating.overlay import EventZone, event_zones
from sync_server.seating.rules import Policy, check_party, effective
from sync_server.seating.taken import Taken, taken


@dataclass(slots=True)
class House:
    """Everything that decides about seats at one event."""

    layout_id: str
    zones: Mapping[int, EventZone]
    hall: Hall  # what is blocked, or kept for guests in wheelchairs, is closed
    places: Places
    policy: Policy
    gone: Taken
    blocked: frozenset[int]
    _seats_gone: Counter[int] = field(default_factory=Counter)  # by zone
    _kept: frozenset[int] = frozenset()  # closed for the sake of guests in wheelchairs

    def correct(self, gone: Taken) -> None:
        """Take and return seats, so that the house stands as `gone` says."""
        before, after = self._sold(self.gone), self._sold(gone)
        self.hall.reopen(self._kept)
        self.hall.release(before - after)
        self.hall.take(after - before)
        self._seats_gone.subtract(self._zone_of(seat) for seat in before - after)
        self._seats_gone.update(self._zone_of(seat) for seat in after - before)
        self.gone = gone
        self._kept = frozenset(seat for seat in self.places.closed(self.occupancy) if self.free(seat))
        self.hall.close(self._kept)

    def _sold(self, gone: Taken) -> set[int]:
        return {seat for seat in gone.seats if self.hall.has(seat) and seat not in self.blocked}

    def _zone_of(self, seat: int) -> int:
        return self.hall.where(seat)[0].row.zone

    def occupancy(self, zone: int) -> float:
        """How full a zone is, in percent."""
        capacity = self.zones[zone].capacity if zone in self.zones else 0
        return 100.0 * (self._seats_gone[zone] + self.gone.places[zone]) / capacity if capacity else 100.0

    def free(self, seat: int) -> bool:
        """Whether a seat is neither blocked nor taken, whoever it may be kept for."""
        return self.hall.has(seat) and seat not in self.blocked and seat not in self.gone.seats

    def best(self, wish: Wish) -> Offer | Refused:
        """The best seats left for a party without wheelchairs; InvalidRequest for a party that is too large."""
        check_party(self.policy, wish.size, staff=wish.staff)
        return best_available(self.hall, wish, self.policy.manners())

    def best_with_wheelchairs(self, count: int, companions: int) -> Offer | Refused:
        """The best wheelchair places left, with companion seats."""
        check_party(self.policy, count + companions)
        found = self.places.best(count, companions, self.free, self._away)
        return found if isinstance(found, Refused) else self._opened(found, Wish(len(found), staff=True))

    def judged(self, seats: Collection[int], wish: Wish, owned: Collection[int] = ()) -> Offer | Refused:
        """A customer's own choice; `owned` are the wheelchair places that the same guest has booked already."""
        check_party(self.policy, len(set(seats)), staff=wish.staff)
        refused = self.places.check(seats, owned=owned, occupancy=self.occupancy, staff=wish.staff)
        return refused or self._opened(seats, wish)

    def _opened(self, seats: Collection[int], wish: Wish) -> Offer | Refused:
        """Judge seats of which some are closed to the public, but not to this guest."""
        kept = [seat for seat in set(seats) if self.hall.has(seat) and not self.hall.is_open(seat) and self.free(seat)]
        # Places for wheelchairs and companions are never orphans to be avoided: the rule is about all the others.
        chosen = replace(wish, staff=wish.staff or bool(kept))
        self.hall.reopen(kept)
        try:
            return judge(self.hall, seats, chosen, self.policy.manners())
        finally:
            self.hall.close(kept)

    def _away(self, seat: int) -> float:
        standing, place = self.hall.where(seat)
        return standing.away(place, 1)

    def companions_kept(self, seats: Iterable[int]) -> tuple[int, ...]:
        """The companion seats kept for whoever books these, to be shown to him."""
        return tuple(
            companion for seat in seats for companion in self.places.companions_of(seat) if self.free(companion)
        )


def house(session: Session, organisation_id: str, event_id: str, now: Millis) -> House:
    """The house of an event that has a layout, or NotFound."""
    found = empty_house(session, queries.event_layout(session, organisation_id, event_id))
    found.correct(taken(session, event_id, now))
    return found


def empty_house(session: Session, row: EventLayoutRecord) -> House:
    """The house of an event as if nothing were sold."""
    deltas = queries.deltas(row)
    by_zone = queries.seats_by_zone(session, row.layout_id, deltas.blocked)
    zones = {zone.number: zone for zone in event_zones(queries.zones(session, row.layout_id), deltas, by_zone)}
    policy = policy_at(session, row)
    numbered = {number for number, zone in zones.items() if zone.zone_type.numbered}
    seats = [seat for seat in queries.numbered_seats(session, row.layout_id) if seat.zone in numbered]
    hall = Hall.of(hall_rows(seats, {zone.number: (zone.name, zone.focus) for zone in zones.values()}))
    hall.close(seat for seat in deltas.blocked if hall.has(seat))
    places = Places(_at_event(session, row.layout_id, seats), policy.care())
    return House(row.layout_id, zones, hall, places, policy, Taken(row.event_id), deltas.blocked)


def policy_at(session: Session, row: EventLayoutRecord) -> Policy:
    """The policy that holds at an event."""
    return effective(queries.policy(session, row.organisation_id), row.seating_overrides)


def _at_event(session: Session, layout_id: str, seats: Iterable[NumberedSeat]) -> tuple[Pairing, ...]:
    here = {seat.number for seat in seats}
    return tuple(pairing for pairing in queries.pairings(session, layout_id) if pairing.wheelchair in here)


def numbers_of(session: Session, house: House, named: Iterable[str]) -> list[int]:
    """The numbers of seats by their ids or seat_ids; InvalidRequest for one that the layout does not have."""
    names = list(named)
    numbers = queries.seat_numbers(session, house.layout_id, names)
    unknown = [name for name in names if name not in numbers]
    if unknown:
        raise InvalidRequest(f"This layout has no seat {', '.join(unknown[:10])}.", code="unknown_seat")
    return [numbers[name] for name in names]


def given(answer: Offer | Refused) -> Offer:
    """The offer; Conflict in the words of the refusal, with what could be had instead."""
    if isinstance(answer, Offer):
        return answer
    details = {"instead": answer.instead.words} if answer.instead else {}
    raise Conflict(answer.words, code=answer.reason, **details)
