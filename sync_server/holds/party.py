"""Holds for a whole party at once: seats they picked, the best that are left, or places where nobody has a seat."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Final, TypeVar

from sqlalchemy.orm import Session

from shared.errors import Conflict, InvalidRequest, NotFound
from sync_server.customers import queries as customers
from sync_server.holds import rules, service
from sync_server.holds.asking import Asking, Held
from sync_server.holds.box_office import BoxOffice
from sync_server.holds.known import Known
from sync_server.holds.models import WHOLE_EVENT
from sync_server.holds.service import Wanted
from sync_server.seating import queries as seating
from sync_server.seating.house import given
from sync_server.seating.houses import Houses
from sync_server.seating.offers import Wish
from sync_server.seating.spots import Spot

T = TypeVar("T")

UNBOUND: Final = 2_000_000_000
_LOST: Final = frozenset({"seat_held_by_another_user", "seat_not_available", "seat_no_longer_available"})


@dataclass(frozen=True, slots=True)
class Party:
    """What a party asks for: one of the three."""

    seat_ids: Sequence[str] = ()
    best: int = 0
    count: int = 0  # of places
    zone_ids: Sequence[str] = field(default_factory=tuple)  # where to look for the best; the one zone of places
    wheelchairs: int = 0
    apart: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """One party's way to its seats."""

    office: BoxOffice
    houses: Houses
    asking: Asking
    event_id: str
    party: Party

    def run(self) -> list[Held]:
        """All of it held, or a refusal in words."""
        return self.run_within(self._alone)

    def run_within(self, write: Callable[[Callable[[Session], list[Held]]], T]) -> T:
        """The same in a transaction of somebody else's, who calls what `write` is handed with its session."""
        known = self.office.knowing.anew(self.asking.organisation_id, self.event_id)
        lost = 0
        for _ in range(10):
            rules.check_sale(known.sale, self.asking.now)
            try:
                return write(partial(self._held, known=known, wanted=self._wanted(known)))
            except service.Stale:
                known = self.office.knowing.look(known.organisation_id, known.id, known)
            except Conflict as conflict:
                # The best that were left went to others in this very moment: then the next best.
                if not self.party.best or conflict.error_code not in _LOST or lost == rules.TRIES:
                    raise
                self.office.wait(rules.pause_ms(lost))
                lost += 1
        raise rules.no_longer_available()

    def _alone(self, hold: Callable[[Session], list[Held]]) -> list[Held]:
        with self.office.database.writing() as session:
            return hold(session)

    def _held(self, session: Session, known: Known, wanted: Wanted) -> list[Held]:
        if self.asking.kind == "guest" and not customers.is_here(session, self.asking.id, self.asking.now):
            raise rules.session_over()
        return service.hold(session, known, self.asking, wanted)

    def _wanted(self, known: Known) -> Wanted:
        if self.party.seat_ids:
            return Wanted(self._picked(known))
        if self.party.best:
            return Wanted(self._best(known))
        return self._places(known)

    def _picked(self, known: Known) -> list[Spot]:
        ids = list(dict.fromkeys(self._ids(known)))
        unknown = [id for id in ids if id not in known.plan.spots]
        if unknown:
            raise NotFound("This event has no such seat.", code="seat_not_found", seat_ids=unknown[:20])
        spots = [known.plan.spots[id] for id in ids]
        blocked = [spot for spot in spots if spot.blocked]
        if blocked:
            raise rules.naming(rules.not_available("blocked"), {spot.id: spot.name for spot in blocked})
        self.office.require_access(known, self.asking, [spot.zone for spot in spots])
        wish = Wish(len(spots), None, self.party.apart, self.asking.override)
        self.office.consider(self.houses, known, self.asking, [spot.number for spot in spots], wish)
        return spots

    def _ids(self, known: Known) -> list[str]:
        """The seats by their ids; they may also be called as the layout calls them: A-12."""
        asked = [word.lower() if word.lower() in known.plan.spots else word for word in self.party.seat_ids]
        words = [word for word in asked if word not in known.plan.spots]
        if not words or not known.sale.revision:
            return asked
        with self.office.database.reading() as session:
            numbers = seating.seat_numbers(session, known.plan.layout_id, words)
        called = {word: known.plan.numbers.get(number, word) for word, number in numbers.items()}
        return [called.get(word, word) for word in asked]

    def _best(self, known: Known) -> list[Spot]:
        zones = self.office.open_zones(known, self.asking)
        if self.party.zone_ids:
            named = frozenset(self._zone(known, id) for id in self.party.zone_ids)
            if zones.isdisjoint(named):
                self.office.require_access(known, self.asking, named)  # not sold out: not for this guest
            zones &= named
        wish = Wish(self.party.best, zones, self.party.apart, self.asking.override)
        with (
            self.office.database.reading() as session,
            self.houses.house(session, known.organisation_id, known.id, self.asking.now) as house,
        ):
            if self.party.wheelchairs:
                companions = self.party.best - self.party.wheelchairs
                offer = given(house.best_with_wheelchairs(self.party.wheelchairs, companions))
            else:
                offer = given(house.best(wish))
        spots = [known.plan.spots[known.plan.numbers[seat]] for seat in offer.seats]
        self.office.require_access(known, self.asking, [spot.zone for spot in spots])
        return spots

    def _places(self, known: Known) -> Wanted:
        if not known.sale.revision:
            if self.party.zone_ids:
                raise NotFound("This event has no zones of that kind.", code="zone_not_found")
            return Wanted((), WHOLE_EVENT, self.party.count, UNBOUND)
        if len(self.party.zone_ids) != 1:
            raise InvalidRequest("zone_id: name the one zone whose places are wanted.", field="zone_id")
        zone = known.plan.zones[self._zone(known, self.party.zone_ids[0])]
        if zone.zone_type.numbered:
            raise InvalidRequest(
                "Every guest of this zone has a seat: name seats, or ask for the best.", field="zone_id"
            )
        self.office.require_access(known, self.asking, [zone.number])
        return Wanted((), zone.number, self.party.count, zone.capacity)

    @staticmethod
    def _zone(known: Known, id: str) -> int:
        for zone in known.plan.zones.values():
            if zone.id == id:
                return zone.number
        raise NotFound("This event has no such zone, or it is closed.", code="zone_not_found")
