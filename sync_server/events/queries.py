"""Reads of events, zones and gates; an id of another organisation counts as unknown."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import ColumnElement, Select, func, or_, select
from sqlalchemy.orm import Session

from shared.clock import Millis
from shared.errors import NotFound
from shared.lifecycle import ALLOWS, OVER, EventStatus
from shared.wire.snapshot import GateRow
from sync_server.events import locked_events, rules
from sync_server.events.models import BY_NOT_ENDED, NOT_ENDED, EventRecord, GateZonesRecord, ZoneRecord
from sync_server.events.snapshot_rows import days
from sync_server.plumbing.api.pagination import AnId, Page, decode_cursor, paginate
from sync_server.plumbing.event_key import EventKey
from sync_server.plumbing.language.folding import fold
from sync_server.venues import queries as venues

Event = EventRecord
"""An event row, as other domains may use it within their transaction."""
VISIBLE_STATUSES: Final = tuple(status.value for status in EventStatus if ALLOWS[status].show)


def takes_place_at() -> ColumnElement[Millis]:
    """When an event takes place, on its new date if it has one.

    Public lists are ordered by this and not by `start_at`: otherwise a database would use the index on that column for
    the order, and read every past event of a venue before the first one to come.
    """
    return func.coalesce(EventRecord.rescheduled_at, EventRecord.start_at)


@dataclass(frozen=True, slots=True)
class EventFilter:
    """Which events to list."""

    statuses: tuple[str, ...] = ()  # empty: all but the archived
    archived: bool = False  # include the archived
    venue_id: str | None = None
    slug: str | None = None
    recurrence_group_id: str | None = None
    upcoming_from: Millis | None = None
    starts_from: Millis | None = None
    starts_before: Millis | None = None
    search: str = ""  # in name, venue, city and category
    newest_first: bool = False


def event(session: Session, organisation_id: str, event_id: str, *, lock: bool = False) -> EventRecord:
    """That event of this organisation, or NotFound."""
    key, locked = (organisation_id, event_id), locked_events.of(session)
    if not lock:
        return locked.get(key) or _found(session, locked_events.one(*key))
    locked[key] = _found(session, locked_events.one(*key).with_for_update(key_share=True), fresh=True)
    return locked[key]


def event_alone(session: Session, organisation_id: str, event_id: str) -> EventRecord:
    """That event, locked against everybody, those who only read its number among them; or NotFound."""
    return _found(session, locked_events.one(organisation_id, event_id).with_for_update(), fresh=True)


def _found(session: Session, statement: Select[EventRecord], *, fresh: bool = False) -> EventRecord:
    row = session.execute(statement.execution_options(populate_existing=fresh)).scalar_one_or_none()
    if row is None:
        raise NotFound("There is no such event.", code="event_not_found")
    return row


def events(
    session: Session, organisation_id: str, filters: EventFilter, *, limit: int, after: str | None
) -> Page[EventRecord]:
    """A page of the organisation's events by start; upcoming ones by the date on which they take place."""
    statement = select(EventRecord).where(EventRecord.organisation_id == organisation_id, *_conditions(filters))
    order = EventRecord.start_at if filters.upcoming_from is None else takes_place_at()
    start = decode_cursor(after, int, AnId)
    backwards = filters.newest_first
    if start is not None:
        at, id = start
        # The first condition is for the index: without it every page would read those before it.
        later = (order <= at, or_(order < at, EventRecord.id < id)) if backwards else None
        statement = statement.where(*(later or (order >= at, or_(order > at, EventRecord.id > id))))
    by = (order.desc(), EventRecord.id.desc()) if backwards else (order, EventRecord.id)
    ordered = statement.add_columns(order).order_by(*by).limit(limit + 1)
    if filters.statuses and OVER.isdisjoint(filters.statuses):  # else SQLite would read all that is over first
        ordered = ordered.where(NOT_ENDED).with_hint(EventRecord, BY_NOT_ENDED, "sqlite")
    page = paginate(session.execute(ordered).all(), limit, lambda found: (found[1], found[0].id))
    return Page([row for row, _ in page.items], page.next)


def events_of_owner(
    session: Session, organisation_id: str, owner_id: str, filters: EventFilter, *, limit: int, after: str | None
) -> Page[EventRecord]:
    """A page of the events that somebody owns, newest first."""
    conditions = EventRecord.organisation_id == organisation_id, EventRecord.owner_id == owner_id
    statement = select(EventRecord).where(*conditions, *_conditions(filters))
    start = decode_cursor(after, int, AnId)
    if start is not None:
        at, id = start
        statement = statement.where(EventRecord.created_at <= at, or_(EventRecord.created_at < at, EventRecord.id < id))
    statement = statement.order_by(EventRecord.created_at.desc(), EventRecord.id.desc()).limit(limit + 1)
    return paginate(session.execute(statement).scalars().all(), limit, lambda row: (row.created_at, row.id))


