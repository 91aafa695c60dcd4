"""Holds several seats or places at once, lets them go, and lets them last longer; everything or nothing.

One seat is held by the straight way in `reserve`; both obey `rules`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import select, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from shared.clock import Millis
from shared.errors import Conflict
from shared.ids import uuid7
from sync_server.audit.service import AuditLine, record
from sync_server.events import queries as events
from sync_server.events import service as event_service
from sync_server.holds import ending, inventory, places, queries, rules, seats
from sync_server.holds.asking import Asking, Held
from sync_server.holds.known import Known, load
from sync_server.holds.models import (
    WHOLE_EVENT,
    DeskRow,
    HoldRow,
    HoldStatus,
    SeatOfEventRow,
    SeatState,
    TallyRow,
)
from sync_server.outbox.service import Fact
from sync_server.outbox.service import record as record_fact
from sync_server.plumbing.database import announce, of
from sync_server.plumbing.principals import Deed
from sync_server.seating.spots import Spot

HELD = "holds_made"
"""Announced with the holds that are made or last longer from this transaction on."""


class Stale(Exception):
    """What was known of the event is no longer so; nothing was done."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """Seats, or places of a zone, for one party."""

    spots: Sequence[Spot] = ()
    zone: int = WHOLE_EVENT
    count: int = 0
    capacity: int = 0  # of the zone

    @property
    def total(self) -> int:
        """For how many people."""
        return len(self.spots) + self.count


def bounds_of(known: Known, asking: Asking) -> rules.Bounds:
    """How much this bearer may hold there."""
    if asking.override:
        return rules.Bounds(None, None, None, None)
    policy = known.policy
    booking = policy.max_seats_per_booking
    # Where a booking holds more than the rate allows, one booking is allowed.
    return rules.Bounds(booking, policy.max_holds_per_user, policy.max_holds_per_ip, max(rules.RATE, booking or 0))


def hold(session: Session, known: Known, asking: Asking, wanted: Wanted) -> list[Held]:
    """Hold all of it; seats that this bearer holds already are answered as they are.

    Stale where the event has changed since it was known; else the refusals of `rules`.
    """
    if known.bound is not None:
        event_service.lock(session, known.organisation_id, known.id)
    _at_the_desk(session, known, asking.now)
    _count(session, asking)
    rows = seats.locked(session, known.id, (spot.number for spot in wanted.spots))
    mine = queries.mine(session, asking.organisation_id, asking.id, asking.now, known.id)
    here = {row.seat: row for row in mine if row.seat is not None}
    new = [spot for spot in wanted.spots if spot.number not in here]
    _within_bounds(session, known, asking, mine, len(new) + wanted.count)
    _require_free(rows, new, asking.now)
    _within_event(session, known, len(new) + wanted.count, asking.now)
    _end_overdue(session, known, rows, new, asking.deed)
    made = _made(known, asking, new, wanted)
    _take(session, known, asking, made, wanted)
    present = [_told(known, here[spot.number], spot, made=False) for spot in wanted.spots if spot.number in here]
    by_seat = {spot.number: spot for spot in new}
    return present + [_told(known, row, by_seat.get(row.seat or 0)) for row in made]


def _at_the_desk(session: Session, known: Known, now: Millis) -> None:
    """Share the desk of the event, so that nobody closes it meanwhile, and see that it is as it was known."""
    desk = select(DeskRow.turn).where(DeskRow.event_id == known.id).with_for_update(read=True)
    turn = session.execute(desk).scalar_one_or_none()
    if turn is None or load(session, known.organisation_id, known.id, known.plan, turn).sale != known.sale:
        raise Stale
    rules.check_sale(known.sale, now)


def open_tally(session: Session, bearer_id: str, organisation_id: str, now: Millis) -> None:
    """Let somebody's holds be counted from now on."""
    dialect = sqlite if of(session).embedded else postgresql
    row = {"bearer_id": bearer_id, "organisation_id": organisation_id, "turn": 1, "updated_at": now}
    session.execute(dialect.insert(TallyRow).values(row).on_conflict_do_nothing())


def _count(session: Session, asking: Asking) -> None:
    open_tally(session, asking.id, asking.organisation_id, asking.now)
    counted = update(TallyRow).where(TallyRow.bearer_id == asking.id)
    session.execute(counted.values(turn=TallyRow.turn + 1, updated_at=asking.now))


