"""Reads of events, zones and gates; a foreign id answers as one that does not exist."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from sqlalchemy import ColumnElement, and_, func, or_, select
from sqlalchemy.orm import Session

from shared.clock import Millis
from shared.errors import NotFound
from shared.lifecycle import ALLOWS, EventStatus
from shared.snapshot import GateRow
from sync_server.events.models import EventRecord, GateZonesRecord, ZoneRecord
from sync_server.events.rows import days
from sync_server.plumbing.pages import Page, cut, position
from sync_server.venues import queries as venues

SHOWN: Final = tuple(status.value for status in EventStatus if ALLOWS[status].show)


def takes_place_at() -> ColumnElement[Millis]:
    """When an event takes place: on its new date, where there is one.

    What is shown is put in this order and not by `start_at`: else a database takes the index of that column for the
    order, and reads every evening of a house's past before it finds one to come.
    """
    return func.coalesce(EventRecord.rescheduled_at, EventRecord.start_at)


@dataclass(frozen=True, slots=True)
class EventFilter:
    """Which events to list."""

    statuses: tuple[str, ...] = ()  # none: all but the archived
    archived: bool = False  # those too
    venue_id: str | None = None
    slug: str | None = None
    recurrence_group_id: str | None = None
    upcoming_from: Millis | None = None


def event(session: Session, organisation_id: str, event_id: str, *, lock: bool = False) -> EventRecord:
    """That event of this organisation, or NotFound."""
    wanted = select(EventRecord).where(EventRecord.id == event_id, EventRecord.organisation_id == organisation_id)
    if lock:
        wanted = wanted.with_for_update(key_share=True).execution_options(populate_existing=True)
    row = session.execute(wanted).scalar_one_or_none()
    if row is None:
        raise NotFound("There is no such event.", code="event_not_found")
    return row


def events(
    session: Session, organisation_id: str, chosen: EventFilter, *, limit: int, after: str | None
) -> Page[EventRecord]:
    """The organisation's events by their start; those to come by the date on which they take place."""
    wanted = select(EventRecord).where(EventRecord.organisation_id == organisation_id, *_conditions(chosen))
    begins = EventRecord.start_at if chosen.upcoming_from is None else takes_place_at()
    start = position(after, int, str)
    if start is not None:
        at, id = start
        wanted = wanted.where(or_(begins > at, and_(begins == at, EventRecord.id > id)))
    ordered = wanted.add_columns(begins).order_by(begins, EventRecord.id).limit(limit + 1)
    page = cut(session.execute(ordered).all(), limit, lambda found: (found[1], found[0].id))
    return Page([row for row, _ in page.items], page.next)


def owned(
    session: Session, organisation_id: str, owner_id: str, chosen: EventFilter, *, limit: int, after: str | None
) -> Page[EventRecord]:
    """The events that somebody answers for, newest first."""
    mine = EventRecord.organisation_id == organisation_id, EventRecord.owner_id == owner_id
    wanted = select(EventRecord).where(*mine, *_conditions(chosen))
    start = position(after, int, str)
    if start is not None:
        at, id = start
        older = and_(EventRecord.created_at == at, EventRecord.id < id)
        wanted = wanted.where(or_(EventRecord.created_at < at, older))
    ordered = wanted.order_by(EventRecord.created_at.desc(), EventRecord.id.desc()).limit(limit + 1)
    return cut(session.execute(ordered).scalars().all(), limit, lambda row: (row.created_at, row.id))


def _conditions(chosen: EventFilter) -> list[ColumnElement[bool]]:
    wanted = (
        (EventRecord.venue_id, chosen.venue_id),
        (EventRecord.slug, chosen.slug),
        (EventRecord.recurrence_group_id, chosen.recurrence_group_id),
    )
    conditions = [column == value for column, value in wanted if value is not None]
    if chosen.statuses:
        conditions.append(EventRecord.status.in_(chosen.statuses))
    elif not chosen.archived:
        conditions.append(EventRecord.status != EventStatus.ARCHIVED.value)
    if chosen.upcoming_from is not None:
        conditions += [EventRecord.status.in_(SHOWN), takes_place_at() >= chosen.upcoming_from]
    return conditions


def active_events(session: Session, organisation_id: str) -> Sequence[EventRecord]:
    """The events that gates may still hold: all but the archived."""
    mine = EventRecord.organisation_id == organisation_id, EventRecord.status != EventStatus.ARCHIVED.value
    return session.execute(select(EventRecord).where(*mine).order_by(EventRecord.number)).scalars().all()


def events_at(session: Session, venue_id: str) -> Sequence[EventRecord]:
    """The events of a venue that gates may still hold."""
    here = EventRecord.venue_id == venue_id, EventRecord.status != EventStatus.ARCHIVED.value
    return session.execute(select(EventRecord).where(*here).order_by(EventRecord.number)).scalars().all()


def count_at(session: Session, venue_id: str) -> int:
    """How many events there are at a venue, past and to come."""
    return session.execute(select(func.count()).where(EventRecord.venue_id == venue_id)).scalar_one()