def _conditions(filters: EventFilter) -> list[ColumnElement[bool]]:
    equalities = (
        (EventRecord.venue_id, filters.venue_id),
        (EventRecord.slug, filters.slug),
        (EventRecord.recurrence_group_id, filters.recurrence_group_id),
    )
    conditions = [column == value for column, value in equalities if value is not None]
    if filters.statuses:
        conditions.append(EventRecord.status.in_(filters.statuses))
    elif not filters.archived:
        conditions.append(EventRecord.status != EventStatus.ARCHIVED.value)
    if filters.upcoming_from is not None:
        conditions += [EventRecord.status.in_(VISIBLE_STATUSES), takes_place_at() >= filters.upcoming_from]
    if filters.starts_from is not None:
        conditions.append(EventRecord.start_at >= filters.starts_from)
    if filters.starts_before is not None:
        conditions.append(EventRecord.start_at < filters.starts_before)
    if filters.search:
        conditions.append(EventRecord.search_text.contains(fold(filters.search), autoescape=True))
    return conditions


def unarchived_events(session: Session, organisation_id: str) -> Sequence[EventRecord]:
    """All events of an organisation but the archived, whose snapshots gates no longer need."""
    conditions = EventRecord.organisation_id == organisation_id, EventRecord.status != EventStatus.ARCHIVED.value
    return session.execute(select(EventRecord).where(*conditions).order_by(EventRecord.number)).scalars().all()


def ids_to_come(organisation_id: str) -> Select[str]:
    """The ids of the events of an organisation that are not over."""
    coming = EventRecord.organisation_id == organisation_id, NOT_ENDED, EventRecord.status.not_in(OVER)
    return select(EventRecord.id).where(*coming)


def keys_in_tables(session: Session, after: EventKey, limit: int) -> list[EventKey]:
    """The next events after this one, of all organisations, that are not put away."""
    owner, id = EventRecord.organisation_id, EventRecord.id
    later = owner >= after.organisation_id, or_(owner > after.organisation_id, id > after.event_id)
    wanted = select(owner, id).where(*later, EventRecord.put_away_at.is_(None)).order_by(owner, id)
    return [EventKey(*row) for row in session.execute(wanted.limit(limit))]


def assignable_events(
    session: Session, organisation_id: str, assigned: Collection[str], limit: int
) -> Sequence[EventRecord]:
    """The next events of an organisation that are not over, and those of `assigned` that are not archived, by number.

    So the list is no longer than there is work for gates, however many events are over.
    """
    mine = EventRecord.organisation_id == organisation_id
    coming = select(EventRecord.id).where(mine, NOT_ENDED, EventRecord.status.not_in(OVER))
    soonest = coming.order_by(EventRecord.start_at).with_hint(EventRecord, BY_NOT_ENDED, "sqlite")
    chosen = {*session.scalars(soonest.limit(limit)), *assigned}
    unarchived = EventRecord.status != EventStatus.ARCHIVED.value
    wanted = select(EventRecord).where(mine, EventRecord.id.in_(chosen), unarchived).order_by(EventRecord.number)
    return session.execute(wanted).scalars().all()


def names(session: Session, organisation_id: str, numbers: Collection[int]) -> dict[int, str]:
    """The names of these events, by number; archived events and other numbers are omitted."""
    if not numbers:
        return {}
    here = EventRecord.organisation_id == organisation_id, EventRecord.number.in_(numbers)
    unarchived = EventRecord.status != EventStatus.ARCHIVED.value
    return dict(session.execute(select(EventRecord.number, EventRecord.name).where(*here, unarchived)).all())


def names_by_id(session: Session, organisation_id: str, event_ids: Collection[str]) -> dict[str, str]:
    """The names of these events, by id."""
    here = EventRecord.organisation_id == organisation_id, EventRecord.id.in_(sorted(event_ids))
    return dict(session.execute(select(EventRecord.id, EventRecord.name).where(*here)).all()) if event_ids else {}


def unarchived_events_at(session: Session, organisation_id: str, venue_id: str) -> Sequence[EventRecord]:
    """All events at a venue but the archived."""
    here = EventRecord.organisation_id == organisation_id, EventRecord.venue_id == venue_id
    unarchived = EventRecord.status != EventStatus.ARCHIVED.value
    return session.execute(select(EventRecord).where(*here, unarchived).order_by(EventRecord.number)).scalars().all()


