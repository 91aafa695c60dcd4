"""Gathers the evidence for `rules`: from the row that the one statement returns, or in a session, with its locks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from sqlalchemy import text
from sqlalchemy.orm import Session

from shared.clock import Millis
from shared.errors import GatehouseError
from sync_server.events import queries as events
from sync_server.events import service as event_service
from sync_server.events.days.chosen_days import ChosenDays, covers, numbers, overlap
from sync_server.holds import queries
from sync_server.holds.attempts.hold_request import HoldRequest
from sync_server.holds.caches.sale_state import SaleState
from sync_server.holds.models import COUNTER_PRECISION_MS, WHOLE_EVENT, EventSeatRow, HoldRow, SeatState
from sync_server.holds.ports import HoldPorts
from sync_server.holds.rules import Evidence, Limits
from sync_server.holds.taken_seat import TakenSeat
from sync_server.holds.taking import places, seats
from sync_server.plumbing.ports import ports_of
from sync_server.seating.layouts.plan import AccessMode
from sync_server.seating.plans.layout_seats import Seat
from sync_server.seating.zone_access import memberships

# What is known of a bearer, for the statements of this package. Recent holds are wanted in order, which only their own
# index gives.
_RECENT: Final = """
recent_holds AS (
  SELECT COALESCE(SUM(quantity), 0) AS recent, MIN(created_at) AS oldest
  FROM (SELECT quantity, created_at FROM holds
    WHERE organisation_id = :organisation AND bearer_id = :bearer AND created_at > :since
    ORDER BY created_at LIMIT 1000) AS latest
)"""
_OF_OTHERS: Final = """{name} AS (
  SELECT COALESCE(SUM(quantity), 0) AS count FROM holds
  WHERE :{limit} >= 0 AND organisation_id = :organisation AND event_id = :event AND {column} = :{value}
    AND status = 'active' AND held_until > :now
)"""
_OF_NOBODY: Final = "{name} AS (SELECT 0 AS count)"


def bearer(*, per_address: bool = True, per_card: bool = True) -> str:
    """What is known of a bearer; holds of others are counted only where a limit asks for it."""
    counts = (
        (per_address, "here", "per_address", "origin", "origin"),
        (per_card, "carded", "per_card", "membership_id", "card"),
    )
    others = [
        (_OF_OTHERS if limited else _OF_NOBODY).format(name=name, limit=limit, column=column, value=value)
        for limited, name, limit, column, value in counts
    ]
    return ", ".join([_RECENT, *others])


GUEST_ACTIVE: Final = """:kind <> 'guest' OR EXISTS (
      SELECT 1 FROM guests WHERE organisation_id = :organisation AND id = :bearer AND ends_at > :now
    )"""
_BEARER: Final = text(
    f"WITH {bearer()} SELECT {GUEST_ACTIVE}, recent, oldest, here.count, carded.count FROM recent_holds, here, carded"  # noqa: S608 - our own words
)
# A column of an index that keeps its value lets PostgreSQL change the row without a new entry in each index.
COUNTER_USED_AT: Final = (
    f"CASE WHEN hold_counters.updated_at < :now - {COUNTER_PRECISION_MS} THEN :now ELSE hold_counters.updated_at END"
)
_LOCK_COUNTER: Final = text(
    "INSERT INTO hold_counters (organisation_id, bearer_id, version, updated_at) "  # noqa: S608 - our own words
    "VALUES (:organisation, :bearer, 1, :now) ON CONFLICT (organisation_id, bearer_id) "
    f"DO UPDATE SET version = hold_counters.version + 1, updated_at = {COUNTER_USED_AT}"
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

    def is_taken(self, now: Millis) -> bool:
        """Whether a seat that was asked for is sold, or held by a hold that has not run out."""
        return _taken(self.state, self.held_until, now)

    def evidence(self, seat: Seat, days: ChosenDays, choice: GatehouseError | None, now: Millis) -> Evidence:
        """The evidence for this seat, on the one day that was asked for."""
        taken = taken_seat(seat, self.state, self.held_until, now, days.names)
        overdue = self.state == SeatState.HELD
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


def taken_seat(
    seat: Seat, state: int, until: Millis | None, now: Millis, dates: tuple[str, ...] = ()
) -> TakenSeat | None:
    """The seat if it is sold, or held by a hold that has not run out; `dates` tell its days apart."""
    if _taken(state, until, now):
        return TakenSeat(seat.id, seat.name, state, until or 0, dates)
    return None


def _taken(state: int, until: Millis | None, now: Millis) -> bool:
    return state == SeatState.SOLD or (state == SeatState.HELD and (until or 0) > now)


def _taken_on_any(seat: Seat, rows: Sequence[EventSeatRow], now: Millis, days: ChosenDays) -> TakenSeat | None:
    """The seat if it is taken on any of its days: sold before held, and held for as long as the last of them."""
    found = [one for row in rows if (one := taken_seat(seat, row.state, row.held_until, now, days.names_of([row.day])))]
    if not found:
        return None
    worst = max(found, key=lambda one: (one.state, one.until))
    return replace(worst, dates=tuple(sorted(date for one in found for date in one.dates)))


@dataclass(frozen=True, slots=True)
class RequestedItems:
    """The seats, or the places of a zone, that one request asks for."""

    days: ChosenDays
    seats: Sequence[Seat] = ()
    zone: int = WHOLE_EVENT
    count: int = 0
    capacity: int = 0  # of the zone
    choice: GatehouseError | None = None  # why the seats break the seating rules
    singles: int = 0  # seats that the choice leaves single
    grade: str = ""  # of the choice
    member_zones: frozenset[int] = frozenset()  # zones to which only the card admits the bearer


@dataclass(frozen=True, slots=True)
class Gathered:
    """The evidence, and the rows that were locked for it."""

    evidence: Evidence
    overdue: frozenset[str]  # holds that ran out, and have seats that are asked for
    mine: Mapping[int, HoldRow]  # this bearer's holds for all of the days asked for, by seat
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
    if items.member_zones and request.card is not None:
        memberships.lock_alone(session, request.organisation_id, request.card)
    if sale_state.event_limit is not None:
        event_service.lock_event(session, sale_state.organisation_id, sale_state.id)
    fresh = sale_state.is_current(session)
    lock_counter(session, request.id, request.organisation_id, now)
    rows = seats.locked(session, sale_state.organisation_id, sale_state.id, (seat.number for seat in items.seats))
    mine = queries.mine(session, request.organisation_id, request.id, now, sale_state.id)
    here, partly = _held_before(mine, items, len(sale_state.dates))
    new = [seat for seat in items.seats if seat.number not in here]
    days = items.days.numbers
    of_new = {seat: [rows[seat.number, day] for day in days if (seat.number, day) in rows] for seat in new}
    taken = (_taken_on_any(seat, found, now, items.days) for seat, found in of_new.items() if seat.number not in partly)
    here_only = {"event": sale_state.id, **counted(limits)}
    guest_active, recent, oldest, from_address, with_card = session.execute(_BEARER, request.values() | here_only).one()
    evidence = Evidence(
        fresh=fresh,
        more=len(new) + items.count,
        taken=[each for each in taken if each is not None],
        partly_mine=[
            TakenSeat(seat.id, seat.name, SeatState.HELD, partly[seat.number].held_until, items.days.names_of(both))
            for seat in new
            if seat.number in partly and (both := {*days} & {*numbers(partly[seat.number].days, len(sale_state.dates))})
        ],
        guest_active=bool(guest_active),
        recent=int(recent),
        oldest=oldest,
        mine=sum(row.quantity for row in mine),
        from_address=int(from_address),
        with_card=int(with_card),
        members=_members(session, sale_state, request, items),
        more_members=sum(seat.zone in items.member_zones for seat in new) + items.count * bool(items.member_zones),
        room=_room(session, sale_state, items, now),
        choice=items.choice,
    )
    held = (row for found in of_new.values() for row in found if row.state == SeatState.HELD)
    return Gathered(evidence, frozenset(row.hold_id for row in held if row.hold_id is not None), here, new)


def _held_before(
    mine: Sequence[HoldRow], items: RequestedItems, count: int
) -> tuple[dict[int, HoldRow], dict[int, HoldRow]]:
    """The bearer's holds of these seats, by seat: those for all of the days asked for, and those for some of them."""
    whole, partly = dict[int, HoldRow](), dict[int, HoldRow]()
    for row in mine:
        if row.seat is not None and overlap(row.days, items.days.bits):
            (whole if covers(row.days, items.days.bits, count) else partly)[row.seat] = row
    return whole, partly


