"""Offers what came back to the parties of a list, one after the other, as holds that last until the offer ends.

One process at a time works on a list, by a lease. Each offer is a transaction of its own, in which the party is locked
and the places are held by the rules of every hold. Whoever dies in between leaves a list that is due when the lease
ends.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from sqlalchemy import ColumnElement, case, select, update
from sqlalchemy.orm import Session

from shared.clock import Millis
from shared.errors import Conflict, GatehouseError
from shared.ids import uuid7
from shared.lifecycle import OVER
from sync_server.events import queries as events
from sync_server.events import service as event_service
from sync_server.holds import ordering
from sync_server.holds.attempts.hold_request import HoldRequest, HoldResult
from sync_server.holds.attempts.runtime import HoldRuntime
from sync_server.holds.groups.group_holds import GroupHold, GroupRequest
from sync_server.plumbing.database import Database
from sync_server.plumbing.due import first_due, organisations_due
from sync_server.plumbing.event_key import EventKey
from sync_server.plumbing.requests.principals import ActionContext
from sync_server.plumbing.telemetry.logs import LOG
from sync_server.seating.event_seatings import EventSeatings
from sync_server.seating.layouts.overlay import EventZone
from sync_server.seating.plans.seat_plan import SeatPlan
from sync_server.seating.plans.seat_plans import find_event_plan
from sync_server.tickets import queries as tickets
from sync_server.tickets.queries import TicketType
from sync_server.waiting_list import queries, service
from sync_server.waiting_list.models import WaitingListRow, WaitingOfferRow
from sync_server.waiting_list.recording import record_party
from sync_server.waiting_list.rules import (
    LEASE_MS,
    LOOK_AGAIN_MS,
    MINUTE_MS,
    Misfit,
    OfferState,
    PartyState,
    Passed,
    Waiting,
    Wish,
    walk,
)

BEARER: Final = "waiting"
"""The kind of bearer that a party is until it takes what is held for it."""


class _NotWaiting(Exception):
    """The party has left, or has an offer already; nothing was done."""


@dataclass(frozen=True, slots=True)
class _Lease:
    """The right to make offers from one list, and how often it had been woken when it was taken."""

    event: EventKey
    wakes: int
    offer_minutes: int


@dataclass(frozen=True, slots=True)
class _Choice:
    """One way to fulfil a wish: places of this type, in these zones of the layout."""

    ticket_type: int
    group: GroupRequest


@dataclass(frozen=True, slots=True)
class Offering:
    """What makes offers: the worker's access to holds and seats."""

    database: Database
    runtime: HoldRuntime
    seatings: EventSeatings

    def run(self, _database: Database, context: ActionContext) -> None:
        """End offers that were not taken, then make new ones from every list that is due."""
        by_system = context.by_system()
        self.end_lapsed(by_system)
        for event in self._due(by_system.now):
            self.run_list(event, by_system)

    def end_lapsed(self, context: ActionContext) -> None:
        """End offers whose time is over."""
        with self.database.reading() as session:
            found = service.lapsed(session, context.now)
        for organisation_id, party_id in found:
            with self.database.writing() as session:
                service.lapse(session, organisation_id, party_id, context)

    def _due(self, now: Millis) -> list[EventKey]:
        row, due = WaitingListRow, _due_lists(now)
        with self.database.reading() as session:
            return [
                EventKey(organisation_id, event_id)
                for organisation_id in organisations_due(session, row.organisation_id, *due)
                for event_id in session.scalars(
                    select(row.event_id).where(row.organisation_id == organisation_id, *due).order_by(row.due_at)
                )
            ]

    def run_list(self, event: EventKey, context: ActionContext) -> int:
        """Make offers from a list until nothing fits anybody; returns how many, 0 where somebody else is at it."""
        lease = self._take_lease(event, context)
        if lease is None:
            return 0
        made, parties = 0, list[Waiting]()
        try:
            with self.database.reading() as session:
                over = events.event(session, *event).status in OVER
                parties = queries.in_turn(session, event)
            if over:
                with self.database.writing() as session:
                    service.end_parties(session, event, context)
                parties = []
            made = walk(parties, lambda party, passed: self._offer(lease, party, passed, context))
        finally:
            self._end_lease(lease, context.now, still=bool(parties))
        return made

    def offer_to(self, event: EventKey, party_id: str, context: ActionContext) -> None:
        """Offer to this party before its turn, by hand; whom it passes is counted and told as always."""
        with self.database.writing() as session:
            found = service.require_may_offer(session, event, party_id, context)
        lease = self._take_lease(event, context, due=False)
        if lease is None:
            raise Conflict("Offers are being made from this list just now. Try again.", code="list_busy")
        try:
            with self.database.reading() as session:
                before = [party for party in queries.in_turn(session, event) if party.seq < found.seq]
            passed = Passed()
            for party in before:
                passed.note(party.seq, Misfit.BY_HAND)
            why = self._offer(lease, found, passed, context)
        finally:
            self._end_lease(lease, context.now, still=True)
        if why is not None:
            raise Conflict("What is free does not fit this party.", code="offer_does_not_fit", reason=why.value)

    def _take_lease(self, event: EventKey, context: ActionContext, *, due: bool = True) -> _Lease | None:
        row = WaitingListRow
        free = _due_lists(context.now) if due else (row.leased_until <= context.now,)
        taken = update(row).where(event.of(row), *free).values(leased_until=context.now + LEASE_MS)
        with self.database.writing() as session:
            found = session.execute(taken.returning(row.wakes, row.offer_minutes)).one_or_none()
        return None if found is None else _Lease(event, found.wakes, found.offer_minutes)

    def _end_lease(self, lease: _Lease, now: Millis, *, still: bool) -> None:
        """Let others go on; due at once where something came back meanwhile, and else soon, if somebody still waits."""
        row = WaitingListRow
        with self.database.writing() as session:
            mine = lease.event.of(row)
            session.execute(update(row).where(mine).values(leased_until=0))
            later = now + LOOK_AGAIN_MS if still else None
            session.execute(update(row).where(mine, row.wakes == lease.wakes).values(due_at=later))

    def _offer(self, lease: _Lease, party: Waiting, passed: Passed, context: ActionContext) -> Misfit | None:
        """Hold what fits a party and offer it; why nothing does."""
        with self.database.reading() as session:
            choices = list(_choices(session, lease.event, party.wish, context.now))
        if not choices:
            return Misfit.TYPES_SOLD_OUT
        for choice in choices:
            try:
                self._hold(lease, party, choice, passed, context)
            except _NotWaiting:
                return None
            except GatehouseError as refusal:
                LOG.debug("waiting_party_passed_over", party=party.id, code=refusal.error_code)
            else:
                return None
        return Misfit.NOT_ENOUGH_TOGETHER if party.wish.together else Misfit.NOT_ENOUGH_PLACES

    def _hold(self, lease: _Lease, party: Waiting, choice: _Choice, passed: Passed, context: ActionContext) -> None:
        where, wish = lease.event.organisation_id, party.wish
        request = HoldRequest(where, BEARER, party.id, "", context, dates=wish.days)
        attempt = GroupHold(self.runtime, self.seatings, request, lease.event.event_id, choice.group)

        def write(hold: Callable[[Session], list[HoldResult]]) -> bool:
            with self.database.writing() as session:
                # In the order of all locks: the event, then the party, then the places.
                event_service.lock_event(session, *lease.event)
                row = queries.party(session, where, party.id, lock=True)
                if row.state != PartyState.WAITING.value:
                    raise _NotWaiting
                self._record(session, lease, party, choice, hold(session), passed, context)
            return True

        attempt.run_within(write)

    @staticmethod
    def _record(  # noqa: PLR0917 - what an offer is made of
        session: Session,
        lease: _Lease,
        party: Waiting,
        choice: _Choice,
        held: Sequence[HoldResult],
        passed: Passed,
        context: ActionContext,
    ) -> None:
        event, ends_at = lease.event, context.now + lease.offer_minutes * MINUTE_MS
        ordering.keep_until(session, event, [each.id for each in held], context.now, until=ends_at)
        row = queries.party(session, event.organisation_id, party.id)
        row.state, row.updated_at = PartyState.OFFERED.value, context.now
        offer = WaitingOfferRow(
            organisation_id=event.organisation_id,
            id=uuid7(context.now, context.entropy),
            event_id=event.event_id,
            party_id=party.id,
            ticket_type=choice.ticket_type,
            zone=held[0].zone,
            seats=[each.seat.number for each in held if each.seat is not None],
            passed=passed.copy(),
            state=OfferState.OPEN.value,
            ends_at=ends_at,
            created_at=context.now,
        )
        session.add(offer)
        service.count_passed(session, event, passed)
        session.flush()
        told = {"offer": offer.id, "ends_at": ends_at, "ticket_type": choice.ticket_type}
        record_party(session, row, "waiting_offered", context, **told)


