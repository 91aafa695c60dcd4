"""Holds one seat: checks the cached sale state, runs the one statement, and acts on its outcome."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, Final, TypeVar

import orjson
from sqlalchemy.orm import Session

from shared.clock import Millis
from shared.errors import GatehouseError, NotFound
from shared.ids import uuid7
from sync_server.audit import service as audit
from sync_server.audit.service import AuditLine
from sync_server.holds import rules, service, statement
from sync_server.holds.hold_cache import CachedHold, Key
from sync_server.holds.hold_request import HoldRequest, HoldResult
from sync_server.holds.models import HoldStatus
from sync_server.holds.rules import Evidence, Outcome
from sync_server.holds.runtime import HoldRuntime
from sync_server.holds.sale_state import SaleState
from sync_server.outbox import service as outbox
from sync_server.outbox.service import Fact
from sync_server.plumbing.sql.autocommit import WriteConflict
from sync_server.seating.event_seatings import EventSeatings
from sync_server.seating.search.offers import SeatRequest
from sync_server.seating.seats_for_sale import EVERY_PATTERN, SeatForSale, tidy_patterns

T = TypeVar("T")

MAX_RELOADS: Final = 20
"""Attempts without losing the seat: the sale state changed, or another request of the bearer was quicker."""


class SeatReservation:
    """One request for one seat."""

    def __init__(
        self, runtime: HoldRuntime, seatings: EventSeatings, request: HoldRequest, event_id: str, seat_id: str
    ) -> None:
        self._runtime, self._seatings, self._request = runtime, seatings, request
        self._event_id, self._seat_id = event_id, seat_id
        self._checked = False

    def run(self) -> HoldResult:
        """Hold the seat; a refusal is raised."""
        sale_state = self._runtime.sale_states.event(self._request.organisation_id, self._event_id)
        lost = 0
        for _ in range(MAX_RELOADS):
            sale_state, seat = self._current_seat(sale_state)
            outcome = self._outcome(sale_state, seat)
            if isinstance(outcome, HoldResult):
                return outcome
            if outcome is Outcome.RELOAD:
                sale_state = self._runtime.sale_states.current(sale_state.organisation_id, sale_state.id)
            elif outcome is Outcome.LOST:
                if lost == rules.TRIES:
                    break
                self._runtime.wait(rules.pause_ms(lost))
                lost += 1
        raise rules.no_longer_available()

    def _current_seat(self, sale_state: SaleState) -> tuple[SaleState, SeatForSale]:
        """The seat as the event sells it; a refusal by a stale sale state is checked against a fresh one."""
        try:
            return sale_state, self._seat(sale_state)
        except GatehouseError:
            fresh = self._runtime.sale_states.current(sale_state.organisation_id, sale_state.id)
            if fresh.sale == sale_state.sale:
                raise
        return fresh, self._seat(fresh)

    def _seat(self, sale_state: SaleState) -> SeatForSale:
        rules.check_sale(sale_state.sale, self._request.now)
        seat = sale_state.plan.seats.get(self._seat_id)
        if seat is None:
            raise NotFound("This event has no such seat.", code="seat_not_found")
        if seat.blocked:
            raise rules.not_available("blocked")
        self._runtime.require_access(sale_state, self._request, [seat.zone])
        return seat

    def _outcome(self, sale_state: SaleState, seat: SeatForSale) -> HoldResult | Outcome:
        bearer, until = self._runtime.holder(_key(sale_state, seat), self._request.now) or (self._request.id, 0)
        if bearer != self._request.id:
            raise rules.held_by_another(until, self._request.now)
        if self._needs_check(sale_state, seat, in_transaction=sale_state.event_limit is not None):
            self._check_choice(sale_state, seat)
        if sale_state.event_limit is not None:
            return self._in_transaction(sale_state, seat)
        try:
            return self._with_one_statement(sale_state, seat)
        except WriteConflict:
            return Outcome.LOST

    def _needs_check(self, sale_state: SaleState, seat: SeatForSale, *, in_transaction: bool) -> bool:
        if self._checked or self._request.override:
            return False
        # The one statement checks for single seats itself.
        orphans = in_transaction and sale_state.policy.orphan_avoidance_strict
        return seat.special or orphans or sale_state.policy.prefer_clustering_over_selection

    def _check_choice(self, sale_state: SaleState, seat: SeatForSale) -> None:
        """Check the choice against all seats of the event: refuse it, with alternatives, or let it pass."""
        self._runtime.check_choice(self._seatings, sale_state, self._request, [seat.number], SeatRequest(1))
        self._checked = True

    def _with_one_statement(self, sale_state: SaleState, seat: SeatForSale) -> HoldResult | Outcome:
        values = self._values(sale_state, seat)
        limits = service.limits_of(sale_state, self._request)
        seen = self._runtime.run_statement(values)
        outcome = rules.judge(seen, limits, self._request.now)
        if isinstance(outcome, GatehouseError):
            if seen.state == rules.HELD:
                self._runtime.hold_cache.local.see(_key(sale_state, seat), seen.held_until or 0)
            raise outcome
        return self._act_on(sale_state, seat, seen, outcome, values)

    def _act_on(
        self, sale_state: SaleState, seat: SeatForSale, seen: Evidence, outcome: Outcome, values: dict[str, Any]
    ) -> HoldResult | Outcome:
        if outcome is Outcome.HELD:
            return self._cache(_result(sale_state, seat, values["hold_id"], values["until"]))
        if outcome is Outcome.MINE_ALREADY:
            return replace(_result(sale_state, seat, seen.my_hold or "", seen.my_until or 0), created=False)
        if outcome is Outcome.CREATE_COUNTER:
            with self._runtime.database.writing() as session:
                request = self._request
                service.create_counter(session, request.id, request.organisation_id, request.now)
        if outcome is Outcome.CHECK_CHOICE:
            self._check_choice(sale_state, seat)
        if outcome is Outcome.OVERDUE:
            if self._needs_check(sale_state, seat, in_transaction=True):
                self._check_choice(sale_state, seat)
            return self._in_transaction(sale_state, seat)
        return outcome

    def _in_transaction(self, sale_state: SaleState, seat: SeatForSale) -> HoldResult | Outcome:
        """In an ordinary transaction: an overdue hold must be ended first, or the whole event counted."""
        try:
            with self._runtime.database.writing() as session:
                return self._within(session, sale_state, seat)
        except service.StaleSaleState:
            return Outcome.RELOAD

    def _within(self, session: Session, sale_state: SaleState, seat: SeatForSale) -> HoldResult:
        return service.hold(session, sale_state, self._request, service.RequestedItems([seat]))[0]

    def run_within(self, write: Callable[[Callable[[Session], HoldResult]], T]) -> T:
        """Hold the seat in the caller's transaction: `write` is handed a function that takes its session."""
        sale_state = self._runtime.sale_states.event(self._request.organisation_id, self._event_id)
        for _ in range(MAX_RELOADS):
            sale_state, seat = self._current_seat(sale_state)
            if self._needs_check(sale_state, seat, in_transaction=True):
                self._check_choice(sale_state, seat)
            try:
                return write(partial(self._within, sale_state=sale_state, seat=seat))
            except service.StaleSaleState:
                sale_state = self._runtime.sale_states.current(sale_state.organisation_id, sale_state.id)
        raise rules.no_longer_available()

    def _cache(self, held: HoldResult) -> HoldResult:
        seat = held.seat
        assert seat is not None  # noqa: S101 - a seat was held
        request = self._request
        self._runtime.hold_cache.keep(
            CachedHold(request.organisation_id, held.event_id, seat.number, seat.id, held.id, request.id, held.until),
            request.now,
        )
        self._runtime.database.wake_workers()
        return held

    def _values(self, sale_state: SaleState, seat: SeatForSale) -> dict[str, Any]:
        tidy = self._checked or self._request.override or not sale_state.policy.orphan_avoidance_strict
        values = _read_values(sale_state, seat, self._request, EVERY_PATTERN if tidy else tidy_patterns())
        return values | _write_values(sale_state, seat, self._request, values["hold_id"], values["until"])


