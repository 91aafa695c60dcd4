"""Reads of holds, and of what is held and sold at an event."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from typing import Final

from sqlalchemy import ColumnElement, and_, func, or_, select, text, tuple_
from sqlalchemy.orm import Session

from shared.clock import Millis
from shared.errors import NotFound
from sync_server.events import queries as events
from sync_server.events.days import day_counts
from sync_server.events.days.chosen_days import EVERY_DAY, ChosenDays, beyond, dates_of, overlap
from sync_server.holds.models import KEEPS_SEAT, OPEN_PLACES, EventSeatRow, HoldRow, HoldStatus, SeatState
from sync_server.holds.taking import places, seats
from sync_server.plumbing.event_key import EventKey
from sync_server.plumbing.sql.prepared import Prepared, placeholder
from sync_server.seating.taken import Taken


def taken(session: Session, organisation_id: str, event_id: str, now: Millis, days: int = EVERY_DAY) -> Taken:
    """The seats and places that are sold, or held and not overdue, on any of these days; of places the fullest day."""
    seat = EventSeatRow
    held = and_(seat.state == SeatState.HELD, seat.held_until > now)
    here = select(seat.seat, seat.day, seat.state).where(
        *seats.at_event(organisation_id, event_id), or_(seat.state == SeatState.SOLD, held)
    )
    rows = [(number, state) for number, day, state in session.execute(here) if not days or days >> day & 1]
    sold = any(state == SeatState.SOLD for _, state in rows)
    counted = places.on(places.by_day(session, organisation_id, event_id, now), days)
    return Taken(event_id, {number for number, _ in rows}, counted.taken(), sold)


def mine(
    session: Session, organisation_id: str, bearer_id: str, now: Millis, event_id: str | None = None
) -> Sequence[HoldRow]:
    """The holds of a bearer now, at one event or at all events of the organisation."""
    wanted = [
        HoldRow.organisation_id == organisation_id,
        HoldRow.bearer_id == bearer_id,
        HoldRow.held_until > now,
        HoldRow.status.in_([HoldStatus.ACTIVE.value, HoldStatus.SUSPENDED.value]),
    ]
    if event_id is not None:
        wanted.append(HoldRow.event_id == event_id)
    in_order = HoldRow.created_at, HoldRow.event_id, HoldRow.seat, HoldRow.id
    return session.execute(select(HoldRow).where(*wanted).order_by(*in_order)).scalars().all()


def seats_of(
    session: Session, organisation_id: str, event_id: str, bearer_id: str, now: Millis
) -> list[tuple[int, int]]:
    """The seats that a bearer holds now at an event, each with the bitmap of its days."""
    values = {"organisation": organisation_id, "event": event_id, "bearer": bearer_id, "now": now}
    return [(row.seat, int(row.days, 16)) for row in _SEATS_OF.rows(session, **values)]


_SEATS_OF: Final = Prepared(
    select(HoldRow.seat, HoldRow.days).where(
        HoldRow.organisation_id == placeholder("organisation"),
        HoldRow.event_id == placeholder("event"),
        HoldRow.bearer_id == placeholder("bearer"),
        HoldRow.held_until > placeholder("now"),
        HoldRow.status.in_([HoldStatus.ACTIVE.value, HoldStatus.SUSPENDED.value]),
        HoldRow.seat.is_not(None),
    )
)


def held_with_card(  # noqa: PLR0917 - the same parameters in the same order as the question to tickets
    session: Session,
    organisation_id: str,
    event_id: str,
    membership_id: str,
    zones: Collection[int],
    now: Millis,
    *,
    days: int,
    besides: Collection[str] = (),
) -> int:
    """How many seats and places of these zones are held with a membership now for any of these days.

    `besides` are holds that do not count.
    """
    row = HoldRow
    here = row.organisation_id == organisation_id, row.event_id == event_id, row.membership_id == membership_id
    is_open = row.held_until > now, row.status.in_([HoldStatus.ACTIVE.value, HoldStatus.SUSPENDED.value])
    counted = select(row.days, func.sum(row.quantity)).where(
        *here, *is_open, row.zone.in_(zones), row.id.not_in(besides)
    )
    found = session.execute(counted.group_by(row.days))
    return sum(int(count) for bits, count in found if overlap(bits, days))


def count_ever(session: Session, organisation_id: str, event_id: str) -> int:
    """The number of holds an event ever had."""
    here = HoldRow.organisation_id == organisation_id, HoldRow.event_id == event_id
    return session.execute(select(func.count()).where(*here)).scalar_one()


def of_bearer(session: Session, organisation_id: str, bearer_id: str, now: Millis) -> Sequence[HoldRow]:
    """All holds of a bearer."""
    is_open = HoldRow.status.in_([HoldStatus.ACTIVE.value, HoldStatus.SUSPENDED.value])
    wanted = select(HoldRow).where(*_of_bearer(organisation_id, bearer_id), HoldRow.held_until > now, is_open)
    return session.execute(wanted.order_by(HoldRow.event_id, HoldRow.seat)).scalars().all()


def hold(session: Session, organisation_id: str, bearer_id: str | None, hold_id: str) -> HoldRow:
    """A hold of this bearer (None: of anybody, for the box office), or NotFound."""
    row = session.get(HoldRow, (organisation_id, hold_id))
    if row is None or bearer_id not in {None, row.bearer_id}:
        raise NotFound("You have no such hold.", code="hold_not_found")
    return row


def holds_on(
    session: Session, organisation_id: str, event_id: str, seat: int, days: ChosenDays, *, now: Millis
) -> Sequence[HoldRow]:
    """The holds of a seat now on any of these days, or NotFound."""
    row = EventSeatRow
    here = *seats.at_event(organisation_id, event_id), row.seat == seat, row.day.in_(days.numbers)
    held = select(row.hold_id).where(*here, row.state == SeatState.HELD, row.held_until > now).order_by(row.day)
    ids = dict.fromkeys(id for id in session.execute(held).scalars() if id is not None)
    if not ids:
        raise NotFound("Nobody holds this seat.", code="hold_not_found")
    return [hold(session, organisation_id, None, id) for id in ids]


def _of_bearer(organisation_id: str, bearer_id: str) -> tuple[ColumnElement[bool], ...]:
    return HoldRow.organisation_id == organisation_id, HoldRow.bearer_id == bearer_id


def count_active_and_overdue(session: Session, now: Millis) -> tuple[int, int]:
    """The numbers of active holds and of overdue ones that are not ended yet, over all events."""
    counts = select(func.count().filter(HoldRow.held_until > now), func.count().filter(HoldRow.held_until <= now))
    row = session.execute(
        counts.where(HoldRow.status == text("'active'"))
    ).one()  # as literal text, to match the partial index
    return row[0], row[1]


def held(session: Session, organisation_id: str, event_id: str, now: Millis) -> Counter[int]:
    """How many seats and places of an event are held now, by day."""
    found = Counter(seats.count_held(session, organisation_id, event_id, now))
    for day, counts in places.by_day(session, organisation_id, event_id, now).items():
        found[day] += sum(counts.held.values())
    return found


def issued_by_day(session: Session, event: events.Event) -> dict[int, int]:
    """How many tickets there are for each day of an event; days without any may be left out."""
    return day_counts.issued(session, event.key) if len(dates_of(event)) > 1 else {0: event.tickets_issued}


def count_naming_days(session: Session, organisation_id: str, event_id: str, first: int) -> int:
    """How many open holds are for certain days, this one or a later one among them."""
    here = HoldRow.organisation_id == organisation_id, HoldRow.event_id == event_id, HoldRow.days != EVERY_DAY
    is_open = HoldRow.status.in_([HoldStatus.ACTIVE.value, HoldStatus.SUSPENDED.value])
    counted = select(HoldRow.days, func.count()).where(*here, is_open).group_by(HoldRow.days)
    return sum(count for bits, count in session.execute(counted) if beyond(bits, first))


def count_held(session: Session, events: Collection[EventKey], now: Millis) -> dict[str, int]:
    """How many seats and places of each event are held now, whatever its state; events without any are left out."""
    if not events:
        return {}  # SQLite would read every hold to find that none is of no event
    these = tuple_(HoldRow.organisation_id, HoldRow.event_id).in_(events)
    counted = select(HoldRow.event_id, func.sum(HoldRow.quantity).label("held")).group_by(HoldRow.event_id)
    counted = counted.where(these, HoldRow.held_until > now)  # suspended ones end never
    # Each kind has an index in which holds that ended are not read: they stay, and are many after an evening.
    of_both = counted.where(KEEPS_SEAT).union_all(counted.where(OPEN_PLACES)).subquery()
    total = select(of_both.c.event_id, func.sum(of_both.c.held)).group_by(of_both.c.event_id)
    return {id: int(count) for id, count in session.execute(total)}


def count_bearers(session: Session, event: EventKey) -> int:
    """How many guests ever held seats or places of an event."""
    guests = HoldRow.bearer_kind.in_(("guest", "customer"))
    return session.execute(
        select(func.count(HoldRow.bearer_id.distinct())).where(event.of(HoldRow), guests)
    ).scalar_one()
