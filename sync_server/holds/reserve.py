"""Holds one seat: looks at what is known, tries the one statement, and says what came of it."""

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
from sync_server.holds.asking import Asking, Held
from sync_server.holds.box_office import BoxOffice
from sync_server.holds.known import Known
from sync_server.holds.models import HoldStatus
from sync_server.holds.rules import Evidence, Outcome
from sync_server.holds.tiers import Kept, Key
from sync_server.outbox import service as outbox
from sync_server.outbox.service import Fact
from sync_server.plumbing.straight import Crossed
from sync_server.seating.houses import Houses
from sync_server.seating.offers import Wish
from sync_server.seating.spots import EVERY_PATTERN, Spot, tidy_patterns

T = TypeVar("T")

LOOKS: Final = 20
"""How often a try begins anew without having lost: what was known changed, or the same bearer was quicker."""


class Try:
    """One request's way to one seat."""

    def __init__(self, office: BoxOffice, houses: Houses, asking: Asking, event_id: str, seat_id: str) -> None:
        """Nothing is done yet."""
        self._office, self._houses, self._asking = office, houses, asking
        self._event_id, self._seat_id = event_id, seat_id
        self._considered = False

    def run(self) -> Held:
        """The seat, held; or the refusal in words."""
        known = self._office.knowing.event(self._asking.organisation_id, self._event_id)
        lost = 0
        for _ in range(LOOKS):
            known, spot = self._sold_at(known)
            outcome = self._outcome(known, spot)
            if isinstance(outcome, Held):
                return outcome
            if outcome is Outcome.LOOK_ANEW:
                known = self._office.knowing.look(known.organisation_id, known.id, known)
            elif outcome is Outcome.LOST:
                if lost == rules.TRIES:
                    break
                self._office.wait(rules.pause_ms(lost))
                lost += 1
        raise rules.no_longer_available()

    def _sold_at(self, known: Known) -> tuple[Known, Spot]:
        """The seat as the event sells it. Nobody is refused by what was known some time ago."""
        try:
            return known, self._sold(known)
        except GatehouseError:
            anew = self._office.knowing.look(known.organisation_id, known.id, known)
            if anew.sale == known.sale:
                raise
        return anew, self._sold(anew)

    def _sold(self, known: Known) -> Spot:
        rules.check_sale(known.sale, self._asking.now)
        spot = known.plan.spots.get(self._seat_id)
        if spot is None:
            raise NotFound("This event has no such seat.", code="seat_not_found")
        if spot.blocked:
            raise rules.not_available("blocked")
        self._office.require_access(known, self._asking, [spot.zone])
        return spot

    def _outcome(self, known: Known, spot: Spot) -> Held | Outcome:
        bearer, until = self._office.holder(_key(known, spot), self._asking.now) or (self._asking.id, 0)
        if bearer != self._asking.id:
            raise rules.held_by_another(until, self._asking.now)
        if self._must_be_considered(known, spot, slowly=known.bound is not None):
            self._consider(known, spot)
        if known.bound is not None:
            return self._slowly(known, spot)
        try:
            return self._straight(known, spot)
        except Crossed:
            return Outcome.LOST

    def _must_be_considered(self, known: Known, spot: Spot, *, slowly: bool) -> bool:
        if self._considered or self._asking.override:
            return False
        orphans = slowly and known.policy.orphan_avoidance_strict  # the statement looks for single seats itself
        return spot.special or orphans or known.policy.prefer_clustering_over_selection

    def _consider(self, known: Known, spot: Spot) -> None:
        """Ask the whole house: it refuses, in words and with what could be had instead, or lets it pass."""
        self._office.consider(self._houses, known, self._asking, [spot.number], Wish(1))
        self._considered = True

    def _straight(self, known: Known, spot: Spot) -> Held | Outcome:
        values = self._values(known, spot)
        bounds = service.bounds_of(known, self._asking)
        seen = self._office.ask(values)
        outcome = rules.judge(seen, bounds, self._asking.now)
        if isinstance(outcome, GatehouseError):
            if seen.state == rules.HELD:
                self._office.tiers.near.see(_key(known, spot), seen.held_until or 0)
            raise outcome
        return self._follow(known, spot, seen, outcome, values)

    def _follow(
        self, known: Known, spot: Spot, seen: Evidence, outcome: Outcome, values: dict[str, Any]
    ) -> Held | Outcome:
        if outcome is Outcome.HELD:
            return self._kept(_held(known, spot, values["hold_id"], values["until"]))
        if outcome is Outcome.MINE_ALREADY:
            return replace(_held(known, spot, seen.my_hold or "", seen.my_until or 0), made=False)
        if outcome is Outcome.OPEN_TALLY:
            with self._office.database.writing() as session:
                asking = self._asking
                service.open_tally(session, asking.id, asking.organisation_id, asking.now)
        if outcome is Outcome.CONSIDER:
            self._consider(known, spot)
        if outcome is Outcome.OVERDUE:
            if self._must_be_considered(known, spot, slowly=True):
                self._consider(known, spot)
            return self._slowly(known, spot)
        return outcome

    def _slowly(self, known: Known, spot: Spot) -> Held | Outcome:
        """By an ordinary transaction: somebody's hold must be ended first, or the whole event be counted."""
        try:
            with self._office.database.writing() as session:
                return self._within(session, known, spot)
        except service.Stale:
            return Outcome.LOOK_ANEW

    def _within(self, session: Session, known: Known, spot: Spot) -> Held:
        return service.hold(session, known, self._asking, service.Wanted([spot]))[0]

    def run_within(self, write: Callable[[Callable[[Session], Held]], T]) -> T:
        """The same in a transaction of somebody else's, who calls what `write` is handed with its session."""
        known = self._office.knowing.event(self._asking.organisation_id, self._event_id)
        for _ in range(LOOKS):
            known, spot = self._sold_at(known)
            if self._must_be_considered(known, spot, slowly=True):
                self._consider(known, spot)
            try:
                return write(partial(self._within, known=known, spot=spot))
            except service.Stale:
                known = self._office.knowing.look(known.organisation_id, known.id, known)
        raise rules.no_longer_available()

    def _kept(self, held: Held) -> Held:
        spot = held.spot
        assert spot is not None  # noqa: S101 - a seat was held
        asking = self._asking
        self._office.tiers.keep(
            Kept(asking.organisation_id, held.event_id, spot.number, spot.id, held.id, asking.id, held.until),
            asking.now,
        )
        self._office.database.stir()
        return held

    def _values(self, known: Known, spot: Spot) -> dict[str, Any]:
        tidy = self._considered or self._asking.override or not known.policy.orphan_avoidance_strict
        asked = _asked(known, spot, self._asking, EVERY_PATTERN if tidy else tidy_patterns())
        return asked | _written(known, spot, self._asking, asked["hold_id"], asked["until"])