def _key(sale_state: SaleState, seat: SeatForSale) -> Key:
    return sale_state.organisation_id, sale_state.id, seat.number


def _read_values(sale_state: SaleState, seat: SeatForSale, request: HoldRequest, tidy: int) -> dict[str, Any]:
    """The parameters of what the statement reads."""
    sale, limits, now = sale_state.sale, service.limits_of(sale_state, request), request.now
    left_far, left, right, right_far = seat.beside
    return {
        "event": sale_state.id,
        "organisation": sale_state.organisation_id,
        "version": sale.version,
        "status": sale.status.value,
        "rescheduled_at": _or_minus_one(sale.rescheduled_at),
        "sale_start_at": _or_minus_one(sale.sale_start_at),
        "sale_end_at": sale.sale_end_at,
        "capacity": sale.capacity,
        "revision": sale.revision,
        "policy_at": _or_minus_one(sale.policy_at),
        "bearer": request.id,
        "kind": request.kind,
        "origin": request.origin,
        "since": now - rules.RATE_MS,
        "seat": seat.number,
        "now": now,
        "walls": seat.walls,
        "left_far": left_far,
        "left": left,
        "right": right,
        "right_far": right_far,
        "tidy": tidy,
        "rate": _or_minus_one(limits.rate),
        "per_booking": _or_minus_one(limits.per_booking),
        "per_user": _or_minus_one(limits.per_user),
        "per_address": _or_minus_one(limits.per_address),
        "hold_id": uuid7(now, request.context.entropy),
        "until": service.expires_at(sale_state, now),
    }