def count_replaced_by(session: Session, event_id: str) -> int:
    """How many events say that this one takes place instead of them."""
    return session.execute(select(func.count()).where(EventRecord.replaced_by_event_id == event_id)).scalar_one()


@dataclass(frozen=True, slots=True)
class Series:
    """Evenings that belong together."""

    id: str
    name: str
    events: int
    first: Millis
    last: Millis


def all_series(session: Session, organisation_id: str) -> list[Series]:
    """The organisation's series by their first evening, under the name of that one; what is laid by counts no more."""
    here = EventRecord.organisation_id == organisation_id, EventRecord.status != EventStatus.ARCHIVED.value
    group, start = EventRecord.recurrence_group_id, EventRecord.start_at
    ordered = select(group, EventRecord.name, start).where(*here, group.is_not(None)).order_by(start, EventRecord.id)
    found: dict[str, list[tuple[str, Millis]]] = {}
    for id, name, at in session.execute(ordered):
        found.setdefault(str(id), []).append((name, at))
    return [Series(id, each[0][0], len(each), each[0][1], each[-1][1]) for id, each in found.items()]


def planned(session: Session, now: Millis) -> Sequence[EventRecord]:
    """Events whose planned transition is due."""
    opens = EventRecord.status == "published", EventRecord.go_live_at <= now
    opens_on_new_date = (
        EventRecord.status == "postponed",
        EventRecord.rescheduled_at.is_not(None),
        EventRecord.go_live_at <= now,
    )
    ends = EventRecord.status == "live", EventRecord.end_at_auto <= now
    any_of = or_(and_(*opens), and_(*opens_on_new_date), and_(*ends))  # each finds its way by an index of its own
    due = select(EventRecord).where(any_of).order_by(EventRecord.id).limit(100)
    return session.execute(due.with_for_update(skip_locked=True)).scalars().all()


def slug_taken(session: Session, organisation_id: str, slug: str) -> bool:
    """Whether another event of this organisation has that slug."""
    there = EventRecord.organisation_id == organisation_id, EventRecord.slug == slug
    return session.execute(select(EventRecord.id).where(*there)).first() is not None


def code_taken(session: Session, organisation_id: str, code: str) -> bool:
    """Whether another event of this organisation has that code."""
    there = EventRecord.organisation_id == organisation_id, EventRecord.code == code
    return session.execute(select(EventRecord.id).where(*there)).first() is not None


def number_taken(session: Session, number: int) -> bool:
    """Whether an event of the installation has that number."""
    return session.execute(select(EventRecord.id).where(EventRecord.number == number)).first() is not None


def zones(session: Session, event_id: str) -> Sequence[ZoneRecord]:
    """The zones of an event that was looked up before."""
    here = select(ZoneRecord).where(ZoneRecord.event_id == event_id).order_by(ZoneRecord.number)
    return session.execute(here).scalars().all()


def zone(session: Session, event_id: str, number: int) -> ZoneRecord:
    """One zone of an event that was looked up before, or NotFound."""
    row = session.get(ZoneRecord, (event_id, number))
    if row is None:
        raise NotFound(f"The event has no zone {number}.", code="zone_not_found")
    return row


def zones_served(session: Session, event_id: str) -> dict[int, list[int]]:
    """By gate number, which zones it serves, where that is said."""
    said = session.execute(select(GateZonesRecord).where(GateZonesRecord.event_id == event_id)).scalars()
    return {row.gate_number: list(row.zones) for row in said}


def gate_rows(session: Session, event: EventRecord) -> list[GateRow]:
    """The entrances of an event, as gates hold them."""
    return venues.gate_rows(session, event.venue_id, zones_served(session, event.id))


@dataclass(frozen=True, slots=True)
class EventFacts:
    """What other rooms may know of an event."""

    id: str
    organisation_id: str
    venue_id: str
    number: int
    code: str
    name: str
    status: EventStatus
    start_at: Millis
    end_at: Millis
    timezone: str
    name_checks: bool
    zones: tuple[int, ...]
    gates: tuple[int, ...]
    days: int


def facts(session: Session, organisation_id: str, event_id: str) -> EventFacts:
    """What other rooms may know of that event of this organisation, or NotFound."""
    return _facts(session, event(session, organisation_id, event_id))


def facts_by_number(session: Session, number: int) -> EventFacts | None:
    """The same by the number in ticket codes, of any organisation: the caller checks whose it is."""
    row = session.execute(select(EventRecord).where(EventRecord.number == number)).scalar_one_or_none()
    return None if row is None else _facts(session, row)


def _facts(session: Session, row: EventRecord) -> EventFacts:
    return EventFacts(
        id=row.id,
        organisation_id=row.organisation_id,
        venue_id=row.venue_id,
        number=row.number,
        code=row.code,
        name=row.name,
        status=EventStatus(row.status),
        start_at=row.start_at,
        end_at=row.end_at,
        timezone=row.timezone,
        name_checks=row.name_checks,
        zones=tuple(zone.number for zone in zones(session, row.id)),
        gates=tuple(gate.number for gate in gate_rows(session, row)),
        days=len(days(row)),
    )