def count_at_venue(session: Session, organisation_id: str, venue_id: str) -> int:
    """How many events there are at a venue, past and future."""
    here = EventRecord.organisation_id == organisation_id, EventRecord.venue_id == venue_id
    return session.execute(select(func.count()).where(*here)).scalar_one()


def count_replaced_by(session: Session, organisation_id: str, event_id: str) -> int:
    """How many events name this one as their replacement."""
    replaced = EventRecord.organisation_id == organisation_id, EventRecord.replaced_by_event_id == event_id
    return session.execute(select(func.count()).where(*replaced)).scalar_one()


def slug_taken(session: Session, organisation_id: str, slug: str) -> bool:
    """Whether an event of this organisation has that slug."""
    return id_of_slug(session, organisation_id, slug) is not None


def code_taken(session: Session, organisation_id: str, code: str) -> bool:
    """Whether an event of this organisation has that code."""
    taken = EventRecord.organisation_id == organisation_id, EventRecord.code == code
    return session.execute(select(EventRecord.id).where(*taken)).first() is not None


def id_of_slug(session: Session, organisation_id: str, slug: str) -> str | None:
    """The id of the organisation's event with that slug."""
    named = EventRecord.organisation_id == organisation_id, EventRecord.slug == slug
    return session.execute(select(EventRecord.id).where(*named)).scalar_one_or_none()


def number_taken(session: Session, number: int) -> bool:
    """Whether an event of the installation has that number."""
    return session.execute(select(EventRecord.id).where(EventRecord.number == number)).first() is not None


def zones(session: Session, organisation_id: str, event_id: str) -> Sequence[ZoneRecord]:
    """The zones of an event."""
    here = ZoneRecord.organisation_id == organisation_id, ZoneRecord.event_id == event_id
    return session.execute(select(ZoneRecord).where(*here).order_by(ZoneRecord.number)).scalars().all()


def zone(session: Session, organisation_id: str, event_id: str, number: int) -> ZoneRecord:
    """One zone of an event, or NotFound."""
    row = session.get(ZoneRecord, (organisation_id, event_id, number))
    if row is None:
        raise NotFound(f"The event has no zone {number}.", code="zone_not_found")
    return row


def zones_served(session: Session, organisation_id: str, event_id: str) -> dict[int, list[int]]:
    """The zones that each gate serves, by gate number, where that is restricted."""
    here = GateZonesRecord.organisation_id == organisation_id, GateZonesRecord.event_id == event_id
    rows = session.execute(select(GateZonesRecord).where(*here)).scalars()
    return {row.gate_number: list(row.zones) for row in rows}


def gate_rows(session: Session, event: EventRecord) -> list[GateRow]:
    """The snapshot rows of an event's entrances."""
    return gate_rows_of(session, event.organisation_id, [event])[event.id]


def gate_rows_of(session: Session, organisation_id: str, events: Sequence[EventRecord]) -> dict[str, list[GateRow]]:
    """The snapshot rows of the entrances of several events, by event: two statements, however many they are."""
    restricted = (
        GateZonesRecord.organisation_id == organisation_id,
        GateZonesRecord.event_id.in_([e.id for e in events]),
    )
    served = {
        (row.event_id, row.gate_number): row.zones
        for row in session.execute(select(GateZonesRecord).where(*restricted)).scalars()
    }
    gates = venues.gates_at(session, organisation_id, {event.venue_id for event in events})
    return {
        event.id: [venues.gate_row(gate, served.get((event.id, gate.number), ())) for gate in gates[event.venue_id]]
        for event in events
    }


def names_and_gates(
    session: Session, organisation_id: str, event_ids: Collection[str]
) -> dict[str, tuple[str, dict[int, str]]]:
    """The names of events that are not over, and the codes of their gates by number."""
    coming = EventRecord.id.in_(event_ids), EventRecord.status.not_in(OVER)
    columns = select(EventRecord.id, EventRecord.name, EventRecord.venue_id)
    found = session.execute(columns.where(EventRecord.organisation_id == organisation_id, *coming)).all()
    codes = venues.gate_codes(session, organisation_id, {venue_id for _, _, venue_id in found})
    return {event_id: (name, codes.get(venue_id, {})) for event_id, name, venue_id in found}