def _or_minus_one(value: int | None) -> int:
    return -1 if value is None else value


def _write_values(
    sale_state: SaleState, seat: SeatForSale, request: HoldRequest, hold_id: str, until: Millis
) -> dict[str, Any]:
    """The parameters of what the statement writes: the hold, its audit line and its fact."""
    context, where, now = request.context, sale_state.organisation_id, request.now
    hold = {
        "id": hold_id,
        "kind": "seat",
        "zone": seat.zone,
        "quantity": 1,
        "status": HoldStatus.ACTIVE.value,
        "extended": 0,
        "source": request.source,
        "notes": request.notes,
        "origin": service.address_hash(sale_state, request),
    }
    after = {
        "status": "active",
        "event_id": sale_state.id,
        "seat": seat.number,
        "zone": seat.zone,
        "quantity": 1,
        "held_until": until,
        "source": request.source,
    }
    line = AuditLine(context.actor, "seat_reserved", "hold", hold_id, where, now, None, after)
    audit.require_reason(line)
    written = audit.audit_rows(line, uuid7(now, context.entropy), context.entropy)
    subjects = {"hold": hold_id, "event": sale_state.id, "event_number": sale_state.number}
    payload = {
        "kind": "seat",
        "seat": seat.number,
        "zone": seat.zone,
        "quantity": 1,
        "held_until": until,
        "bearer": f"{request.kind}:{request.id}",
        "seat_id": seat.id,
    }
    fact = outbox.fact_row(Fact("seat_held", where, now, subjects, payload), context.entropy)
    named, text, audit_line = statement.named, _text, written.line
    return {
        **named("hold", hold),
        **named("line", {**audit_line, "before": text(audit_line["before"]), "after": text(audit_line["after"])}),
        **named("personal", written.personal[0] if written.personal else {}),
        **named("fact", {**fact, "subjects": text(fact["subjects"]), "payload": text(fact["payload"])}),
    }


def _text(value: Any) -> str | None:
    return None if value is None else orjson.dumps(value).decode()


def _result(sale_state: SaleState, seat: SeatForSale, hold_id: str, until: Millis) -> HoldResult:
    return HoldResult(hold_id, sale_state.id, seat, seat.zone, sale_state.plan.zones[seat.zone].name, 1, until)
