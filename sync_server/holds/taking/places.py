"""Counts places of zones without seats: held and sold, never more than the zone has."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from sqlalchemy import ColumnElement, func, select, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from shared.clock import Millis
from sync_server.holds.models import ALL_DAYS, HoldRow, HoldStatus, ZonePlacesRow
from sync_server.plumbing.database import database_of


def hold(session: Session, organisation_id: str, event_id: str, zone: int, count: int, *, capacity: int) -> bool:
    """Hold places; False where the zone has too few left. Overdue holds count until they are ended."""
    _create_row(session, organisation_id, event_id, zone)
    fits = ZonePlacesRow.held + ZonePlacesRow.sold + count <= capacity
    return _changed(session, organisation_id, event_id, zone, fits, held=ZonePlacesRow.held + count)


def sell(
    session: Session, organisation_id: str, event_id: str, zone: int, count: int, *, held: int, capacity: int
) -> bool:
    """Sell places, of which the buyer held `held`; False where the zone has too few left."""
    _create_row(session, organisation_id, event_id, zone)
    fits = ZonePlacesRow.held - held + ZonePlacesRow.sold + count <= capacity
    changed = {"held": ZonePlacesRow.held - held, "sold": ZonePlacesRow.sold + count}
    return _changed(session, organisation_id, event_id, zone, fits, **changed)


def release(session: Session, organisation_id: str, event_id: str, zone: int, count: int) -> bool:
    """Free held places; False where fewer were held."""
    return _changed(
        session, organisation_id, event_id, zone, ZonePlacesRow.held >= count, held=ZonePlacesRow.held - count
    )


def free_sold(session: Session, organisation_id: str, event_id: str, zone: int, count: int) -> bool:
    """Free sold places; False where fewer were sold."""
    return _changed(
        session, organisation_id, event_id, zone, ZonePlacesRow.sold >= count, sold=ZonePlacesRow.sold - count
    )


def _at_event(organisation_id: str, event_id: str, day: int = ALL_DAYS) -> tuple[ColumnElement[bool], ...]:
    row = ZonePlacesRow
    return row.organisation_id == organisation_id, row.event_id == event_id, row.day == day


def _create_row(session: Session, organisation_id: str, event_id: str, zone: int) -> None:
    dialect = sqlite if database_of(session).embedded else postgresql
    row = {
        "organisation_id": organisation_id,
        "event_id": event_id,
        "day": ALL_DAYS,
        "zone": zone,
        "held": 0,
        "sold": 0,
    }
    session.execute(dialect.insert(ZonePlacesRow).values(row).on_conflict_do_nothing())


def _changed(session: Session, organisation_id: str, event_id: str, zone: int, condition: Any, **values: Any) -> bool:
    here = *_at_event(organisation_id, event_id), ZonePlacesRow.zone == zone
    change = update(ZonePlacesRow).where(*here, condition).values(**values).returning(ZonePlacesRow.zone)
    return session.execute(change.execution_options(synchronize_session=False)).first() is not None


def locked(session: Session, organisation_id: str, event_id: str, zone: int) -> None:
    """Lock the counts of this zone until the transaction ends."""
    here = *_at_event(organisation_id, event_id), ZonePlacesRow.zone == zone
    session.execute(select(ZonePlacesRow.zone).where(*here).with_for_update()).all()


def locked_free_of_others(session: Session, organisation_id: str, event_id: str, zone: int) -> bool:
    """Lock the counts of this zone; False where another transaction has them locked."""
    here = *_at_event(organisation_id, event_id), ZonePlacesRow.zone == zone
    return (
        session.execute(select(ZonePlacesRow.zone).where(*here).with_for_update(skip_locked=True)).first() is not None
    )


def overdue(session: Session, organisation_id: str, event_id: str, zone: int | None, now: Millis) -> Sequence[HoldRow]:
    """The holds of places that are overdue but still counted."""
    here = [
        HoldRow.organisation_id == organisation_id,
        HoldRow.event_id == event_id,
        HoldRow.kind == "places",
        *_is_overdue(now),
    ]
    if zone is not None:
        here.append(HoldRow.zone == zone)
    return session.execute(select(HoldRow).where(*here).order_by(HoldRow.id)).scalars().all()


def taken(session: Session, organisation_id: str, event_id: str, now: Millis) -> Counter[int]:
    """Places held or sold, by zone; overdue holds count as free."""
    counted = select(ZonePlacesRow.zone, (ZonePlacesRow.held + ZonePlacesRow.sold).label("n")).where(
        *_at_event(organisation_id, event_id)
    )
    found = Counter({row.zone: int(row.n) for row in session.execute(counted)})
    return +_without_overdue(session, organisation_id, event_id, now, found)


def held(session: Session, organisation_id: str, event_id: str, now: Millis) -> Counter[int]:
    """Places held, by zone; overdue holds count as free."""
    counted = select(ZonePlacesRow.zone, ZonePlacesRow.held.label("n")).where(*_at_event(organisation_id, event_id))
    found = Counter({row.zone: int(row.n) for row in session.execute(counted)})
    return +_without_overdue(session, organisation_id, event_id, now, found)


def _without_overdue(
    session: Session, organisation_id: str, event_id: str, now: Millis, found: Counter[int]
) -> Counter[int]:
    if not found:
        return found
    here = (
        HoldRow.organisation_id == organisation_id,
        HoldRow.event_id == event_id,
        HoldRow.kind == "places",
        *_is_overdue(now),
    )
    overdue = select(HoldRow.zone, func.sum(HoldRow.quantity)).where(*here).group_by(HoldRow.zone)
    found.subtract({zone: int(count) for zone, count in session.execute(overdue)})
    return found


def _is_overdue(now: Millis) -> tuple[Any, ...]:
    return HoldRow.status == HoldStatus.ACTIVE.value, HoldRow.held_until <= now