def _members(session: Session, sale_state: SaleState, request: HoldRequest, items: RequestedItems) -> int:
    """How many guests the card admits to zones for its members on these days already, by holds and by tickets."""
    if not items.member_zones or request.card is None:
        return 0
    where = sale_state.organisation_id, sale_state.id, request.card
    zones = [number for number, zone in sale_state.plan.zones.items() if zone.access_mode is AccessMode.MEMBERSHIP_TIER]
    event_zones = [sale_state.plan.event_zones[number] for number in zones if number in sale_state.plan.event_zones]
    tickets = ports_of(session, HoldPorts).days_of_membership(session, *where, event_zones)
    held = queries.held_with_card(session, *where, zones, request.now, days=items.days.bits)
    return held + sum(overlap(bits, items.days.bits) for bits in tickets)


def lock_counter(session: Session, bearer_id: str, organisation_id: str, now: Millis) -> None:
    """Lock the bearer's hold counter and raise it; create it where there is none."""
    session.execute(_LOCK_COUNTER, {"organisation": organisation_id, "bearer": bearer_id, "now": now})


def _room(session: Session, sale_state: SaleState, items: RequestedItems, now: Millis) -> int | None:
    """What is left in the zone, and at an event that sells less than its zones hold."""
    room = None
    if items.count:
        places.locked(session, sale_state.organisation_id, sale_state.id, items.zone)
        counts = places.by_day(session, sale_state.organisation_id, sale_state.id, now)
        room = items.capacity - places.on(counts, items.days.bits).taken()[items.zone]
    if sale_state.event_limit is None:
        return room
    event = events.event(session, sale_state.organisation_id, sale_state.id)
    issued, held = queries.issued_by_day(session, event), queries.held(session, event.organisation_id, event.id, now)
    left = sale_state.event_limit - max(issued.get(day, 0) + held.get(day, 0) for day in items.days.numbers)
    return left if room is None else min(room, left)
