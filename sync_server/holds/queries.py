"""Reads of holds, and of what is held and sold at an event."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from sqlalchemy import ColumnElement, and_, func, or_, select, text, tuple_
from sqlalchemy.orm import Session

from shared.clock import Millis
from shared.errors import NotFound
from sync_server.holds.models import ALL_DAYS, EventSeatRow, HoldRow, HoldStatus, SeatState
from sync_server.holds.taking import places, seats
from sync_server.plumbing.event_key import EventKey
from sync_server.seating.taken import Taken


def taken(session: Session, organisation_id: str, event_id: str, now: Millis) -> Taken:
    """The seats and places that are sold, or held and not overdue."""
    seat = EventSeatRow
    held = and_(seat.state == SeatState.HELD, seat.held_until > now)
    here = select(seat.seat, seat.state).where(
        *seats.at_event(organisation_id, event_id), or_(seat.state == SeatState.SOLD, held)
    )
    rows = session.execute(here).all()
    sold = any(state == SeatState.SOLD for _, state in rows)
    return Taken(event_id, {number for number, _ in rows}, places.taken(session, organisation_id, event_id, now), sold)


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


def hold_on(session: Session, organisation_id: str, event_id: str, seat: int, now: Millis) -> HoldRow:
    """The hold of a seat now, or NotFound."""
    row = session.get(EventSeatRow, (organisation_id, event_id, ALL_DAYS, seat))
    held = row is not None and row.state == SeatState.HELD and row.held_until is not None and row.held_until > now
    if row is None or not held or row.hold_id is None:
        raise NotFound("Nobody holds this seat.", code="hold_not_found")
    return hold(session, organisation_id, None, row.hold_id)


def _of_bearer(organisation_id: str, bearer_id: str) -> tuple[ColumnElement[bool], ...]:
    return HoldRow.organisation_id == organisation_id, HoldRow.bearer_id == bearer_id


def count_active_and_overdue(session: Session, now: Millis) -> tuple[int, int]:
    """The numbers of active holds and of overdue ones that are not ended yet, over all events."""
    counts = select(func.count().filter(HoldRow.held_until > now), func.count().filter(HoldRow.held_until <= now))
    row = session.execute(
        counts.where(HoldRow.status == text("'active'"))
    ).one()  # as literal text, to match the partial index
    return row[0], row[1]


def held(session: Session, organisation_id: str, event_id: str, now: Millis) -> int:
    """How many seats and places of an event are held now."""
    places_held = places.held(session, organisation_id, event_id, now)
    return seats.count_held(session, organisation_id, event_id, now) + places_held.total()


def count_held(session: Session, events: Collection[EventKey], now: Millis) -> dict[str, int]:
    """How many seats and places of each event are held now, whatever its state; events without any are left out."""
    is_open = or_(
        HoldRow.status == HoldStatus.SUSPENDED, and_(HoldRow.status == HoldStatus.ACTIVE, HoldRow.held_until > now)
    )
    these = tuple_(HoldRow.organisation_id, HoldRow.event_id).in_(events)
    counted = select(HoldRow.event_id, func.sum(HoldRow.quantity)).where(these, is_open)
    return {row[0]: int(row[1]) for row in session.execute(counted.group_by(HoldRow.event_id))}