@dataclass(frozen=True, slots=True)
class EventHead:
    """What other domains may read of an event's own row."""

    id: str
    organisation_id: str
    venue_id: str
    number: int
    code: str
    name: str
    status: EventStatus
    rescheduled_at: Millis | None
    start_at: Millis
    end_at: Millis
    ends_at: Millis  # on its new date, if it has one
    timezone: str
    name_checks: bool
    days: int
    put_away_at: Millis | None
    cancelled_at: Millis | None
    room: int  # how many tickets it has for one day; 0: no limit

    @property
    def key(self) -> EventKey:
        """What names the event's rows."""
        return EventKey(self.organisation_id, self.id)


@dataclass(frozen=True, slots=True)
class EventDetails(EventHead):
    """What other domains may read of an event, its zones and gates included."""

    tickets_issued: int
    zones: tuple[int, ...]
    gates: tuple[int, ...]


def head(session: Session, organisation_id: str, event_id: str) -> EventHead:
    """What stands in the row of an event of this organisation, or NotFound."""
    return head_of(event(session, organisation_id, event_id))


def head_of(row: EventRecord) -> EventHead:
    """What stands in this row."""
    return EventHead(**_own(row))


def details(session: Session, organisation_id: str, event_id: str) -> EventDetails:
    """The details of an event of this organisation, or NotFound."""
    return _details(session, event(session, organisation_id, event_id))


def details_in_tables(session: Session, organisation_id: str, event_id: str) -> EventDetails:
    """The details of an event whose tickets and scans are in the tables; Conflict for one that is put away."""
    found = details(session, organisation_id, event_id)
    rules.require_in_tables(found.put_away_at)
    return found


def ids(session: Session, organisation_id: str, numbers: Collection[int]) -> dict[int, str]:
    """The ids of an organisation's events by number, as tickets and gates name them; other numbers are omitted."""
    if not numbers:
        return {}  # SQLite would read every event to find that none has no number
    here = EventRecord.organisation_id == organisation_id, EventRecord.number.in_(numbers)
    return dict(session.execute(select(EventRecord.number, EventRecord.id).where(*here)).all())


def open_and_put_away(
    session: Session, organisation_id: str, numbers: Collection[int]
) -> tuple[dict[int, str], frozenset[str]]:
    """The ids of an organisation's events by number, and which of them are put away.

    None of them is put away before this transaction ends: what it writes for an open event is in the archive.
    """
    here = EventRecord.organisation_id == organisation_id, EventRecord.number.in_(numbers)
    columns = select(EventRecord.number, EventRecord.id, EventRecord.put_away_at).where(*here)
    rows = session.execute(columns.order_by(EventRecord.id).with_for_update(read=True, key_share=True)).all()
    return {row.number: row.id for row in rows}, frozenset(row.id for row in rows if row.put_away_at is not None)


def numbers(session: Session, organisation_id: str, event_ids: Collection[str] | Select[str]) -> dict[str, int]:
    """The numbers of an organisation's events by id; the ids may be a query."""
    here = EventRecord.organisation_id == organisation_id, EventRecord.id.in_(event_ids)
    return dict(session.execute(select(EventRecord.id, EventRecord.number).where(*here)).all())


def marks(session: Session, organisation_id: str, event_ids: Collection[str]) -> dict[str, rules.Mark | None]:
    """What is said beside each of these events, by id, wherever something of several events is listed."""
    row = EventRecord
    here = row.organisation_id == organisation_id, row.id.in_(sorted(event_ids))
    columns = select(row.id, row.status, row.rescheduled_at, row.cancelled_at)
    return {found.id: rules.mark(found) for found in session.execute(columns.where(*here))} if event_ids else {}


def _details(session: Session, row: EventRecord) -> EventDetails:
    return EventDetails(
        **_own(row),
        tickets_issued=row.tickets_issued,
        zones=tuple(zone.number for zone in zones(session, row.organisation_id, row.id)),
        gates=tuple(gate.number for gate in gate_rows(session, row)),
    )


def _own(row: EventRecord) -> dict[str, Any]:
    return {
        "id": row.id,
        "organisation_id": row.organisation_id,
        "venue_id": row.venue_id,
        "number": row.number,
        "code": row.code,
        "name": row.name,
        "status": EventStatus(row.status),
        "rescheduled_at": row.rescheduled_at,
        "start_at": row.start_at,
        "end_at": row.end_at,
        "ends_at": row.end_at + (0 if row.rescheduled_at is None else row.rescheduled_at - row.start_at),
        "timezone": row.timezone,
        "name_checks": row.name_checks,
        "days": len(days(row)),
        "put_away_at": row.put_away_at,
        "cancelled_at": row.cancelled_at,
        "room": rules.effective_capacity(row.capacity, row.venue_capacity, row.layout_capacity),
    }
