"""Holds for a group: the seats they picked, the best that are left, or places of a zone without seats."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Final, TypeVar

from sqlalchemy.orm import Session

from shared.errors import Conflict, GatehouseError, InvalidRequest, NotFound
from sync_server.events.days.chosen_days import ChosenDays
from sync_server.holds import rules, service
from sync_server.holds.attempts.evidence import RequestedItems
from sync_server.holds.attempts.hold_request import HoldRequest, HoldResult
from sync_server.holds.attempts.latecomers import require_not_taken
from sync_server.holds.attempts.retrying import Lost, StaleSaleState, repeatedly
from sync_server.holds.attempts.runtime import HoldRuntime, JudgedChoice
from sync_server.holds.caches.sale_state import SaleState
from sync_server.holds.groups import seats_together
from sync_server.holds.models import WHOLE_EVENT
from sync_server.plumbing.event_key import EventKey
from sync_server.seating.event_seating import EventSeating, require_offer
from sync_server.seating.event_seatings import EventSeatings
from sync_server.seating.plans.layout_seats import Seat
from sync_server.seating.search.offers import Offer, SeatRequest

T = TypeVar("T")

UNLIMITED: Final = 2_000_000_000
_TAKEN: Final = frozenset({"seat_held_by_another_user", "seat_not_available"})


@dataclass(frozen=True, slots=True)
class GroupRequest:
    """What a group asks for: seats by id, the best seats, or a number of places."""

    seat_ids: Sequence[str] = ()
    best: int = 0
    count: int = 0  # of places
    zone_ids: Sequence[str] = field(default_factory=tuple)  # where to look for the best; the one zone of places
    wheelchairs: int = 0
    apart: bool = False
    price_category: str | None = None  # of the best
    passed_over: Sequence[str] = ()  # seats that the best shall not be: whoever asks has seen them
    comes_back: bool = False
    """What is left rather than idle: single seats may stay, and who wants to sit together sits in one row or waits."""


@dataclass(frozen=True, slots=True)
class Preview:
    """Seats that a group would get now."""

    sale_state: SaleState
    offer: Offer
    seats: Sequence[Seat]
    companions: Sequence[Seat]  # free seats that are kept for the companions of wheelchair places among them


@dataclass(frozen=True, slots=True)
class GroupHold:
    """One attempt to hold for a group, all or nothing."""

    runtime: HoldRuntime
    seatings: EventSeatings
    request: HoldRequest
    event_id: str
    group: GroupRequest

    def run(self) -> list[HoldResult]:
        """Hold all of it at once; a refusal is raised."""
        return self._repeatedly(self._hold)

    def run_within(self, write: Callable[[Callable[[Session], list[HoldResult]]], T]) -> T:
        """Hold all of it in the caller's transaction: `write` is handed a function that takes its session."""
        return self._repeatedly(
            lambda current, items: write(lambda session: service.hold(session, current, self.request, items))
        )

    def _repeatedly(self, hold: Callable[[SaleState, RequestedItems], T]) -> T:
        sale_state = self.runtime.sale_states.event(self.request.organisation_id, self.event_id)
        return repeatedly(self.runtime, sale_state, partial(self._attempt, hold))

    def _attempt(self, hold: Callable[[SaleState, RequestedItems], T], sale_state: SaleState, lost: int) -> T:
        current, items = self._current_items(sale_state, lost)
        try:
            held = hold(current, items)
            self.runtime.note_singles(current, self.request, JudgedChoice(items.choice, items.singles, items.grade))
            return held
        except Conflict as conflict:
            if self.group.best and conflict.error_code in _TAKEN:
                raise Lost from conflict  # someone else has just taken the best seats: try the next best
            raise
        finally:
            if self.group.best:
                self.seatings.settle(self.event_id, [seat.number for seat in items.seats], items.days)

    def _hold(self, sale_state: SaleState, items: RequestedItems) -> list[HoldResult]:
        """With one statement where nothing stands against it; else in a transaction, which finds out what does."""
        in_session = items.count or items.choice is not None or items.member_zones
        if not in_session and sale_state.event_limit is None:
            chosen, others_do = (items.seats, items.days), bool(self.group.best)
            held = seats_together.hold(self.runtime, sale_state, self.request, *chosen, others_do=others_do)
            if held is not None:
                return held
            self._require_not_taken(sale_state, items.seats, items.days)
        with self.runtime.database.writing() as session:
            return service.hold(session, sale_state, self.request, items)

    def _require_not_taken(self, sale_state: SaleState, seats: Sequence[Seat], days: ChosenDays) -> None:
        """Refuse at once whoever comes too late."""
        event, numbers = EventKey(sale_state.organisation_id, sale_state.id), [seat.number for seat in seats]
        taken = self.runtime.taken_now(event, numbers, days, self.request.now)
        require_not_taken(service.asked(sale_state, self.request, seats), self.request, seats, days, taken)

    def _require(self, sale_state: SaleState, seats: Sequence[Seat] = (), zones: Collection[int] = ()) -> None:
        """Raise a refusal that is certain before the tables are read."""
        closed = self.runtime.access_refusal(sale_state, self.request, zones)
        rules.require(service.asked(sale_state, self.request, seats, closed))

    def _current_items(self, sale_state: SaleState, lost: int) -> tuple[SaleState, RequestedItems]:
        """What is asked for; a refusal by a stale sale state is checked against a fresh one."""
        try:
            return sale_state, self._items(sale_state, lost)
        except GatehouseError:
            fresh = self.runtime.sale_states.current(sale_state.organisation_id, sale_state.id)
            if fresh.sale == sale_state.sale:
                raise
        return fresh, self._items(fresh, lost)

    def _items(self, sale_state: SaleState, lost: int) -> RequestedItems:
        self._require(sale_state)
        days = service.days_of(sale_state, self.request)
        if self.group.seat_ids:
            return self._picked(sale_state, days)
        if self.group.best:
            return self._best(sale_state, days, lost)
        return self._places(sale_state, days)

    def _picked(self, sale_state: SaleState, days: ChosenDays) -> RequestedItems:
        found = {name: sale_state.plan.on_sale(name) for name in self.group.seat_ids}
        if unknown := [name for name, seat in found.items() if seat is None]:
            raise NotFound("This event has no such seat.", code="seat_not_found", seat_ids=unknown[:20])
        seats = list({seat.number: seat for seat in found.values() if seat is not None}.values())
        self._require(sale_state, seats, {seat.zone for seat in seats})
        request = SeatRequest(len(seats), None, self.group.apart, self.request.override)
        numbers = [seat.number for seat in seats]
        if self.runtime.expects(EventKey(sale_state.organisation_id, sale_state.id), numbers, self.request.now):
            self._require_not_taken(sale_state, seats, days)
        choice = self.runtime.judge_choice(self.seatings, sale_state, self.request, numbers, request, days=days)
        return RequestedItems(
            days,
            seats,
            choice=choice.refusal,
            singles=choice.singles,
            grade=choice.grade,
            member_zones=self._member_zones(sale_state, seats),
        )

    def _member_zones(self, sale_state: SaleState, seats: Sequence[Seat]) -> frozenset[int]:
        return self.runtime.member_zones(sale_state, self.request, {seat.zone for seat in seats})

    def preview(self) -> Preview:
        """The best seats left, which are neither held nor set aside."""
        self.runtime.previews.require(self.request)
        sale_state = self.runtime.sale_states.current(self.request.organisation_id, self.event_id)
        return repeatedly(self.runtime, sale_state, lambda current, _: self._previewed(current))

    def _previewed(self, sale_state: SaleState) -> Preview:
        self._require(sale_state)
        with self._searched(sale_state, service.days_of(sale_state, self.request)) as (seating_now, found, seats):
            companions = [seat for seat in seating_now.companions_kept(found.seats) if seat not in found.seats]
            return Preview(sale_state, found, seats, [sale_state.plan.layout.seat(seat) for seat in companions])

    def _best(self, sale_state: SaleState, days: ChosenDays, lost: int) -> RequestedItems:
        """The best seats left, set aside until they are settled."""
        with self._searched(sale_state, days, lost) as (seating_now, found, seats):
            seating_now.set_aside(found.seats)
        return RequestedItems(
            days,
            seats,
            singles=found.orphans,
            grade=found.grade.value,
            member_zones=self._member_zones(sale_state, seats),
        )

    @contextmanager
    def _searched(
        self, sale_state: SaleState, days: ChosenDays, lost: int = 0
    ) -> Iterator[tuple[EventSeating, Offer, list[Seat]]]:
        """The seating of the event on these days, and the best seats left in it."""
        zones = self.runtime.open_zones(sale_state, self.request)
        if self.group.zone_ids:
            named = frozenset(self._zone(sale_state, id) for id in self.group.zone_ids)
            if zones.isdisjoint(named):
                # Not sold out: closed to this guest.
                self._require(sale_state, zones=named)
            zones &= named
        elif self.group.best > 1:
            zones -= self.runtime.member_zones(sale_state, self.request, zones)  # a card admits one guest
        price_category = sale_state.plan.known_price_category(self.group.price_category)
        back = self.group.comes_back
        seat_request = SeatRequest(
            self.group.best,
            zones,
            self.group.apart,
            self.request.override or back,
            price_category=price_category,
            unsplit=back and not self.group.apart,
        )
        plan = sale_state.plan if sale_state.sale.revision else None
        where = sale_state.organisation_id, sale_state.id
        passed_over = [seat.number for seat in map(sale_state.plan.on_sale, self.group.passed_over) if seat is not None]
        with (
            self.seatings.current(*where, self.request.now, plan, days=days) as seating_now,
            seating_now.without(passed_over),
        ):
            if self.group.wheelchairs:
                companions = self.group.best - self.group.wheelchairs
                found = seating_now.best_with_wheelchairs(self.group.wheelchairs, companions)
            elif lost:
                found = seating_now.one_of_the_best(seat_request, self._drawn)
            else:
                found = seating_now.best_beside_others(seat_request)
            best = require_offer(found, seating_now.plan)
            if seating_now.plan != sale_state.plan:
                raise StaleSaleState
            seats = [seating_now.plan.layout.seat(number) for number in best.seats]
            if self.group.wheelchairs:
                self._require(sale_state, zones={seat.zone for seat in seats})
            yield seating_now, best, seats

    def _drawn(self, count: int) -> int:
        return int.from_bytes(self.request.context.entropy(4), "big") % count

    def _places(self, sale_state: SaleState, days: ChosenDays) -> RequestedItems:
        if not sale_state.sale.revision:
            if self.group.zone_ids:
                raise NotFound("This event has no zones.", code="zone_not_found")
            return RequestedItems(days, (), WHOLE_EVENT, self.group.count, UNLIMITED)
        if len(self.group.zone_ids) != 1:
            raise InvalidRequest("zone_id: name the zone of the places.", field="zone_id")
        zone = sale_state.plan.zones[self._zone(sale_state, self.group.zone_ids[0])]
        if zone.zone_type.numbered:
            raise InvalidRequest("This zone has numbered seats: name seats, or ask for the best.", field="zone_id")
        self._require(sale_state, zones=[zone.number])
        member_zones = self.runtime.member_zones(sale_state, self.request, [zone.number])
        return RequestedItems(days, (), zone.number, self.group.count, zone.capacity, member_zones=member_zones)

    @staticmethod
    def _zone(sale_state: SaleState, id: str) -> int:
        for zone in sale_state.plan.zones.values():
            if zone.id == id:
                return zone.number
        raise NotFound("This event has no such zone, or it is closed.", code="zone_not_found")
