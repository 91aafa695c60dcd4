"""Stores the guest lists of an event's zones: who may book in zones that are not public."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import asdict, dataclass
from typing import Final, cast

from sqlalchemy import ColumnElement, CursorResult, delete, func, insert, select, tuple_
from sqlalchemy.orm import Session

from shared.clock import Millis
from shared.errors import Conflict, NotFound
from sync_server.events import service as event_service
from sync_server.outbox.service import Fact, Subject, record_change
from sync_server.plumbing.api.pagination import Page, decode_cursor, paginate
from sync_server.plumbing.requests.principals import ActionContext
from sync_server.plumbing.sealing import Sealer
from sync_server.plumbing.sql import writes
from sync_server.seating import queries
from sync_server.seating.file_formats.csv_lines import Line, lines
from sync_server.seating.layouts.mistakes import Mistakes
from sync_server.seating.models import ZoneGuestRecord
from sync_server.seating.zone_access.entitlements import GuestIdKind, GuestKey, guest_key

MAX_GUESTS: Final = 100_000
"""The most guests on one list."""
COLUMNS: Final = tuple(kind.value for kind in GuestIdKind)
_CHUNK: Final = 1_000


@dataclass(frozen=True, slots=True)
class ZoneList:
    """Identifies the guest list of a zone at an event."""

    organisation_id: str
    event_id: str
    zone_id: str


def read_csv(text: bytes, organisation_id: str, sealer: Sealer) -> list[GuestKey]:
    """The guests in a CSV file with the columns email, customer and code; InvalidRequest lists every mistake."""
    mistakes = Mistakes("list", "invalid_list")
    guests = [
        each for number, line in lines(text, COLUMNS, "", mistakes) for each in _guests_of_line(number, line, mistakes)
    ]
    if not guests:
        mistakes.add("line 2", "names no guest")
    mistakes.stop()
    return [guest_key(sealer, organisation_id, kind, value) for kind, value in guests]


def _guests_of_line(number: int, line: Line, mistakes: Mistakes) -> Iterator[tuple[GuestIdKind, str]]:
    for kind in GuestIdKind:
        value = line.get(kind, "")
        if problem := problem_of(kind, value) if value else "":
            mistakes.add(f"line {number}, {kind}", problem)
        elif value:
            yield kind, value


def problem_of(kind: GuestIdKind, value: str) -> str:
    """What is wrong with the identifier of a guest, or an empty string."""
    if kind is GuestIdKind.EMAIL and (value.count("@") != 1 or not all(value.split("@")) or len(value) > 254):
        return "is not an e-mail address"
    if kind is GuestIdKind.CUSTOMER and len(value) > 36:
        return "is not a customer id"
    if kind is GuestIdKind.CODE and not 6 <= len(value) <= 60:
        return "must have 6 to 60 characters"
    return ""


def add(session: Session, guest_list: ZoneList, guests: Collection[GuestKey], context: ActionContext) -> int:
    """Add guests to the list of a zone; returns how many are new. Conflict for a list that gets too long."""
    _lock(session, guest_list)
    present = _stored_keys(session, guest_list)
    new = {key for key in guests if key not in present}
    _require_room(len(present) + len(new))
    if new:
        columns = {**asdict(guest_list), "added_at": context.now}
        session.execute(
            insert(ZoneGuestRecord), [{**columns, "named": str(kind), "key": key} for kind, key in sorted(new)]
        )
    _record(session, guest_list, "zone_guests_added", len(new), context)
    return len(new)


def require_room(session: Session, guest_list: ZoneList, guests: Collection[GuestKey]) -> None:
    """Conflict for a list that gets too long with these guests, NotFound for one that does not exist."""
    _require_zone(session, guest_list)
    present = _stored_keys(session, guest_list)
    _require_room(len(present.union(guests)))


def add_piece(session: Session, guest_list: ZoneList, guests: Collection[GuestKey], import_id: str, now: Millis) -> int:
    """Add some of the guests of an import; returns how many are new. `finish_import` records them together."""
    _lock(session, guest_list)
    columns = {**asdict(guest_list), "added_at": now, "import_id": import_id}
    rows = [{**columns, "named": str(kind), "key": key} for kind, key in sorted(guests)]
    new = writes.insert(session, ZoneGuestRecord).on_conflict_do_nothing().returning(ZoneGuestRecord.key)
    return len(session.execute(new, rows).all())


def finish_import(session: Session, guest_list: ZoneList, count: int, context: ActionContext) -> None:
    """Record what an import has added; Conflict if others have made the list too long meanwhile."""
    _lock(session, guest_list)
    counted = select(func.count()).select_from(ZoneGuestRecord).where(*_of_list(guest_list))
    _require_room(session.execute(counted).scalar_one())
    _record(session, guest_list, "zone_guests_added", count, context)


def take_back(session: Session, guest_list: ZoneList, guests: Collection[GuestKey], import_id: str) -> None:
    """Remove those of these guests whom an import has added."""
    these = tuple_(ZoneGuestRecord.named, ZoneGuestRecord.key).in_([(str(kind), key) for kind, key in guests])
    gone = delete(ZoneGuestRecord).where(*_of_list(guest_list), these, ZoneGuestRecord.import_id == import_id)
    session.execute(gone, execution_options={"synchronize_session": False})


def remove(session: Session, guest_list: ZoneList, guests: Collection[GuestKey], context: ActionContext) -> int:
    """Remove guests from the list; returns how many were on it. Their tickets stay valid."""
    _lock(session, guest_list)
    of_list = list(_of_list(guest_list))
    removed, keys = 0, sorted((str(kind), key) for kind, key in guests)
    for start in range(0, len(keys), _CHUNK):
        some = tuple_(ZoneGuestRecord.named, ZoneGuestRecord.key).in_(keys[start : start + _CHUNK])
        removed += cast("CursorResult[object]", session.execute(delete(ZoneGuestRecord).where(*of_list, some))).rowcount
    _record(session, guest_list, "zone_guests_removed", removed, context)
    return removed


def remove_everywhere(
    session: Session, organisation_id: str, guests: Collection[GuestKey], context: ActionContext
) -> int:
    """Remove guests from every list of the organisation, those of events that are over among them."""
    row, keys = ZoneGuestRecord, [(str(kind), key) for kind, key in guests]
    listed = tuple_(row.named, row.key).in_(keys)
    gone = delete(row).where(row.organisation_id == organisation_id, listed).returning(row.event_id, row.zone_id)
    lists = session.execute(gone, execution_options={"synchronize_session": False}).all()
    for event_id, zone_id in sorted({(event_id, zone_id) for event_id, zone_id in lists}):
        _record(session, ZoneList(organisation_id, event_id, zone_id), "zone_guests_removed", len(keys), context)
    return len(lists)


def guests(session: Session, guest_list: ZoneList, *, limit: int, after: str | None) -> Page[ZoneGuestRecord]:
    """A page of the guest list of a zone."""
    _require_zone(session, guest_list)
    order = ZoneGuestRecord.named, ZoneGuestRecord.key
    wanted = select(ZoneGuestRecord).where(*_of_list(guest_list)).order_by(*order)
    start = decode_cursor(after, str, str)
    if start is not None:
        wanted = wanted.where(tuple_(*order) > tuple_(*start))
    return paginate(session.execute(wanted.limit(limit + 1)).scalars().all(), limit, lambda row: (row.named, row.key))


def _of_list(guest_list: ZoneList) -> Iterator[ColumnElement[bool]]:
    return (getattr(ZoneGuestRecord, name) == value for name, value in asdict(guest_list).items())


def _stored_keys(session: Session, guest_list: ZoneList) -> set[GuestKey]:
    rows = session.execute(select(ZoneGuestRecord.named, ZoneGuestRecord.key).where(*_of_list(guest_list)))
    return {(GuestIdKind(kind), key) for kind, key in rows}


def _require_room(count: int) -> None:
    if count > MAX_GUESTS:
        raise Conflict(f"The list would have more than {MAX_GUESTS} guests.", code="list_too_long")


def _lock(session: Session, guest_list: ZoneList) -> None:
    event_service.lock_event(session, guest_list.organisation_id, guest_list.event_id)
    _require_zone(session, guest_list)


def _require_zone(session: Session, guest_list: ZoneList) -> None:
    row = queries.event_layout(session, guest_list.organisation_id, guest_list.event_id)
    if guest_list.zone_id not in {zone.id for zone in queries.zones(session, row.organisation_id, row.layout_id)}:
        raise NotFound("The event's layout has no such zone.", code="zone_not_found")


def _record(session: Session, guest_list: ZoneList, what: str, count: int, context: ActionContext) -> None:
    """Records counts only: who is on a list is private to the organiser."""
    after = {"zone": guest_list.zone_id, "guests": count}
    where, event_id = guest_list.organisation_id, guest_list.event_id
    fact = Fact(what, where, context.now, {"event": event_id}, after)
    record_change(session, context, Subject("event", event_id, None, after), fact)