def _key(known: Known, spot: Spot) -> Key:
    return known.organisation_id, known.id, spot.number


def _asked(known: Known, spot: Spot, asking: Asking, tidy: int) -> dict[str, Any]:
    """What the statement looks for."""
    sale, bounds, now = known.sale, service.bounds_of(known, asking), asking.now
    left_far, left, right, right_far = spot.beside
    return {
        "event": known.id,
        "organisation": known.organisation_id,
        "turn": sale.turn,
        "status": sale.status.value,
        "rescheduled_at": _or(sale.rescheduled_at),
        "sale_start_at": _or(sale.sale_start_at),
        "sale_end_at": sale.sale_end_at,
        "capacity": sale.capacity,
        "revision": sale.revision,
        "policy_at": _or(sale.policy_at),
        "bearer": asking.id,
        "kind": asking.kind,
        "origin": asking.origin,
        "since": now - rules.RATE_MS,
        "seat": spot.number,
        "now": now,
        "walls": spot.walls,
        "left_far": left_far,
        "left": left,
        "right": right,
        "right_far": right_far,
        "tidy": tidy,
        "rate": _or(bounds.rate),
        "per_booking": _or(bounds.per_booking),
        "per_user": _or(bounds.per_user),
        "per_address": _or(bounds.per_address),
        "hold_id": uuid7(now, asking.deed.entropy),
        "until": service.until(known, now),
    }


def _or(value: int | None) -> int:
    return -1 if value is None else value


def _written(known: Known, spot: Spot, asking: Asking, hold_id: str, until: Millis) -> dict[str, Any]:
    """What it writes where all is well, beyond what it looks for: the hold, its audit line and its fact."""
    deed, where, now = asking.deed, known.organisation_id, asking.now
    hold = {
        "id": hold_id,
        "kind": "seat",
        "zone": spot.zone,
        "quantity": 1,
        "status": HoldStatus.ACTIVE.value,
        "extended": 0,
        "source": asking.source,
        "notes": asking.notes,
        "origin": service.origin_of(known, asking),
    }
    after = {
        "status": "active",
        "event_id": known.id,
        "seat": spot.number,
        "zone": spot.zone,
        "quantity": 1,
        "held_until": until,
        "source": asking.source,
    }
    line = AuditLine(deed.actor, "seat_reserved", "hold", hold_id, where, now, None, after)
    audit.require_grounds(line)
    written = audit.write(line, uuid7(now, deed.entropy), deed.entropy)
    subjects = {"hold": hold_id, "event": known.id, "event_number": known.number}
    payload = {
        "kind": "seat",
        "seat": spot.number,
        "zone": spot.zone,
        "quantity": 1,
        "held_until": until,
        "bearer": f"{asking.kind}:{asking.id}",
        "seat_id": spot.id,
    }
    fact = outbox.write(Fact("seat_held", where, now, subjects, payload), deed.entropy)
    named, text, told = statement.named, _text, written.line
    return {
        **named("hold", hold),
        **named("line", {**told, "before": text(told["before"]), "after": text(told["after"])}),
        **named("filed", written.filed[0] if written.filed else {}),
        **named("fact", {**fact, "subjects": text(fact["subjects"]), "payload": text(fact["payload"])}),
    }


def _text(value: Any) -> str | None:
    return None if value is None else orjson.dumps(value).decode()


def _held(known: Known, spot: Spot, hold_id: str, until: Millis) -> Held:
    return Held(hold_id, known.id, spot, spot.zone, known.plan.zones[spot.zone].name, 1, until)
