"""The seating of one event as it is now: the grid with its taken seats, wheelchair places and the policy."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property
from typing import Final

from shared.clock import Millis
from shared.errors import Conflict
from sync_server.seating.live_seats import LiveSeats
from sync_server.seating.plans.layout_seats import SeatGroup
from sync_server.seating.plans.seat_plan import SeatPlan
from sync_server.seating.rules import check_group_size
from sync_server.seating.search import bits
from sync_server.seating.search.allocation import best_available, best_together
from sync_server.seating.search.allocation_grid import AllocationGrid
from sync_server.seating.search.offers import Grade, Offer, Refusal, SeatRequest, offer
from sync_server.seating.search.picked_seats import evaluate
from sync_server.seating.search.row_shares import ALL, RowShare

PLACES_DRAWN: Final = 40
"""Among so many places servers draw that search at the same moment."""


class HeldBack(StrEnum):
    """Why the public cannot buy a free seat."""

    BLOCKED = "blocked"
    SOLD_WHOLE = "sold_whole"  # the rest of a table of which the box office sold a part
    COMPANION = "companion"
    WHEELCHAIR = "wheelchair"


@dataclass
class EventSeating:
    """All that decides which seats an event offers; it follows what is taken and released, seat by seat."""

    plan: SeatPlan
    share: RowShare = ALL
    live: LiveSeats = field(init=False)
    grid: AllocationGrid = field(init=False)  # blocked seats, and those reserved for wheelchair users, are closed
    doubtful: set[int] = field(default_factory=set)  # to be read again: an answer with them was written, or was not
    _aside: set[int] = field(default_factory=set)
    _reserved: frozenset[int] = frozenset()  # closed because only some guests may have them
    _nearly_full: frozenset[int] | None = None  # zones whose companion seats are open, when `_reserved` was worked out

    def __post_init__(self) -> None:
        """Close what is blocked, and what is reserved while everything is free."""
        self.live = LiveSeats(self.plan)
        self.grid = AllocationGrid.of(self.plan.rows())
        self.grid.close(filter(self.grid.has, self.plan.blocked))
        self.grid.exempt(filter(self.grid.has, self.plan.deltas.released))
        self._reserve()
        self._spare(self.plan.blocks)

    def apply(self, stored: Iterable[tuple[int, Millis]], now: Millis, touched: Collection[int] | None = None) -> None:
        """Take over until when these seats are taken; the other touched ones (None: all others) are free."""
        self._redraw(self.live.apply(stored, now, touched))

    def set_aside(self, seats: Iterable[int]) -> None:
        """Offer these seats to nobody else while they are being written."""
        chosen = set(seats)
        self._aside |= chosen
        self._redraw(chosen)

    @contextmanager
    def without(self, seats: Iterable[int]) -> Iterator[None]:
        """Search as if these seats were taken: by whoever has seen them and wants others."""
        added = set(seats) - self._aside
        self.set_aside(added)
        try:
            yield
        finally:
            self._aside -= added
            self._redraw(added)

    def settle(self, seats: Collection[int]) -> None:
        """These seats were written, or were not: the table knows, and is read before the next search."""
        self._aside.difference_update(seats)
        self.doubtful.update(seats)

    def _redraw(self, seats: Collection[int]) -> None:
        """Enter the seats that are taken or released by now."""
        if not seats:
            return
        on_sale = {seat for seat in seats if self.grid.has(seat) and seat not in self.plan.blocked}
        drawn = {seat for seat in on_sale if not self.grid.is_open(seat) and seat not in self._reserved}
        taken = {seat for seat in on_sale if not self.free(seat)}
        self.grid.reopen(self._reserved & taken)
        self._reserved -= taken
        self.grid.release(drawn - taken)
        self.grid.take(taken - drawn)
        self._reserve(on_sale)
        self._spare({self._block_of[seat] for seat in on_sale if seat in self._block_of})

    def _reserve(self, changed: Collection[int] = ()) -> None:
        """Close the seats that only some guests may have, if any of them changed or a zone has filled since."""
        nearly_full = self.plan.places.nearly_full(self.live.occupancy)
        if nearly_full == self._nearly_full and self.plan.closed_to_some.isdisjoint(changed):
            return
        self._nearly_full = nearly_full
        closed = self.plan.places.closed_to_public(self.live.occupancy) | self.plan.sold_whole.keys()
        reserved = frozenset(seat for seat in closed if self.free(seat))
        self.grid.reopen(self._reserved - reserved)
        self.grid.close(reserved - self._reserved)
        self._reserved = reserved

    def _spare(self, blocks: Iterable[SeatGroup]) -> None:
        """Offer the seats of whole blocks last, and those of broken ones as any others."""
        for block in blocks:
            if not block.sold_whole:
                self.grid.spare(block.seats, whole=all(map(self.free, block.seats)))

    @cached_property
    def _block_of(self) -> Mapping[int, SeatGroup]:
        return {seat: block for block in self.plan.blocks for seat in block.seats}

    def around(self, seats: Iterable[int]) -> set[int]:
        """What decides whether these seats may be had: themselves, their rows, and the blocks that they are of."""
        near = set[int]()
        for seat in seats:
            near.add(seat)
            if self.grid.has(seat):
                near.update(each for each in self.grid.where(seat)[0].row.seats if each is not None)
            if seat in self._block_of:
                near.update(self._block_of[seat].seats)
        return near

    def taken(self) -> set[int]:
        """The seats that are sold, held or set aside."""
        return self.live.taken() | self._aside

    def free(self, seat: int) -> bool:
        """Whether a seat is on sale and neither taken nor set aside; it may still be reserved."""
        on_sale = self.grid.has(seat) and seat not in self.plan.blocked
        return on_sale and seat not in self._aside and not self.live.is_taken(seat)

    def best(self, request: SeatRequest) -> Offer | Refusal:
        """The best seats left for a group without wheelchairs; InvalidRequest for a group that is too large."""
        check_group_size(self.plan.policy, request.size, staff=request.staff)
        return self._whole_block(request) or best_available(self.grid, request, self.plan.policy.allocation())

    def best_beside_others(self, request: SeatRequest) -> Offer | Refusal:
        """The best seats left; while others are being written, preferably where no other process looks."""
        if not self._aside or self.share.is_all:
            return self.best(request)
        check_group_size(self.plan.policy, request.size, staff=request.staff)
        rows = self.share.rows(len(self.grid.by_rank))
        return self._whole_block(request) or best_together(self.grid, request, rows) or self.best(request)

    def _whole_block(self, request: SeatRequest) -> Offer | None:
        """The nearest table or family block that the group fills."""
        suitable = [block for block in self.plan.blocks if self._suits(block, request)]
        if not suitable:
            return None
        nearest = min(suitable, key=lambda block: sum(map(self._distance, block.seats)))
        found = self._evaluate_opened(nearest.seats, replace(request, staff=True))
        return replace(found, grade=Grade.WHOLE_BLOCK) if isinstance(found, Offer) else None

    def _suits(self, block: SeatGroup, request: SeatRequest) -> bool:
        wanted, layout = request.price_category, self.plan.layout
        return (
            len(block.seats) == request.size
            and (request.zones is None or block.zone in request.zones)
            and all(map(self.free, block.seats))
            and not self._reserved_for_wheelchairs.intersection(block.seats)
            and (wanted is None or all(layout.price_category(seat) == wanted for seat in block.seats))
        )

    @property
    def _reserved_for_wheelchairs(self) -> frozenset[int]:
        return self._reserved - self.plan.sold_whole.keys()

    def one_of_the_best(self, request: SeatRequest, draw: Callable[[int], int]) -> Offer | Refusal:
        """One of the best disjoint places, drawn, so that servers that search at the same moment rarely collide."""
        best = found = self.best(request)
        places: list[Offer] = []
        number = draw(PLACES_DRAWN)  # first: the places behind it need not be searched for
        while isinstance(found, Offer) and isinstance(best, Offer) and found.grade is best.grade:
            places.append(found)
            if len(places) > number:
                break
            self.grid.take(found.seats)
            found = self.best(request)
        self.grid.release(seat for place in places[:number] for seat in place.seats)
        if not places:
            return best
        chosen = places[number % len(places)]
        return offer(chosen.clusters, chosen.grade)  # described anew: the places before it are free again

    def best_with_wheelchairs(self, count: int, companions: int) -> Offer | Refusal:
        """The best wheelchair places left, with companion seats."""
        check_group_size(self.plan.policy, count + companions)
        seats = self.plan.places.best(count, companions, self.free, self._distance)
        if isinstance(seats, Refusal):
            return seats
        return self._evaluate_opened(seats, SeatRequest(len(seats), staff=True))

    def evaluate(self, seats: Collection[int], request: SeatRequest, owned: Collection[int] = ()) -> Offer | Refusal:
        """Check seats that a customer picked; `owned` are those that the same guest already has."""
        check_group_size(self.plan.policy, len(set(seats)), staff=request.staff)
        refusal = self.plan.places.check(seats, owned=owned, occupancy=self.live.occupancy, staff=request.staff)
        refusal = refusal or (None if request.staff else self.plan.part_of_whole(seats, self.free))
        return refusal or self._evaluate_opened(seats, request, owned)

    def _evaluate_opened(
        self, seats: Collection[int], request: SeatRequest, owned: Collection[int] = ()
    ) -> Offer | Refusal:
        """Evaluate seats of which some are closed to the public, but not to this guest."""
        closed = [
            seat for seat in set(seats) if self.grid.has(seat) and not self.grid.is_open(seat) and self.free(seat)
        ]
        # Wheelchair places and companion seats are exempt from the rule against single seats.
        chosen = replace(request, staff=request.staff or bool(closed))
        self.grid.reopen(closed)
        try:
            return evaluate(self.grid, seats, chosen, self.plan.policy.allocation(), owned)
        finally:
            self.grid.close(closed)

    def _distance(self, seat: int) -> float:
        row_state, place = self.grid.where(seat)
        return row_state.away(place, 1)

    def stranded(self) -> dict[int, HeldBack | None]:
        """Seats that nobody has and that have no such neighbour, and what keeps the public from each; None: nothing."""
        found: dict[int, HeldBack | None] = {}
        for row_state in self.grid.rows:
            seats = row_state.row.seats
            left = sum(1 << place for place, seat in enumerate(seats) if seat is not None and not self._is_taken(seat))
            for place in bits.places(bits.lone(left)):
                seat = seats[place]
                assert seat is not None  # noqa: S101 - a bit is a seat
                found[seat] = self.held_back(seat)
        return found

    def _is_taken(self, seat: int) -> bool:
        return seat in self._aside or self.live.is_taken(seat)

    def held_back(self, seat: int) -> HeldBack | None:
        """What keeps the public from a free seat."""
        if seat in self.plan.blocked:
            return HeldBack.BLOCKED
        if self.plan.part_of_whole([seat], self.free):
            return HeldBack.SOLD_WHOLE
        if seat not in self._reserved - self.plan.sold_whole.keys():
            return None
        return HeldBack.WHEELCHAIR if seat in self.plan.places.wheelchairs() else HeldBack.COMPANION

    def companions_kept(self, seats: Iterable[int]) -> tuple[int, ...]:
        """The free companion seats of the wheelchair places among these seats."""
        return tuple(
            companion for seat in seats for companion in self.plan.places.companions_of(seat) if self.free(companion)
        )


def require_offer(result: Offer | Refusal, plan: SeatPlan) -> Offer:
    """The offer; Conflict with the message of the refusal and what could be had instead, also by name."""
    if isinstance(result, Offer):
        return result
    details: dict[str, object] = {}
    if result.instead:
        names = [plan.layout.name(seat) for seat in result.instead.seats]
        details = {"instead": result.instead.description, "instead_seats": names}
    raise Conflict(result.message, code=result.reason, **details)
