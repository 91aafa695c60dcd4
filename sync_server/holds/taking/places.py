"""Counts places of zones without seats, day by day: held and sold, never more than the zone has."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import ColumnElement, Executable, Integer, Select, func, select, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from shared.clock import Millis
from sync_server.events.days import chosen_days
from sync_server.events.days.chosen_days import EVERY_DAY, ChosenDays
from sync_server.holds.models import OPEN_PLACES, HoldRow, ZonePlacesRow
from sync_server.plumbing.database import database_of
from sync_server.plumbing.event_key import EventKey
from sync_server.plumbing.sql.asked_together import Question
from sync_server.plumbing.sql.prepared import placeholder
from sync_server.plumbing.sql.prepared_changes import PreparedChange

FIRST_DAY: Final = 0


@dataclass(frozen=True, slots=True)
class ZoneDays:
    """The places of one zone of an event, on some of its days."""

    organisation_id: str
    event_id: str
    zone: int
    days: ChosenDays

    def here(self) -> tuple[ColumnElement[bool], ...]:
        """The condition for their rows."""
        return *_at_event(self.organisation_id, self.event_id), ZonePlacesRow.zone == self.zone, self._on_days()

    def _on_days(self) -> ColumnElement[bool]:
        chosen = self.days.numbers
        return ZonePlacesRow.day == chosen[0] if len(chosen) == 1 else ZonePlacesRow.day.in_(chosen)

    def rows(self) -> list[dict[str, Any]]:
        """Their rows, with nothing taken."""
        key = {"organisation_id": self.organisation_id, "event_id": self.event_id, "zone": self.zone}
        return [{**key, "day": day, "held": 0, "sold": 0} for day in self.days.numbers]


def hold(session: Session, where: ZoneDays, count: int, *, capacity: int) -> bool:
    """Hold places; False where the zone has too few left on one of the days. Overdue holds count until ended."""
    _create_rows(session, where)
    fits = ZonePlacesRow.held + ZonePlacesRow.sold + count <= capacity
    return _changed(session, where, fits, held=count)


def sell(session: Session, where: ZoneDays, count: int, *, capacity: int) -> bool:
    """Sell places; False where the zone has too few left on one of the days."""
    _create_rows(session, where)
    fits = ZonePlacesRow.held + ZonePlacesRow.sold + count <= capacity
    return _changed(session, where, fits, sold=count)


def release(session: Session, where: ZoneDays, count: int) -> bool:
    """Free held places; False where fewer were held."""
    return _changed(session, where, ZonePlacesRow.held >= count, held=-count)


def sell_held(session: Session, event: EventKey, zone: int, count: int) -> bool:
    """Sell held places of an event of one day; False where fewer were held."""
    statement, values = asks_to_sell_held(event, zone, count)
    return bool(statement.rows(session, **values))


def asks_to_sell_held(event: EventKey, zone: int, count: int) -> Question:
    """What `sell_held` asks."""
    key = {"organisation": event.organisation_id, "event": event.event_id, "zone": zone}
    return _SELL_HELD, {**key, "count": count}


def _selling_held(_embedded: bool) -> Executable:
    row, count = ZonePlacesRow, placeholder("count", Integer())
    here = row.organisation_id == placeholder("organisation"), row.event_id == placeholder("event")
    on_day = row.zone == placeholder("zone"), row.day == FIRST_DAY, row.held >= count
    return update(row).where(*here, *on_day).values(held=row.held - count, sold=row.sold + count).returning(row.day)


_SELL_HELD: Final = PreparedChange(_selling_held)


def free_sold(session: Session, where: ZoneDays, count: int) -> bool:
    """Free sold places; False where fewer were sold."""
    return _changed(session, where, ZonePlacesRow.sold >= count, sold=-count)


def _at_event(organisation_id: str, event_id: str) -> tuple[ColumnElement[bool], ...]:
    return ZonePlacesRow.organisation_id == organisation_id, ZonePlacesRow.event_id == event_id


def _create_rows(session: Session, where: ZoneDays) -> None:
    dialect = sqlite if database_of(session).embedded else postgresql
    session.execute(dialect.insert(ZonePlacesRow).values(where.rows()).on_conflict_do_nothing())


def _changed(session: Session, where: ZoneDays, condition: Any, *, held: int = 0, sold: int = 0) -> bool:
    """Change the counts of every day, or of none."""
    row = ZonePlacesRow
    change = update(row).where(*where.here(), condition).values(held=row.held + held, sold=row.sold + sold)
    done = session.execute(change.returning(row.day).execution_options(synchronize_session=False)).scalars().all()
    if len(done) == len(where.days.numbers):
        return True
    if done:
        back = update(row).where(*where.here(), row.day.in_(done))
        back = back.values(held=row.held - held, sold=row.sold - sold)
        session.execute(back.execution_options(synchronize_session=False))
    return False


def locked(session: Session, organisation_id: str, event_id: str, zone: int) -> None:
    """Lock the counts of this zone until the transaction ends: on all days, in one order, so that nobody deadlocks."""
    session.execute(_of_zone(organisation_id, event_id, zone).with_for_update()).all()


def locked_free_of_others(session: Session, organisation_id: str, event_id: str, zone: int) -> bool:
    """Lock the counts of this zone; False where another transaction has any of them locked."""
    found = _of_zone(organisation_id, event_id, zone)
    locked = session.execute(found.with_for_update(skip_locked=True)).all()
    return len(locked) == len(session.execute(found).all())


def _of_zone(organisation_id: str, event_id: str, zone: int) -> Select[int]:
    row = ZonePlacesRow
    return select(row.day).where(*_at_event(organisation_id, event_id), row.zone == zone).order_by(row.day)


def overdue(session: Session, organisation_id: str, event_id: str, zone: int | None, now: Millis) -> Sequence[HoldRow]:
    """The holds of places that are overdue but still counted."""
    here: list[Any] = [
        HoldRow.organisation_id == organisation_id,
        HoldRow.event_id == event_id,
        OPEN_PLACES,
        HoldRow.held_until <= now,
    ]
    if zone is not None:
        here.append(HoldRow.zone == zone)
    return session.execute(select(HoldRow).where(*here).order_by(HoldRow.id)).scalars().all()


@dataclass(frozen=True, slots=True)
class PlacesOfDay:
    """Places held and sold on one day, by zone; overdue holds count as free."""

    held: Mapping[int, int]
    sold: Mapping[int, int]

    def taken(self) -> Counter[int]:
        """Held or sold, by zone."""
        return Counter(self.held) + Counter(self.sold)


def by_day(session: Session, organisation_id: str, event_id: str, now: Millis) -> dict[int, PlacesOfDay]:
    """Places held and sold on each day that has any."""
    row = ZonePlacesRow
    counted = select(row.zone, row.day, row.held, row.sold).where(*_at_event(organisation_id, event_id))
    held: dict[int, Counter[int]] = defaultdict(Counter)
    sold: dict[int, Counter[int]] = defaultdict(Counter)
    for zone, day, zone_held, zone_sold in session.execute(counted):
        held[day][zone], sold[day][zone] = zone_held, zone_sold
    for bits, zone, count in _overdue_counts(session, organisation_id, event_id, now) if held else ():
        for day in chosen_days.numbers(bits, max(held) + 1):
            held[day][zone] -= count
    return {day: PlacesOfDay(dict(+held[day]), dict(+sold[day])) for day in held}


def _overdue_counts(
    session: Session, organisation_id: str, event_id: str, now: Millis
) -> Iterable[tuple[int, int, int]]:
    here = (
        HoldRow.organisation_id == organisation_id,
        HoldRow.event_id == event_id,
        OPEN_PLACES,
        HoldRow.held_until <= now,
    )
    grouped = select(HoldRow.days, HoldRow.zone, func.sum(HoldRow.quantity)).where(*here)
    rows = session.execute(grouped.group_by(HoldRow.days, HoldRow.zone))
    return [(bits, zone, int(count)) for bits, zone, count in rows]


def on(found: Mapping[int, PlacesOfDay], days: int = EVERY_DAY) -> PlacesOfDay:
    """Of these days (as a bitmap) the counts of whichever is fullest, zone by zone: what is left on all of them."""
    held, sold = dict[int, int](), dict[int, int]()
    for day, counts in found.items():
        if days and not days >> day & 1:
            continue
        for zone in counts.held.keys() | counts.sold.keys():
            here = counts.held.get(zone, 0), counts.sold.get(zone, 0)
            if sum(here) > held.get(zone, 0) + sold.get(zone, 0):
                held[zone], sold[zone] = here
    return PlacesOfDay(held, sold)
