"""Wheelchair places and the companion seats that are kept for them until the zone is nearly full."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass

from sync_server.seating.offers import Care, Refused


@dataclass(frozen=True, slots=True)
class Pairing:
    """A wheelchair place and the seats of those who come along."""

    wheelchair: int
    zone: int
    companions: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Places:
    """The wheelchair places of a house, and what is kept back for them."""

    pairings: tuple[Pairing, ...]
    care: Care

    def wheelchairs(self) -> frozenset[int]:
        """All wheelchair places: never given to a party that did not ask for one."""
        return frozenset(pairing.wheelchair for pairing in self.pairings)

    def kept(self, occupancy: Callable[[int], float]) -> frozenset[int]:
        """The companion seats that only the guest in the wheelchair may book; `occupancy` is a zone's, in percent."""
        if not self.care.enforce:
            return frozenset()
        full = {zone: occupancy(zone) >= self.care.release_percent for zone in {each.zone for each in self.pairings}}
        return frozenset(seat for pairing in self.pairings if not full[pairing.zone] for seat in pairing.companions)

    def closed(self, occupancy: Callable[[int], float]) -> frozenset[int]:
        """What the general public cannot buy."""
        return self.kept(occupancy) | (self.wheelchairs() if self.care.enforce else frozenset())

    def check(
        self,
        seats: Collection[int],
        *,
        owned: Collection[int] = (),
        occupancy: Callable[[int], float],
        staff: bool = False,
    ) -> Refused | None:
        """Why this booking may not be; `owned` are the wheelchair places that the same guest has booked already."""
        if staff or not self.care.enforce:
            return None
        mine = self.wheelchairs() & {*seats, *owned}
        return self._too_many(mine) or self._kept_for_others(seats, mine, occupancy)

    def _too_many(self, mine: Collection[int]) -> Refused | None:
        allowed = self.care.max_wheelchairs
        if len(mine) <= allowed:
            return None
        places = "one wheelchair place" if allowed == 1 else f"{allowed} wheelchair places"
        return Refused(
            "too_many_wheelchair_seats",
            f"A booking holds {places} at most. Ask the box office for more.",
        )

    def _kept_for_others(
        self, seats: Collection[int], mine: Collection[int], occupancy: Callable[[int], float]
    ) -> Refused | None:
        allowed = {seat for pairing in self.pairings if pairing.wheelchair in mine for seat in pairing.companions}
        if not self.kept(occupancy).intersection(seats) - allowed:
            return None
        return Refused(
            "companion_seat_kept",
            "One of these seats is kept for the companion of a guest in a wheelchair. Choose another, or book it "
            "together with its wheelchair place.",
        )

    def companions_of(self, wheelchair: int) -> tuple[int, ...]:
        """The seats beside a wheelchair place, to be shown to whoever books it."""
        return next((each.companions for each in self.pairings if each.wheelchair == wheelchair), ())

    def best(
        self, count: int, companions: int, free: Callable[[int], bool], away: Callable[[int], float]
    ) -> tuple[int, ...] | Refused:
        """The nearest free wheelchair places with as many free companion seats in all; `away` is a place's distance."""
        if refused := self._too_many(range(count)) if self.care.enforce else None:
            return refused
        able = sorted((each for each in self.pairings if free(each.wheelchair)), key=lambda each: away(each.wheelchair))
        # Places with more free seats beside them come first only as far as the party needs them.
        able.sort(key=lambda each: -min(companions, len(_free(each.companions, free))))
        chosen = able[:count]
        seats = [seat for each in chosen for seat in _free(each.companions, free)][:companions]
        if len(chosen) < count:
            return Refused("no_wheelchair_place", "There are not so many wheelchair places left. Ask the box office.")
        if len(seats) < companions:
            return Refused(
                "no_companion_seat",
                "There are not so many seats left beside a wheelchair place. Try fewer companions; the others of your "
                "party may sit nearby.",
            )
        return (*(each.wheelchair for each in chosen), *seats)


def _free(seats: Iterable[int], free: Callable[[int], bool]) -> list[int]:
    return [seat for seat in seats if free(seat)]
