"""Gathers the evidence for `rules`: from the row that the one statement returns, or in a session, with its locks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from shared.clock import Millis
from shared.errors import GatehouseError
from sync_server.customers import queries as customers
from sync_server.events import queries as events
from sync_server.events import service as event_service
from sync_server.holds import places, queries, rules, seats
from sync_server.holds.hold_request import HoldRequest
from sync_server.holds.models import WHOLE_EVENT, EventSeatRow, HoldCounterRow, HoldRow, SaleLockRow, SeatState
from sync_server.holds.rules import Evidence, TakenSeat
from sync_server.holds.sale_state import SaleState, load_sale_state
from sync_server.plumbing.sql import writes
from sync_server.seating.plans.layout_seats import Seat


class StatementRow(NamedTuple):
    """What the one statement read of one seat; nothing was written unless `done`. SQLite has numbers for booleans."""

    fresh: bool
    guest_active: bool
    counter: int | None
    counter_before: int | None
    recent: int
    oldest: Millis | None
    mine: int
    my_hold: str | None
    my_until: Millis | None
    state: int
    held_until: Millis | None
    from_address: int
    tidy: bool
    done: bool

    def evidence(self, seat: Seat, choice: GatehouseError | None, now: Millis) -> Evidence:
        """The evidence for this seat."""
        taken, overdue = taken_seat(seat, self.state, self.held_until, now), self.state == SeatState.HELD
        return Evidence(
            fresh=bool(self.fresh),
            more=int(self.my_hold is None),
            taken=(taken,) if taken else (),
            guest_active=bool(self.guest_active),
            counter=self.counter,
            counter_before=self.counter_before,
            recent=self.recent,
            oldest=self.oldest,
            mine=self.mine,
            from_address=self.from_address,
            choice=choice,
            overdue=overdue and taken is None,
            tidy=bool(self.tidy),
        )


def taken_seat(seat: Seat, state: int, until: Millis | None, now: Millis) -> TakenSeat | None:
    """The seat if it is sold, or held by a hold that has not run out."""
    if state == SeatState.SOLD or (state == SeatState.HELD and (until or 0) > now):
        return TakenSeat(seat.id, seat.name, state, until or 0)
    return None


@dataclass(frozen=True, slots=True)
class RequestedItems:
    """The seats, or the places of a zone, that one request asks for."""

    seats: Sequence[Seat] = ()
    zone: int = WHOLE_EVENT
    count: int = 0
    capacity: int = 0  # of the zone
    choice: GatehouseError | None = None  # why the seats break the seating rules


@dataclass(frozen=True, slots=True)
class Gathered:
    """The evidence, and the rows that were locked for it."""

    evidence: Evidence
    rows: Mapping[int, EventSeatRow]
    mine: Mapping[int, HoldRow]  # this bearer's holds here, by seat
    new: Sequence[Seat]  # seats that the bearer does not hold yet


def gather(session: Session, sale_state: SaleState, request: HoldRequest, items: RequestedItems) -> Gathered:
    """Lock everything that the request depends on, in the order that all use, and read it."""
    now = request.now
    if sale_state.event_limit is not None:
        event_service.lock_event(session, sale_state.organisation_id, sale_state.id)
    fresh = _is_current(session, sale_state)
    _count(session, request)
    rows = seats.locked(session, sale_state.organisation_id, sale_state.id, (seat.number for seat in items.seats))
    mine = queries.mine(session, request.organisation_id, request.id, now, sale_state.id)
    here = {row.seat: row for row in mine if row.seat is not None}
    new = [seat for seat in items.seats if seat.number not in here]
    states = ((seat, rows[seat.number]) for seat in new if seat.number in rows)
    taken = (taken_seat(seat, row.state, row.held_until, now) for seat, row in states)
    recent, oldest = queries.count_recent(session, request.organisation_id, request.id, now - rules.RATE_MS)
    evidence = Evidence(
        fresh=fresh,
        more=len(new) + items.count,
        taken=[each for each in taken if each is not None],
        guest_active=request.kind != "guest" or customers.is_active(session, request.organisation_id, request.id, now),
        recent=recent,
        oldest=oldest,
        mine=sum(row.quantity for row in mine),
        from_address=_from_address(session, sale_state, request),
        room=_room(session, sale_state, items, now),
        choice=items.choice,
    )
    return Gathered(evidence, rows, here, new)


def _is_current(session: Session, sale_state: SaleState) -> bool:
    """Share the sale lock, so that nobody closes the sale meanwhile; whether the sale state is current."""
    here = SaleLockRow.organisation_id == sale_state.organisation_id, SaleLockRow.event_id == sale_state.id
    version = session.execute(select(SaleLockRow.version).where(*here).with_for_update(read=True)).scalar_one_or_none()
    if version is None:
        return False
    current = load_sale_state(session, sale_state.organisation_id, sale_state.id, version)
    return current.sale == sale_state.sale


def create_counter(session: Session, bearer_id: str, organisation_id: str, now: Millis) -> None:
    """Create the bearer's hold counter, where there is none."""
    row = {"bearer_id": bearer_id, "organisation_id": organisation_id, "version": 1, "updated_at": now}
    session.execute(writes.insert(session, HoldCounterRow).values(row).on_conflict_do_nothing())


def _count(session: Session, request: HoldRequest) -> None:
    create_counter(session, request.id, request.organisation_id, request.now)
    mine = HoldCounterRow.organisation_id == request.organisation_id, HoldCounterRow.bearer_id == request.id
    change = update(HoldCounterRow).where(*mine)
    session.execute(change.values(version=HoldCounterRow.version + 1, updated_at=request.now))


def _from_address(session: Session, sale_state: SaleState, request: HoldRequest) -> int:
    if sale_state.policy.max_holds_per_ip is None:
        return 0
    return queries.count_from_address(session, sale_state.organisation_id, sale_state.id, request.origin, request.now)


def _room(session: Session, sale_state: SaleState, items: RequestedItems, now: Millis) -> int | None:
    """What is left in the zone, and at an event that sells less than its zones hold."""
    room = None
    if items.count:
        places.locked(session, sale_state.organisation_id, sale_state.id, items.zone)
        room = items.capacity - places.taken(session, sale_state.organisation_id, sale_state.id, now)[items.zone]
    if sale_state.event_limit is None:
        return room
    issued = events.event(session, sale_state.organisation_id, sale_state.id).tickets_issued
    left = sale_state.event_limit - issued - queries.held(session, sale_state.organisation_id, sale_state.id, now)
    return left if room is None else min(room, left)
