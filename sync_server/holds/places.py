"""Counts places of zones without seats: held and sold, never more than the zone has."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from sqlalchemy import func, select, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from shared.clock import Millis
from sync_server.holds.models import HoldRow, HoldStatus, PlacesRow
from sync_server.plumbing.database import of


def hold(session: Session, organisation_id: str, event_id: str, zone: int, count: int, *, capacity: int) -> bool:
    """Hold so many places; False where the zone has not so many left. Overdue holds count until they are ended."""
    _open(session, organisation_id, event_id, zone)
    room = PlacesRow.held + PlacesRow.sold + count <= capacity
    return _changed(session, event_id, zone, room, held=PlacesRow.held + count)


def sell(
    session: Session, organisation_id: str, event_id: str, zone: int, count: int, *, held: int, capacity: int
) -> bool:
    """Sell so many places, of which `held` were held by the buyer; False where the zone has not so many left."""
    _open(session, organisation_id, event_id, zone)
    room = PlacesRow.held - held + PlacesRow.sold + count <= capacity
    changed = {"held": PlacesRow.held - held, "sold": PlacesRow.sold + count}
    return _changed(session, event_id, zone, room, **changed)


def let_go(session: Session, event_id: str, zone: int, count: int) -> bool:
    """Give held places back; False where so many were not held."""
    return _changed(session, event_id, zone, PlacesRow.held >= count, held=PlacesRow.held - count)


def unsell(session: Session, event_id: str, zone: int, count: int) -> bool:
    """Give sold places back; False where so many were not sold."""
    return _changed(session, event_id, zone, PlacesRow.sold >= count, sold=PlacesRow.sold - count)


def _open(session: Session, organisation_id: str, event_id: str, zone: int) -> None:
    dialect = sqlite if of(session).embedded else postgresql
    row = {"event_id": event_id, "zone": zone, "organisation_id": organisation_id, "held": 0, "sold": 0}
    session.execute(dialect.insert(PlacesRow).values(row).on_conflict_do_nothing())


def _changed(session: Session, event_id: str, zone: int, condition: Any, **values: Any) -> bool:
    here = PlacesRow.event_id == event_id, PlacesRow.zone == zone
    change = update(PlacesRow).where(*here, condition).values(**values).returning(PlacesRow.zone)
    return session.execute(change.execution_options(synchronize_session=False)).first() is not None


def locked(session: Session, event_id: str, zone: int) -> None:
    """Hold back others who count places of this zone, until this transaction ends."""
    here = PlacesRow.event_id == event_id, PlacesRow.zone == zone
    session.execute(select(PlacesRow.zone).where(*here).with_for_update()).all()


def locked_free_of_others(session: Session, event_id: str, zone: int) -> bool:
    """Whether nobody else has locked the places of this zone; they are locked now."""
    here = PlacesRow.event_id == event_id, PlacesRow.zone == zone
    return session.execute(select(PlacesRow.zone).where(*here).with_for_update(skip_locked=True)).first() is not None


def overdue(session: Session, event_id: str, zone: int | None, now: Millis) -> Sequence[HoldRow]:
    """The holds of places whose time is over, but which are counted still."""
    here = [HoldRow.event_id == event_id, HoldRow.kind == "places", *_over(now)]
    if zone is not None:
        here.append(HoldRow.zone == zone)
    return session.execute(select(HoldRow).where(*here).order_by(HoldRow.id)).scalars().all()


def gone(session: Session, event_id: str, now: Millis) -> Counter[int]:
    """Places held or sold, by zone; what is overdue is free."""
    counted = select(PlacesRow.zone, (PlacesRow.held + PlacesRow.sold).label("n")).where(PlacesRow.event_id == event_id)
    found = Counter({row.zone: int(row.n) for row in session.execute(counted)})
    return +_without_overdue(session, event_id, now, found)


def held(session: Session, event_id: str, now: Millis) -> Counter[int]:
    """Places held, by zone; what is overdue is free."""
    counted = select(PlacesRow.zone, PlacesRow.held.label("n")).where(PlacesRow.event_id == event_id)
    found = Counter({row.zone: int(row.n) for row in session.execute(counted)})
    return +_without_overdue(session, event_id, now, found)


def _without_overdue(session: Session, event_id: str, now: Millis, found: Counter[int]) -> Counter[int]:
    if not found:
        return found
    here = HoldRow.event_id == event_id, HoldRow.kind == "places", *_over(now)
    over = select(HoldRow.zone, func.sum(HoldRow.quantity)).where(*here).group_by(HoldRow.zone)
    found.subtract({zone: int(count) for zone, count in session.execute(over)})
    return found


def _over(now: Millis) -> tuple[Any, ...]:
    return HoldRow.status == HoldStatus.ACTIVE.value, HoldRow.held_until <= now