def _within_bounds(session: Session, known: Known, asking: Asking, mine: Sequence[HoldRow], more: int) -> None:
    bounds = bounds_of(known, asking)
    held = sum(row.quantity for row in mine)
    recent, oldest = queries.lately(session, asking.id, asking.now - rules.RATE_MS)
    if more and rules.over_rate(recent, more, bounds):
        raise rules.too_fast(oldest, bounds, asking.now)
    if rules.over(held, more, bounds.per_booking):
        raise rules.too_many_seats(bounds)
    if rules.over(held, more, bounds.per_user):
        raise rules.too_many_holds(bounds)
    if bounds.per_address is not None:
        from_there = queries.from_address(session, known.id, asking.origin, asking.now)
        if rules.over(from_there, more, bounds.per_address):
            raise rules.too_many_from_address()


def _require_free(rows: Mapping[int, SeatOfEventRow], new: Sequence[Spot], now: Millis) -> None:
    gone = [spot for spot in new if not seats.obtainable(rows.get(spot.number), now)]
    if not gone:
        return
    row = rows[gone[0].number]
    refusal = (
        rules.not_available("sold") if row.state == SeatState.SOLD else rules.held_by_another(row.held_until or 0, now)
    )
    raise rules.naming(refusal, {spot.id: spot.name for spot in gone}) if len(new) > 1 else refusal


def _within_event(session: Session, known: Known, more: int, now: Millis) -> None:
    """Of an event that sells less than its zones hold; its row is locked, so that counting is enough."""
    if known.bound is None or not more:
        return
    issued = events.event(session, known.organisation_id, known.id).tickets_issued
    if queries.occupancy(session, known.id, now).held + issued + more > known.bound:
        raise rules.at_capacity()


def _end_overdue(
    session: Session, known: Known, rows: Mapping[int, SeatOfEventRow], new: Sequence[Spot], deed: Deed
) -> None:
    there = [rows[spot.number] for spot in new if spot.number in rows]
    over = ending.living(session, {row.hold_id for row in there if row.hold_id is not None})
    ending.end(session, known.number, over, HoldStatus.EXPIRED, deed)


def _made(known: Known, asking: Asking, new: Sequence[Spot], wanted: Wanted) -> list[HoldRow]:
    deed, party = asking.deed, None
    if len(new) + bool(wanted.count) > 1:
        party = uuid7(deed.now, deed.entropy)

    def row(kind: str, zone: int, quantity: int, seat: int | None) -> HoldRow:
        return HoldRow(
            id=uuid7(deed.now, deed.entropy),
            organisation_id=known.organisation_id,
            event_id=known.id,
            kind=kind,
            seat=seat,
            zone=zone,
            quantity=quantity,
            bearer_kind=asking.kind,
            bearer_id=asking.id,
            party_id=party,
            status=HoldStatus.ACTIVE.value,
            held_until=until(known, deed.now),
            source=asking.source,
            notes=asking.notes,
            origin=origin_of(known, asking),
            extended=0,
            created_at=deed.now,
            updated_at=deed.now,
        )

    places_held = [row("places", wanted.zone, wanted.count, None)] if wanted.count else []
    return [row("seat", spot.zone, 1, spot.number) for spot in new] + places_held


def until(known: Known, now: Millis) -> Millis:
    """Until when a hold lasts that is made now."""
    return now + rules.ttl_ms(known.policy.default_hold_ttl_minutes)


def origin_of(known: Known, asking: Asking) -> str | None:
    """Where a hold comes from, only where the policy counts addresses."""
    return asking.origin if known.policy.max_holds_per_ip is not None else None


def _take(session: Session, known: Known, asking: Asking, made: Sequence[HoldRow], wanted: Wanted) -> None:
    numbers = {row.seat: row.id for row in made if row.seat is not None}
    ends = until(known, asking.now)
    got = seats.hold(session, known.organisation_id, known.id, numbers, until=ends, now=asking.now)
    if len(got) < len(numbers):
        raise rules.no_longer_available()
    if wanted.count:
        _take_places(session, known, asking.deed, wanted)
    session.add_all(made)
    session.flush()
    ids = {spot.number: spot.id for spot in wanted.spots}
    for row in made:
        seat_id = None if row.seat is None else ids[row.seat]
        _tell(session, known.number, row, asking.deed, action="seat_reserved", fact="seat_held", seat_id=seat_id)
    announce(session, HELD, made, asking.now)


