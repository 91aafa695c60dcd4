"""Gathers the evidence for `rules`: from the row that the one statement returns, or in a session, with its locks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from sqlalchemy import text
from sqlalchemy.orm import Session

from shared.clock import Millis
from shared.errors import GatehouseError
from sync_server.events import queries as events
from sync_server.events import service as event_service
from sync_server.holds import queries
from sync_server.holds.attempts.hold_request import HoldRequest
from sync_server.holds.caches.sale_state import SaleState
from sync_server.holds.models import WHOLE_EVENT, EventSeatRow, HoldRow, SeatState
from sync_server.holds.rules import Evidence, Limits, TakenSeat
from sync_server.holds.taking import places, seats
from sync_server.seating.plans.layout_seats import Seat

# What is known of a bearer, for the statements of this package. Recent holds are wanted in order, which only their own
# index gives.
BEARER: Final = """
recent_holds AS (
  SELECT COALESCE(SUM(quantity), 0) AS recent, MIN(created_at) AS oldest
  FROM (SELECT quantity, created_at FROM holds
    WHERE organisation_id = :organisation AND bearer_id = :bearer AND created_at > :since
    ORDER BY created_at LIMIT 1000) AS latest
), here AS (
  SELECT COALESCE(SUM(quantity), 0) AS count FROM holds
  WHERE :per_address >= 0 AND organisation_id = :organisation AND event_id = :event AND origin = :origin
    AND status = 'active' AND held_until > :now
), carded AS (
  SELECT COALESCE(SUM(quantity), 0) AS count FROM holds
  WHERE :per_card >= 0 AND organisation_id = :organisation AND event_id = :event AND membership_id = :card
    AND status = 'active' AND held_until > :now
)"""
GUEST_ACTIVE: Final = """:kind <> 'guest' OR EXISTS (
      SELECT 1 FROM guests WHERE organisation_id = :organisation AND id = :bearer AND ends_at > :now
    )"""
_BEARER: Final = text(
    f"WITH {BEARER} SELECT {GUEST_ACTIVE}, recent, oldest, here.count, carded.count FROM recent_holds, here, carded"  # noqa: S608 - our own words
)
_LOCK_COUNTER: Final = text(
    "INSERT INTO hold_counters (organisation_id, bearer_id, version, updated_at) "
    "VALUES (:organisation, :bearer, 1, :now) ON CONFLICT (organisation_id, bearer_id) "
    "DO UPDATE SET version = hold_counters.version + 1, updated_at = excluded.updated_at"
)


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
    with_card: int
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
            with_card=self.with_card,
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


def counted(limits: Limits) -> dict[str, int]:
    """The limits for which holds of others are counted; -1: none, and nothing is read."""
    named = {"per_address": limits.per_address, "per_card": limits.per_card}
    return {name: -1 if limit is None else limit for name, limit in named.items()}


def gather(
    session: Session, sale_state: SaleState, request: HoldRequest, items: RequestedItems, limits: Limits
) -> Gathered:
    """Lock everything that the request depends on, in the order that all use, and read it."""
    now = request.now
    if sale_state.event_limit is not None:
        event_service.lock_event(session, sale_state.organisation_id, sale_state.id)
    fresh = sale_state.is_current(session)
    lock_counter(session, request.id, request.organisation_id, now)
    rows = seats.locked(session, sale_state.organisation_id, sale_state.id, (seat.number for seat in items.seats))
    mine = queries.mine(session, request.organisation_id, request.id, now, sale_state.id)
    here = {row.seat: row for row in mine if row.seat is not None}
    new = [seat for seat in items.seats if seat.number not in here]
    states = ((seat, rows[seat.number]) for seat in new if seat.number in rows)
    taken = (taken_seat(seat, row.state, row.held_until, now) for seat, row in states)
    here_only = {"event": sale_state.id, **counted(limits)}
    guest_active, recent, oldest, from_address, with_card = session.execute(_BEARER, request.values() | here_only).one()
    evidence = Evidence(
        fresh=fresh,
        more=len(new) + items.count,
        taken=[each for each in taken if each is not None],
        guest_active=bool(guest_active),
        recent=int(recent),
        oldest=oldest,
        mine=sum(row.quantity for row in mine),
        from_address=int(from_address),
        with_card=int(with_card),
        room=_room(session, sale_state, items, now),
        choice=items.choice,
    )
    return Gathered(evidence, rows, here, new)


def lock_counter(session: Session, bearer_id: str, organisation_id: str, now: Millis) -> None:
    """Lock the bearer's hold counter and raise it; create it where there is none."""
    session.execute(_LOCK_COUNTER, {"organisation": organisation_id, "bearer": bearer_id, "now": now})


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
