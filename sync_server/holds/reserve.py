"""Holds one seat: checks the cached sale state, runs the one statement, and acts on its outcome."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from msgspec import structs
from sqlalchemy.orm import Session

from shared.errors import GatehouseError, NotFound
from shared.ids import uuid7
from sync_server.events.days.chosen_days import ChosenDays
from sync_server.holds import rules, service
from sync_server.holds.attempts.evidence import RequestedItems, lock_counter
from sync_server.holds.attempts.hold_request import HoldRequest, HoldResult
from sync_server.holds.attempts.hold_rows import SeatHold, hold_rows
from sync_server.holds.attempts.latecomers import require_not_taken
from sync_server.holds.attempts.retrying import Lost, StaleSaleState, repeatedly
from sync_server.holds.attempts.runtime import HoldRuntime, JudgedChoice
from sync_server.holds.caches.hold_cache import Key
from sync_server.holds.caches.sale_state import SaleState
from sync_server.holds.groups import seats_together
from sync_server.holds.rules import Asked, Limits, Outcome
from sync_server.plumbing.sql.autocommit import WriteConflict
from sync_server.seating.event_seatings import EventSeatings
from sync_server.seating.plans.layout_seats import Seat
from sync_server.seating.plans.seat_plan import WALL
from sync_server.seating.search.offers import SeatRequest
from sync_server.seating.search.tidy_patterns import EVERY_PATTERN, NEIGHBOUR_BITS, tidy_patterns

T = TypeVar("T")


class SeatReservation:
    """One request for one seat."""

    def __init__(
        self, runtime: HoldRuntime, seatings: EventSeatings, request: HoldRequest, event_id: str, seat_id: str
    ) -> None:
        self._runtime, self._seatings, self._request = runtime, seatings, request
        self._event_id, self._seat_id = event_id, seat_id
        self._checked = False  # the choice, against all seats of the event
        self._choice = JudgedChoice()

    def run(self) -> HoldResult:
        """Hold the seat; a refusal is raised."""
        return self._repeatedly(self._attempt)

    def run_within(self, write: Callable[[Callable[[Session], HoldResult]], T]) -> T:
        """Hold the seat in the caller's transaction: `write` is handed a function that takes its session."""
        return self._repeatedly(lambda sale_state, seat, _: self._in_session(write, sale_state, seat))

    def _repeatedly(self, attempt: Callable[[SaleState, Seat, Asked], T | None]) -> T:
        sale_state = self._runtime.sale_states.event(self._request.organisation_id, self._event_id)
        found = repeatedly(self._runtime, sale_state, lambda current, _: attempt(*self._current(current)))
        self._runtime.note_singles(sale_state, self._request, self._choice)
        return found

    def _current(self, sale_state: SaleState) -> tuple[SaleState, Seat, Asked]:
        """The seat as the event sells it; a refusal by a stale sale state is checked against a fresh one."""
        try:
            return sale_state, *self._seat(sale_state)
        except GatehouseError:
            fresh = self._runtime.sale_states.current(sale_state.organisation_id, sale_state.id)
            if fresh.sale == sale_state.sale:
                raise
        return fresh, *self._seat(fresh)

    def _seat(self, sale_state: SaleState) -> tuple[Seat, Asked]:
        service.days_of(sale_state, self._request)
        seat = sale_state.plan.on_sale(self._seat_id)
        if seat is None:
            rules.require(service.asked(sale_state, self._request))
            raise NotFound("This event has no such seat.", code="seat_not_found")
        closed = self._runtime.access_refusal(sale_state, self._request, [seat.zone])
        asked = service.asked(sale_state, self._request, [seat], closed)
        rules.require(asked)
        return seat, asked

    def _attempt(self, sale_state: SaleState, seat: Seat, asked: Asked) -> HoldResult | None:
        days = service.days_of(sale_state, self._request)
        if len(days.numbers) == 1:
            holder = self._runtime.holder(_key(sale_state, seat), days, self._request.now)
            if holder is not None:
                require_not_taken(asked, self._request, [seat], days, {seat.number: holder})
        if sale_state.event_limit is not None or self._runtime.member_zones(sale_state, self._request, [seat.zone]):
            return self._in_transaction(sale_state, seat)
        if len(days.numbers) > 1:
            return self._for_several_days(sale_state, seat, days)
        if self._needs_check(sale_state, seat):
            self._check_choice(sale_state, seat)
        try:
            return self._with_one_statement(sale_state, seat, asked, days)
        except WriteConflict:
            raise Lost from None

    def _for_several_days(self, sale_state: SaleState, seat: Seat, days: ChosenDays) -> HoldResult:
        """With the statement for several seats; where something stands against it, a transaction finds out what."""
        if self._needs_check(sale_state, seat, in_session=True):
            self._check_choice(sale_state, seat)
        held = None
        if self._choice.refusal is None:
            held = seats_together.hold(self._runtime, sale_state, self._request, [seat], days)
        return held[0] if held else self._in_transaction(sale_state, seat)

    def _needs_check(self, sale_state: SaleState, seat: Seat, *, in_session: bool = False) -> bool:
        if self._checked:
            return False
        # The one statement finds single seats itself.
        special = seat.number in sale_state.plan.special or sale_state.policy.prefer_clustering_over_selection
        return in_session or (special and not self._request.override)

    def _check_choice(self, sale_state: SaleState, seat: Seat) -> None:
        """Check the choice against all seats of the event."""
        self._choice = self._runtime.judge_choice(
            self._seatings,
            sale_state,
            self._request,
            [seat.number],
            SeatRequest(1, staff=self._request.override),
            days=service.days_of(sale_state, self._request),
        )
        self._checked = True

    def _with_one_statement(
        self, sale_state: SaleState, seat: Seat, asked: Asked, days: ChosenDays
    ) -> HoldResult | None:
        values = self._values(sale_state, seat, asked, days)
        read = self._runtime.run_statement(values)
        if read.done:
            held = SeatHold(values["hold_id"], seat, values["until"], days)
            self._runtime.keep_held(sale_state, self._request, [held])
            return held.result(sale_state)
        seen = read.evidence(seat, days, self._choice.refusal, self._request.now)
        if seen.taken and read.state == rules.HELD:
            self._runtime.hold_cache.local.see(_key(sale_state, seat), read.held_until or 0)
        outcome = rules.require(asked, seen)
        if outcome is Outcome.MINE_ALREADY and days.names:
            return self._in_transaction(sale_state, seat)  # that hold may have other days, too
        if outcome is Outcome.MINE_ALREADY:
            mine = SeatHold(read.my_hold or "", seat, read.my_until or 0, days)
            return structs.replace(mine.result(sale_state), created=False)
        return self._act_on(outcome, sale_state, seat)

    def _act_on(self, outcome: Outcome | None, sale_state: SaleState, seat: Seat) -> HoldResult | None:
        """Do what is needed before the next attempt; the transaction that ends an overdue hold also makes the new."""
        if outcome is None:
            raise Lost
        if outcome is Outcome.RELOAD:
            raise StaleSaleState
        if outcome is Outcome.CREATE_COUNTER:
            request = self._request
            with self._runtime.database.writing() as session:
                lock_counter(session, request.id, request.organisation_id, request.now)
        if outcome is Outcome.CHECK_CHOICE:
            self._check_choice(sale_state, seat)
        return self._in_transaction(sale_state, seat) if outcome is Outcome.OVERDUE else None

    def _in_transaction(self, sale_state: SaleState, seat: Seat) -> HoldResult:
        """In an ordinary transaction: an overdue hold must be ended first, or the whole event counted."""

        def write(hold: Callable[[Session], HoldResult]) -> HoldResult:
            with self._runtime.database.writing() as session:
                return hold(session)

        return self._in_session(write, sale_state, seat)

    def _in_session(
        self, write: Callable[[Callable[[Session], HoldResult]], T], sale_state: SaleState, seat: Seat
    ) -> T:
        if self._needs_check(sale_state, seat, in_session=True):
            self._check_choice(sale_state, seat)
        member_zones = self._runtime.member_zones(sale_state, self._request, [seat.zone])
        days = service.days_of(sale_state, self._request)
        items = RequestedItems(days, [seat], choice=self._choice.refusal, member_zones=member_zones)
        return write(lambda session: service.hold(session, sale_state, self._request, items)[0])

    def _values(self, sale_state: SaleState, seat: Seat, asked: Asked, days: ChosenDays) -> dict[str, Any]:
        values = _read_values(sale_state, seat, self._request, asked.limits, self._tidy())
        values["day"] = days.numbers[0]
        held = SeatHold(values["hold_id"], seat, values["until"], days)
        origin = service.address_hash(asked.limits, self._request)
        return values | hold_rows(sale_state, self._request, held, origin).values()

    def _tidy(self) -> int:
        """The patterns of taken neighbours with which the seat may be held; none once its choice is refused.

        Where single seats may be left, the choice is checked too: it is logged.
        """
        if self._choice.refusal is not None:
            return 0
        return EVERY_PATTERN if self._checked else tidy_patterns()


def _key(sale_state: SaleState, seat: Seat) -> Key:
    return sale_state.organisation_id, sale_state.id, seat.number


def _read_values(sale_state: SaleState, seat: Seat, request: HoldRequest, limits: Limits, tidy: int) -> dict[str, Any]:
    """The parameters of what the statement reads."""
    left_far, left, right, right_far = beside = sale_state.plan.beside(seat.number)
    near = [seat.number, *(other for other in beside if other != WALL)]
    return {
        **service.values_to_judge(sale_state, request, limits),
        "seat": seat.number,
        "walls": sum(bit for bit, other in zip(NEIGHBOUR_BITS, beside, strict=True) if other == WALL),
        "lowest": min(near),
        "highest": max(near),
        "left_far": left_far,
        "left": left,
        "right": right,
        "right_far": right_far,
        "tidy": tidy,
        "hold_id": uuid7(request.now, request.context.entropy),
        "until": service.expires_at(sale_state, request.now),
    }