def _take_places(session: Session, known: Known, deed: Deed, wanted: Wanted) -> None:
    def held() -> bool:
        return places.hold(
            session, known.organisation_id, known.id, wanted.zone, wanted.count, capacity=wanted.capacity
        )

    if held():
        return
    freed = inventory.end_overdue_places(session, known.id, known.number, wanted.zone, deed)
    if not freed or not held():
        raise rules.at_capacity()


def _tell(
    session: Session, event_number: int, row: HoldRow, deed: Deed, *, action: str, fact: str, **told: str | None
) -> None:
    after = {
        "status": row.status,
        "event_id": row.event_id,
        "seat": row.seat,
        "zone": row.zone,
        "quantity": row.quantity,
        "held_until": row.held_until,
        "source": row.source,
    }
    record(session, AuditLine(deed.actor, action, "hold", row.id, row.organisation_id, deed.now, None, after))
    subjects, payload = ending.subjects_of(row, event_number), ending.payload_of(row) | told
    record_fact(session, Fact(fact, row.organisation_id, deed.now, subjects, payload))


def _told(known: Known, row: HoldRow, spot: Spot | None, *, made: bool = True) -> Held:
    zone = known.plan.zones.get(row.zone)
    name = zone.name if zone is not None else ""
    return Held(row.id, known.id, spot, row.zone, name, row.quantity, row.held_until, made, row.party_id)


def release(session: Session, organisation_id: str, hold_id: str, bearer_id: str | None, deed: Deed) -> HoldRow:
    """Give a hold up; once is as good as twice. Conflict for one that was bought."""
    row = queries.hold(session, organisation_id, bearer_id, hold_id)
    number = events.event(session, organisation_id, row.event_id).number
    living = _locked(session, row)
    if living is None:
        if row.status == HoldStatus.CONVERTED.value:
            raise Conflict("This hold was bought: there is nothing to give up any more.", code="hold_converted")
        return row
    let_go(session, [living])
    status = HoldStatus.CANCELLED if living.held_until > deed.now else HoldStatus.EXPIRED
    ending.end(session, number, [living], status, deed, reason="given up")
    return living


def _locked(session: Session, row: HoldRow) -> HoldRow | None:
    """A hold that has not ended, with its seat or places locked before it, as everybody does."""
    if row.seat is not None:
        seats.locked(session, row.event_id, [row.seat])
    else:
        places.locked(session, row.event_id, row.zone)
    return next(iter(ending.living(session, [row.id])), None)


def let_go(session: Session, holds: Sequence[HoldRow]) -> None:
    """Free what these living holds have, which the caller ends in the same transaction."""
    by_event: dict[str, dict[int, str]] = {}
    for row in holds:
        if row.seat is not None:
            by_event.setdefault(row.event_id, {})[row.seat] = row.id
        else:
            places.let_go(session, row.event_id, row.zone, row.quantity)
    for event_id, numbers in by_event.items():
        seats.let_go(session, event_id, numbers)


def extend(session: Session, known: Known, hold_id: str, asking: Asking) -> HoldRow:
    """Let a hold last as long again from now; Conflict for one that is over, or was extended often enough."""
    row = queries.hold(session, asking.organisation_id, None if asking.override else asking.id, hold_id)
    living = _locked(session, row)
    if living is None or living.held_until <= asking.now:
        raise Conflict("This hold is over. Choose the seat again.", code="hold_expired")
    rules.check_sale(known.sale, asking.now)
    if living.status != HoldStatus.ACTIVE.value:
        raise Conflict("The time of this hold stands still: the event has no date.", code="hold_suspended")
    if living.extended >= rules.EXTENSIONS and not asking.override:
        raise Conflict("This hold was extended once already.", code="hold_extended_already")
    living.held_until = max(living.held_until, until(known, asking.now))
    living.extended, living.updated_at = living.extended + 1, asking.now
    if living.seat is not None:
        seats.extend(session, living.event_id, living.seat, living.id, living.held_until)
    session.flush()
    _tell(session, known.number, living, asking.deed, action="seat_hold_extended", fact="seat_hold_extended")
    announce(session, HELD, [living], asking.now)
    return living
