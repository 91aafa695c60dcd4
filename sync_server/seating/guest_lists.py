"""Keeps the lists of guests of an event's zones: who may sit where not everybody may."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import asdict, dataclass
from typing import Final, cast

from sqlalchemy import ColumnElement, CursorResult, delete, insert, select, tuple_
from sqlalchemy.orm import Session

from shared.errors import Conflict, NotFound
from sync_server.audit.service import AuditLine, record
from sync_server.events import service as event_service
from sync_server.outbox.service import Fact
from sync_server.outbox.service import record as record_fact
from sync_server.plumbing.pages import Page, cut, position
from sync_server.plumbing.principals import Deed
from sync_server.plumbing.sealing import Sealer
from sync_server.seating import queries
from sync_server.seating.access import Name, Named, name
from sync_server.seating.csv_lines import Line, lines
from sync_server.seating.mistakes import Mistakes
from sync_server.seating.models import ZoneGuestRecord

LONGEST: Final = 100_000
"""No list is longer."""
COLUMNS: Final = tuple(named.value for named in Named)
_CHUNK: Final = 1_000


@dataclass(frozen=True, slots=True)
class ListOf:
    """Which list: of a zone, at an event, of an organisation."""

    organisation_id: str
    event_id: str
    zone_id: str


def read(text: bytes, organisation_id: str, sealer: Sealer) -> list[Name]:
    """The guests of a CSV file with the columns email, customer and code; InvalidRequest with every mistake."""
    mistakes = Mistakes("list", "invalid_list")
    found = [each for number, line in lines(text, COLUMNS, "", mistakes) for each in _guest(number, line, mistakes)]
    if not found:
        mistakes.add("line 2", "names nobody")
    mistakes.stop()
    return [name(sealer, organisation_id, named, words) for named, words in found]


def _guest(number: int, line: Line, mistakes: Mistakes) -> Iterator[tuple[Named, str]]:
    for named in Named:
        words = line.get(named, "")
        if problem := problem_of(named, words) if words else "":
            mistakes.add(f"line {number}, {named}", problem)
        elif words:
            yield named, words


def problem_of(named: Named, words: str) -> str:
    """What is wrong with a guest's name; \"\": nothing."""
    if named is Named.EMAIL and (words.count("@") != 1 or not all(words.split("@")) or len(words) > 254):
        return "is no e-mail address"
    if named is Named.CUSTOMER and len(words) > 36:
        return "is no customer's id"
    if named is Named.CODE and not 6 <= len(words) <= 60:
        return "an invitation code has 6 to 60 characters"
    return ""


def add(session: Session, where: ListOf, guests: Collection[Name], deed: Deed) -> int:
    """Put guests on the list of a zone; how many were not on it before. Conflict for a list that grows too long."""
    _lock(session, where)
    present = _present(session, where)
    new = {each for each in guests if each not in present}
    if len(present) + len(new) > LONGEST:
        raise Conflict(f"The list would have more than {LONGEST} guests.", code="list_too_long")
    if new:
        whose = {**asdict(where), "added_at": deed.now}
        session.execute(
            insert(ZoneGuestRecord), [{**whose, "named": str(named), "key": key} for named, key in sorted(new)]
        )
    _tell(session, where, "zone_guests_added", len(new), deed)
    return len(new)


def remove(session: Session, where: ListOf, guests: Collection[Name], deed: Deed) -> int:
    """Take guests off the list; how many were on it. Tickets that they have stay good."""
    _lock(session, where)
    here = _on(where)
    gone, wanted = 0, sorted((str(named), key) for named, key in guests)
    for start in range(0, len(wanted), _CHUNK):
        some = tuple_(ZoneGuestRecord.named, ZoneGuestRecord.key).in_(wanted[start : start + _CHUNK])
        gone += cast("CursorResult[object]", session.execute(delete(ZoneGuestRecord).where(*here, some))).rowcount
    _tell(session, where, "zone_guests_removed", gone, deed)
    return gone


def guests(session: Session, where: ListOf, *, limit: int, after: str | None) -> Page[ZoneGuestRecord]:
    """The list of a zone."""
    _require_zone(session, where)
    order = ZoneGuestRecord.named, ZoneGuestRecord.key
    wanted = select(ZoneGuestRecord).where(*_on(where)).order_by(*order)
    start = position(after, str, str)
    if start is not None:
        wanted = wanted.where(tuple_(*order) > tuple_(*start))
    return cut(session.execute(wanted.limit(limit + 1)).scalars().all(), limit, lambda row: (row.named, row.key))


def _on(where: ListOf) -> tuple[ColumnElement[bool], ...]:
    return ZoneGuestRecord.event_id == where.event_id, ZoneGuestRecord.zone_id == where.zone_id


def _present(session: Session, where: ListOf) -> set[Name]:
    rows = session.execute(select(ZoneGuestRecord.named, ZoneGuestRecord.key).where(*_on(where)))
    return {(Named(named), key) for named, key in rows}


def _lock(session: Session, where: ListOf) -> None:
    event_service.lock(session, where.organisation_id, where.event_id)
    _require_zone(session, where)


def _require_zone(session: Session, where: ListOf) -> None:
    row = queries.event_layout(session, where.organisation_id, where.event_id)
    if where.zone_id not in {zone.id for zone in queries.zones(session, row.layout_id)}:
        raise NotFound("The event's layout has no such zone.", code="zone_not_found")


def _tell(session: Session, where: ListOf, what: str, count: int, deed: Deed) -> None:
    """Numbers only: who is on a list is nobody's business but the organiser's."""
    after = {"zone": where.zone_id, "guests": count}
    record(session, AuditLine(deed.actor, what, "event", where.event_id, where.organisation_id, deed.now, None, after))
    record_fact(session, Fact(what, where.organisation_id, deed.now, {"event": where.event_id}, after))