def _due_lists(now: Millis) -> tuple[ColumnElement[bool], ...]:
    row = WaitingListRow
    return row.due_at <= now, row.leased_until <= now


def next_at(session: Session, _now: Millis) -> Millis | None:
    """When the next list is due, or the next offer ends."""
    row, offer = WaitingListRow, WaitingOfferRow
    free_and_due = case((row.leased_until > row.due_at, row.leased_until), else_=row.due_at)
    return first_due(session, (free_and_due, row.due_at.is_not(None)), (offer.ends_at, offer.state == OfferState.OPEN))


def _choices(session: Session, event: EventKey, wish: Wish, now: Millis) -> Iterator[_Choice]:
    """The ways to fulfil a wish: by ticket types of which enough are left, in their order; seats before places."""
    plan, promised = find_event_plan(session, *event), queries.offered_of_types(session, event)
    for row in tickets.ticket_types(session, *event):
        if _is_sold(row, wish, now) and row.quantity - row.issued - promised[row.number] >= wish.size:
            yield from (_Choice(row.number, group) for group in _groups(plan, row, wish))


def _is_sold(row: TicketType, wish: Wish, now: Millis) -> bool:
    """Whether the shop sells this type to a party with this wish now."""
    begun = row.sale_start_at is None or now >= row.sale_start_at
    sold = begun and (row.sale_end_at is None or now <= row.sale_end_at) and not row.hidden
    wanted = not wish.ticket_types or row.number in wish.ticket_types
    return sold and wanted and row.min_per_order <= wish.size <= row.max_per_order


def _groups(plan: SeatPlan | None, row: TicketType, wish: Wish) -> Iterator[GroupRequest]:
    """What to ask for: the best seats in all zones of the type, then places of one zone after the other."""
    if plan is None:
        yield GroupRequest(count=wish.size, comes_back=True)
        return
    zones = list(_zones(plan, row, wish))
    numbered = [zone.id for zone in zones if zone.zone_type.numbered]
    if numbered:
        yield GroupRequest(best=wish.size, zone_ids=numbered, apart=not wish.together, comes_back=True)
    for zone in zones:
        if not zone.zone_type.numbered:
            yield GroupRequest(count=wish.size, zone_ids=[zone.id], comes_back=True)


def _zones(plan: SeatPlan, row: TicketType, wish: Wish) -> Iterable[EventZone]:
    for number, zone in sorted(plan.zones.items()):
        if plan.event_zones[number] == row.zone and (not wish.zone_ids or zone.id in wish.zone_ids):
            yield zone
