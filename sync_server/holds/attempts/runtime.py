"""What a process keeps to hold seats: sale states, the hold cache, metrics, and access to the one statement."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from sqlite3 import Cursor
from typing import Any, Final, NamedTuple, cast

from shared.clock import Millis
from shared.errors import Forbidden, GatehouseError
from sync_server.events.days.chosen_days import ChosenDays, overlap
from sync_server.holds import queries, rules
from sync_server.holds.attempts import group_statement, statement
from sync_server.holds.attempts.crowd import Crowd
from sync_server.holds.attempts.evidence import StatementRow
from sync_server.holds.attempts.failures import FailureLog
from sync_server.holds.attempts.hold_request import HoldRequest
from sync_server.holds.attempts.hold_rows import HoldRows, SeatHold
from sync_server.holds.attempts.metrics import HoldMetrics
from sync_server.holds.attempts.previews import PreviewRate
from sync_server.holds.caches.hold_cache import CachedHold, HoldCache, Key, RedisHolds
from sync_server.holds.caches.sale_state import SaleState, SaleStates
from sync_server.holds.ports import HoldPorts
from sync_server.plumbing.database import Database
from sync_server.plumbing.event_key import EventKey
from sync_server.plumbing.parts import Parts
from sync_server.plumbing.telemetry.logs import LOG
from sync_server.seating.event_seating import require_offer
from sync_server.seating.event_seatings import EventSeatings
from sync_server.seating.layouts.overlay import EventZone
from sync_server.seating.layouts.plan import AccessMode
from sync_server.seating.plans.seat_plan import SeatPlan
from sync_server.seating.rules import Entitlement
from sync_server.seating.search.offers import Offer, Refusal, SeatRequest
from sync_server.seating.zone_access.entitlements import (
    apply_override,
    entitlements_by_zone,
    may_be_listed,
    of_listed,
)

STATE_KEY: Final = "holds"


class TakenNow(NamedTuple):
    """A seat that is held or sold at this moment."""

    seat: int
    state: int
    until: Millis | None  # None where it is sold
    bearer_id: str | None


class HoldRuntime:
    """Made once in every server and worker process."""

    def __init__(self, parts: Parts) -> None:
        self.database: Database = parts.database
        self.sale_states = SaleStates(parts.database)
        parts.database.ports.connect(self.sale_states)
        self.failures = FailureLog(parts.database, parts.stop)
        self.metrics = HoldMetrics(parts)
        self.previews = PreviewRate()
        connection = parts.backends.connection
        redis_holds = RedisHolds(connection, parts.config.redis_prefix) if connection is not None else None
        self.hold_cache = HoldCache(parts.bus, redis_holds, alone=parts.config.embedded)
        self.crowd = Crowd(parts.database.autocommit) if parts.database.autocommit is not None else None
        self._stop = parts.stop
        if connection is not None:
            # Nothing told this process which holds others ended while Redis was away.
            connection.on_reconnect.append(lambda _redis: self.hold_cache.local.forget_all())

    def wait(self, millis: int) -> None:
        """Wait before a retry, or until the server stops."""
        self.metrics.retries.inc()
        self._stop.wait(millis / 1000)

    def holder(self, key: Key, days: ChosenDays, now: Millis) -> TakenNow | None:
        """Who certainly has that seat on one of these days, and until when; None where the statement must decide.

        Where many want one seat, nearly all come too late: a short query then spares PostgreSQL the long one.
        """
        cached = self.hold_cache.holder(key, days.bits, now)
        if cached is not None:
            return TakenNow(key[2], rules.HELD, cached.until, cached.bearer_id)
        if not self.hold_cache.local.expects(key, now):
            return None
        organisation_id, event_id, seat = key
        where = EventKey(organisation_id, event_id)
        return self.taken_now(where, [seat], days, now).get(seat)

    def expects(self, event: EventKey, seats: Iterable[int], now: Millis) -> bool:
        """Whether one of these seats is probably held: worth the short query before anything else."""
        return any(self.hold_cache.local.expects((*event, seat), now) for seat in seats)

    def taken_now(
        self, event: EventKey, seats: Collection[int], days: ChosenDays, now: Millis
    ) -> Mapping[int, TakenNow]:
        """Which of these seats are taken at this moment, on PostgreSQL and on one day; elsewhere nothing is known."""
        autocommit = self.database.autocommit
        if autocommit is None or len(days.numbers) > 1:
            return {}
        near = {"seats": [*seats], "lowest": min(seats), "highest": max(seats), "day": days.numbers[0]}
        here = {"organisation": event.organisation_id, "event": event.event_id, "now": now}
        found = {row[0]: TakenNow(*row) for row in autocommit.rows(statement.TAKEN_NOW, here | near)}
        local = self.hold_cache.local
        for each in found.values():
            local.see((*event, each.seat), each.until or 0)
        local.forget((*event, seat) for seat in seats if seat not in found)
        return found

    def run_statement(self, values: Mapping[str, Any]) -> StatementRow:
        """Run the statement, with that of others who ask at the same moment."""
        group_commit = self.database.group_commit
        if self.crowd is not None:
            return self.crowd.run(values)
        assert group_commit is not None  # noqa: S101 - a database is one of the two
        return group_commit.write(partial(_run_embedded, values=values))

    def run_group_statement(
        self, values: Mapping[str, Any], seats: Sequence[int], days: Sequence[int], rows: Sequence[HoldRows]
    ) -> StatementRow:
        """The same for several seats, or several days."""
        autocommit, group_commit = self.database.autocommit, self.database.group_commit
        if autocommit is not None:
            parameters = group_statement.parameters(values, seats, days, rows)
            row: Any = autocommit.row(group_statement.READ_AND_WRITE, parameters)
            return StatementRow(*row)
        assert group_commit is not None  # noqa: S101 - a database is one of the two
        write = partial(group_statement.run_embedded, values=values, seats=seats, days=days, rows=rows)
        return group_commit.write(write)

    def keep_held(self, sale_state: SaleState, request: HoldRequest, holds: Iterable[SeatHold]) -> None:
        """Cache holds that a statement has made, and wake those who relay their facts."""
        organisation_id, event_id = sale_state.organisation_id, sale_state.id
        for held in holds:
            seat = held.seat
            cached = CachedHold(
                organisation_id, event_id, seat.number, seat.id, held.id, request.id, held.until, days=held.days.bits
            )
            self.hold_cache.keep(cached, request.now)
        self.database.wake_workers()

    def access_refusal(
        self, sale_state: SaleState, request: HoldRequest, zones: Collection[int]
    ) -> GatehouseError | None:
        """Why it is not this bearer's turn, or one of these zones is closed to this bearer."""
        if refusal := self._queue_refusal(sale_state, request):
            return refusal
        plan = sale_state.plan.zones
        closed = [plan[zone] for zone in sorted(set(zones)) if plan[zone].access_mode != "public"]
        for entitlement in self._entitlements(sale_state, request, closed).values() if closed else ():
            if isinstance(entitlement, Refusal):
                return Forbidden(entitlement.message, code=entitlement.reason)
        return None

    def member_zones(self, sale_state: SaleState, request: HoldRequest, zones: Iterable[int]) -> frozenset[int]:
        """Those of these zones to which only the card admits this bearer: as one guest."""
        plan = sale_state.plan.zones
        restricted = [plan[zone] for zone in {*zones} if plan[zone].access_mode is AccessMode.MEMBERSHIP_TIER]
        if request.card is None or request.override or not restricted:
            return frozenset()
        found = self._entitlements(sale_state, request, restricted)
        return frozenset(zone for zone, entitlement in found.items() if entitlement is Entitlement.MEMBERSHIP)

    def _queue_refusal(self, sale_state: SaleState, request: HoldRequest) -> GatehouseError | None:
        if not sale_state.queued or request.kind != "guest" or request.early:
            return None
        here = request.organisation_id, sale_state.id, request.id, request.queue_tab
        with self.database.autocommit_reading() as session:
            return self.database.ports.of(HoldPorts).queue_refusal(session, *here, request.now)

    def open_zones(self, sale_state: SaleState, request: HoldRequest) -> frozenset[int]:
        """The zones that are open to this bearer."""
        found = self._entitlements(sale_state, request, sale_state.plan.zones.values())
        return frozenset(zone for zone, entitlement in found.items() if not isinstance(entitlement, Refusal))

    def _entitlements(
        self, sale_state: SaleState, request: HoldRequest, zones: Collection[EventZone]
    ) -> Mapping[int, Entitlement | Refusal]:
        if not may_be_listed(request.bearer, zones):  # most guests: they need no session
            return apply_override(of_listed(request.bearer, zones), zones, override=request.override)
        with self.database.reading() as session:
            found = entitlements_by_zone(session, request.organisation_id, sale_state.id, request.bearer, zones)
        return apply_override(found, zones, override=request.override)

    def judge_choice(
        self,
        seatings: EventSeatings,
        sale_state: SaleState,
        request: HoldRequest,
        seats: Collection[int],
        seat_request: SeatRequest,
        *,
        days: ChosenDays,
    ) -> JudgedChoice:
        """A choice of seats, checked against all seats of the event on these days.

        Seats that this bearer holds already count for the group, but are no part of the choice. None where no others
        are chosen, or one is taken: the attempt to hold it is refused later.

        A choice is accepted by what stands in its rows now, and refused only by all that has changed at the event.
        """
        with self.database.autocommit_reading() as session:
            here = request.organisation_id, sale_state.id, request.id
            owned = {seat for seat, bits in queries.seats_of(session, *here, request.now) if overlap(bits, days.bits)}
        chosen = [seat for seat in seats if seat not in owned]
        plan = sale_state.plan if sale_state.sale.revision else None
        for near in (chosen, ()):
            where = request.organisation_id, sale_state.id, request.now, plan
            with seatings.current(*where, days=days, near=near) as seating:
                if not chosen or not all(map(seating.free, chosen)):
                    return JudgedChoice()
                judged = _judged(seating.evaluate(chosen, seat_request, owned), seating.plan)
            if judged.refusal is None:
                break
        return judged

    def note_singles(self, sale_state: SaleState, request: HoldRequest, choice: JudgedChoice) -> None:
        """Log and count the single seats that a hold has left, and why it was allowed."""
        if not choice.singles:
            return
        reason = "override" if request.override else choice.grade
        self.metrics.count_singles(choice.singles, reason)
        where = {"organisation_id": sale_state.organisation_id, "event_id": sale_state.id}
        LOG.info("single_seats_left", **where, orphans_created=choice.singles, reason=reason)


@dataclass(frozen=True, slots=True)
class JudgedChoice:
    """What the seating rules say of the seats that somebody wants."""

    refusal: GatehouseError | None = None
    singles: int = 0  # seats that it leaves single
    grade: str = ""


def _judged(result: Offer | Refusal, plan: SeatPlan) -> JudgedChoice:
    try:
        found = require_offer(result, plan)
    except GatehouseError as refusal:
        return JudgedChoice(refusal)
    return JudgedChoice(singles=found.orphans, grade=found.grade.value)


def _run_embedded(cursor: Cursor, values: Mapping[str, Any]) -> StatementRow:
    read = StatementRow(*cursor.execute(statement.READ, values).fetchone())
    if read.done:
        statement.write_embedded(cursor, values, [values["day"]])
    return read


def hold_runtime(parts: Parts) -> HoldRuntime:
    """The hold runtime of this process."""
    return cast(HoldRuntime, parts.local_state[STATE_KEY])
