"""Wheelchair places, and the companion seats reserved for them until the zone is nearly full."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from functools import cached_property

from sync_server.seating.search.offers import AccessibilityRules, Refusal


@dataclass(frozen=True, slots=True)
class Pairing:
    """A wheelchair place and its companion seats."""

    wheelchair: int
    zone: int
    companions: tuple[int, ...] = ()


@dataclass(frozen=True)
class WheelchairPlaces:
    """The wheelchair places of an event, and which seats are reserved because of them."""

    pairings: tuple[Pairing, ...]
    rules: AccessibilityRules
    released: frozenset[int] = frozenset()  # seats that everybody may book

    @cached_property
    def zones(self) -> frozenset[int]:
        """The zones with wheelchair places."""
        return frozenset(pairing.zone for pairing in self.pairings)

    @cached_property
    def _wheelchairs(self) -> frozenset[int]:
        return frozenset(pairing.wheelchair for pairing in self.pairings)

    def wheelchairs(self) -> frozenset[int]:
        """All wheelchair places; only offered to groups that ask for one."""
        return self._wheelchairs

    def nearly_full(self, occupancy: Callable[[int], float]) -> frozenset[int]:
        """The zones whose companion seats are open to everybody."""
        return frozenset(zone for zone in self.zones if occupancy(zone) >= self.rules.release_percent)

    def reserved_companions(self, occupancy: Callable[[int], float]) -> frozenset[int]:
        """The companion seats that only a wheelchair user may book; `occupancy` gives a zone's occupancy in percent."""
        if not self.rules.enforce:
            return frozenset()
        full = self.nearly_full(occupancy)
        reserved = {seat for pairing in self.pairings if pairing.zone not in full for seat in pairing.companions}
        return frozenset(reserved - self.released)

    def closed_to_public(self, occupancy: Callable[[int], float]) -> frozenset[int]:
        """The seats that the general public cannot buy."""
        wheelchairs = self.wheelchairs() if self.rules.enforce else frozenset()
        return self.reserved_companions(occupancy) | (wheelchairs - self.released)

    def check(
        self,
        seats: Collection[int],
        *,
        owned: Collection[int] = (),
        occupancy: Callable[[int], float],
        staff: bool = False,
    ) -> Refusal | None:
        """Why this booking is refused; `owned` are the wheelchair places that the same guest already has."""
        if staff or not self.rules.enforce:
            return None
        mine = self.wheelchairs() & {*seats, *owned}
        return self._too_many(mine) or self._reserved_for_others(seats, mine, occupancy)

    def _too_many(self, mine: Collection[int]) -> Refusal | None:
        allowed = self.rules.max_wheelchairs
        if len(mine) <= allowed:
            return None
        places = "one wheelchair place" if allowed == 1 else f"{allowed} wheelchair places"
        return Refusal(
            "too_many_wheelchair_seats",
            f"A booking can include at most {places}. Ask the box office for more.",
        )

    def _reserved_for_others(
        self, seats: Collection[int], mine: Collection[int], occupancy: Callable[[int], float]
    ) -> Refusal | None:
        allowed = {seat for pairing in self.pairings if pairing.wheelchair in mine for seat in pairing.companions}
        if not self.reserved_companions(occupancy).intersection(seats) - allowed:
            return None
        return Refusal(
            "companion_seat_kept",
            "One of these seats is reserved for the companion of a wheelchair user. Choose another seat, or book it "
            "together with its wheelchair place.",
        )

    def companions_of(self, wheelchair: int) -> tuple[int, ...]:
        """The companion seats of a wheelchair place."""
        return next((each.companions for each in self.pairings if each.wheelchair == wheelchair), ())

    def best(
        self, count: int, companions: int, free: Callable[[int], bool], distance: Callable[[int], float]
    ) -> tuple[int, ...] | Refusal:
        """The `count` nearest free wheelchair places with so many free companion seats in total."""
        if refusal := self._too_many(range(count)) if self.rules.enforce else None:
            return refusal
        pairings = [pairing for pairing in self.pairings if free(pairing.wheelchair)]
        pairings.sort(key=lambda pairing: distance(pairing.wheelchair))
        # Prefer places with more free companion seats, but only as many as the group needs.
        pairings.sort(key=lambda pairing: -min(companions, len(_free(pairing.companions, free))))
        chosen = pairings[:count]
        seats = [seat for each in chosen for seat in _free(each.companions, free)][:companions]
        if len(chosen) < count:
            return Refusal("no_wheelchair_place", "There are not enough wheelchair places left. Ask the box office.")
        if len(seats) < companions:
            return Refusal(
                "no_companion_seat",
                "There are not enough companion seats left. Try fewer companions; the others can sit nearby.",
            )
        return (*(each.wheelchair for each in chosen), *seats)


def _free(seats: Iterable[int], free: Callable[[int], bool]) -> list[int]:
    return [seat for seat in seats if free(seat)]
