"""Makes and changes events, their zones, and which zones a gate serves."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields
from typing import Any, Final

from sqlalchemy import func, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from shared.clock import Millis
from shared.errors import Conflict, InvalidRequest
from shared.ids import Entropy, uuid7
from shared.lifecycle import EventStatus
from shared.snapshot import AnyRow, Row
from sync_server.accounts import queries as accounts
from sync_server.accounts.service import lock_organisation
from sync_server.audit.service import AuditLine, record
from sync_server.events import queries, rules, telemetry
from sync_server.events.derived import DOUBLE, derive, refuse_double
from sync_server.events.models import EventRecord, GateZonesRecord, ZoneRecord
from sync_server.events.rows import own_rows, window, zone_row
from sync_server.outbox.service import Fact
from sync_server.outbox.service import record as record_fact
from sync_server.plumbing.database import announce, of
from sync_server.plumbing.principals import Deed
from sync_server.plumbing.slugs import code_of, slug_of
from sync_server.revisions import service as revisions
from sync_server.venues import queries as venues
from sync_server.venues.queries import Place
from sync_server.venues.rules import check_open

MINUTE_MS: Final = 60_000
_TIMES: Final = frozenset(field.name for field in fields(rules.Times))
_EVENING: Final = ("end_at", "doors_at", "go_live_at", "end_at_auto")
_SALES: Final = ("sale_start_at", "sale_end_at")
_TEXTS: Final = frozenset({"description", "category"})
_COUNTED: Final = (
    EventRecord.id,
    EventRecord.ticket_sequence,
    EventRecord.tickets_issued,
    EventRecord.capacity,
    EventRecord.venue_capacity,
    EventRecord.layout_room,
)

SOLD_OUT_OR_NOT: Final = "sold_out_or_not"
"""Announced with the event's id when its last ticket is counted, and when there is one again."""


def create_event(
    session: Session, organisation_id: str, words: Mapping[str, Any], deed: Deed, *, copied_from: str | None = None
) -> EventRecord:
    """A new draft at one of the organisation's venues, with everything that gates will hold of it."""
    lock_organisation(session, organisation_id)  # keys and supervisors must not change between reading and writing them
    venue = venues.venue(session, organisation_id, words["venue_id"], lock=True)
    check_open(venue.archived_at is not None)
    kept = as_kept(session, organisation_id, words)
    kept["owner_id"] = kept.get("owner_id") or deed.actor.id
    row = EventRecord(
        **{**kept, **_names(session, organisation_id, words), **place_of(venue)},
        id=uuid7(deed.now, deed.entropy),
        organisation_id=organisation_id,
        number=_number(session, deed.entropy),
        status=EventStatus.DRAFT.value,
        created_by=deed.actor.id,
        created_at=deed.now,
        updated_at=deed.now,
    )
    row.sale_end_at = row.start_at if row.sale_end_at is None else row.sale_end_at
    row.doors_at = _doors(row, venue.settings) if row.doors_at is None else row.doors_at
    rules.check_times(times_of(row))
    rules.check_future(row.start_at, deed.now)
    rules.check_capacity(row.capacity, 0, row.venue_capacity)
    derive(row)
    refuse_double(session, row)
    session.add(row)
    flush_or_say(session)
    _open(session, row, deed, {} if copied_from is None else {"copied_from": copied_from})
    return row


def place_of(venue: Place) -> dict[str, Any]:
    """What an event copies of its venue."""
    return {
        "venue_id": venue.id,
        "venue_name": venue.name,
        "timezone": venue.timezone,
        "city": venue.city,
        "country": venue.country,
        "address": venue.address,
        "venue_capacity": venue.max_capacity,
    }


def _doors(row: EventRecord, habits: Mapping[str, Any]) -> Millis | None:
    before = habits.get("doors_minutes_before")
    return None if before is None else row.start_at - before * MINUTE_MS


def _open(session: Session, row: EventRecord, deed: Deed, origin: dict[str, Any]) -> None:
    revisions.open_head(session, row.number)
    put(session, row, own_rows(row))
    put(session, row, queries.gate_rows(session, row))
    put(session, row, accounts.supervisor_rows(session, row.organisation_id))
    tell(
        session, row, "event_created", deed, after={"name": row.name, "slug": row.slug, "number": row.number, **origin}
    )
    announce(session, "event_created", (row.organisation_id, row.number), deed.now)


def change_event(
    session: Session,
    organisation_id: str,
    event_id: str,
    changes: Mapping[str, Any],
    deed: Deed,
    *,
    close_ms: int = rules.CLOSE_MS,
) -> EventRecord:
    """Other words, times or rules for an event; connected gates hear of it within a second.

    What is planned for the evening moves with its start; sale windows and ticket times do too, unless told otherwise.
    """
    row = queries.event(session, organisation_id, event_id, lock=True)
    rules.changed_status(EventStatus(row.status))
    wanted = as_kept(session, organisation_id, changes)
    sales_too, was_at = wanted.pop("move_times", True), times_of(row)
    distance = _take_along(row, wanted, deed.now, _EVENING + _SALES if sales_too else _EVENING)
    before = {name: getattr(row, name) for name in wanted}
    for name, value in wanted.items():
        setattr(row, name, value)
    rules.check_times(times_of(row))
    if "description" in wanted and row.status in queries.SHOWN:
        rules.check_described(row.description)
    if "capacity" in wanted:
        rules.check_capacity(row.capacity, row.tickets_issued, row.venue_capacity)
    row.updated_at = deed.now
    derive(row)
    refuse_double(session, row)
    flush_or_say(session)
    if distance and sales_too:
        announce(session, "event_times_moved", (row.organisation_id, row.id, distance), deed.now)
    put(session, row, own_rows(row))
    tell(session, row, "event_updated", deed, before=before, after=wanted)
    tell_if_late(session, row, was_at, deed, close_ms=close_ms)
    if before.get("name_checks", row.name_checks) != row.name_checks:
        announce(session, "name_checks_changed", (row.id, row.name_checks), deed.now)
    return row


def _take_along(row: EventRecord, wanted: dict[str, Any], now: Millis, names: Iterable[str]) -> int:
    """By how much the start moves; adds to what is wanted whatever moves with it and was not given itself."""
    distance: int = wanted.get("start_at", row.start_at) - row.start_at
    if distance:
        rules.check_moved(EventStatus(row.status), wanted["start_at"], now)
        along = {name: getattr(row, name) for name in names if name not in wanted}
        wanted |= rules.moved_along(along, distance)
    return distance


def tell_if_late(session: Session, row: EventRecord, was_at: rules.Times, deed: Deed, *, close_ms: int) -> None:
    """A fact of its own for times that change when people may be on their way already."""
    is_at = times_of(row)
    changed = [name for name in sorted(_TIMES) if getattr(was_at, name) != getattr(is_at, name)]
    starts = was_at.start_at, is_at.start_at
    if changed and rules.at_short_notice(EventStatus(row.status), starts, deed.now, close_ms):
        before, after = ({name: getattr(times, name) for name in changed} for times in (was_at, is_at))
        tell(session, row, "event_moved_at_short_notice", deed, before=before, after=after)


def as_kept(session: Session, organisation_id: str, words: Mapping[str, Any]) -> dict[str, Any]:
    """The words of a request as the table has them; InvalidRequest for an owner who is no member."""
    kept = {name: "" if value is None and name in _TEXTS else value for name, value in words.items()}
    owner = kept.get("owner_id")
    if owner and accounts.role_in(session, organisation_id, owner) is None:
        raise InvalidRequest("owner_id: nobody of your organisation has this id.", field="owner_id")
    return kept


def add_zone(session: Session, organisation_id: str, event_id: str, words: Mapping[str, Any], deed: Deed) -> ZoneRecord:
    """A new zone of the house at this event."""
    event = queries.event(session, organisation_id, event_id, lock=True)
    rules.changed_status(EventStatus(event.status))
    number = max((zone.number for zone in queries.zones(session, event_id)), default=0) + 1
    row = ZoneRecord(**words, event_id=event_id, number=number, organisation_id=organisation_id)
    session.add(row)
    _zone_flush(session)
    put(session, event, [zone_row(row)])
    tell(session, event, "event_zone_added", deed, after={"zone": number, **words})
    return row


def change_zone(
    session: Session, organisation_id: str, event_id: str, number: int, *, changes: Mapping[str, Any], deed: Deed
) -> ZoneRecord:
    """Other words or bounds for a zone."""
    event = queries.event(session, organisation_id, event_id, lock=True)
    rules.changed_status(EventStatus(event.status))
    row = queries.zone(session, event_id, number)
    before = {name: getattr(row, name) for name in changes}
    for name, value in changes.items():
        setattr(row, name, value)
    _zone_flush(session)
    put(session, event, [zone_row(row)])
    tell(session, event, "event_zone_changed", deed, before=before, after={"zone": number, **changes})
    return row


def serve_zones(
    session: Session, organisation_id: str, event_id: str, gate_number: int, *, zones: Iterable[int], deed: Deed
) -> None:
    """Let a gate serve only these zones at this event; none named: all."""
    event = queries.event(session, organisation_id, event_id, lock=True)
    rules.changed_status(EventStatus(event.status))
    venues.gate(session, event.venue_id, gate_number)
    wanted = sorted({queries.zone(session, event_id, number).number for number in zones})
    session.merge(
        GateZonesRecord(event_id=event_id, gate_number=gate_number, organisation_id=organisation_id, zones=list(wanted))
    )
    session.flush()
    put(session, event, queries.gate_rows(session, event))
    tell(session, event, "event_gate_changed", deed, after={"gate": gate_number, "zones": wanted})


def has_room(session: Session, organisation_id: str, event_id: str, room: int) -> None:
    """Remember how many the open zones of its layout hold; 0: it has none."""
    queries.event(session, organisation_id, event_id).layout_room = room
    session.flush()


def lock(session: Session, organisation_id: str, event_id: str) -> None:
    """Hold back others who change this event or its tickets' numbers, until this transaction ends."""
    queries.event(session, organisation_id, event_id, lock=True)


def take_numbers(session: Session, event_id: str, count: int) -> int:
    """The first of `count` ticket numbers in a row, counted against the capacity; Conflict where there is no room.

    One conditional statement: whoever comes second waits for the first, and sees what is left.
    """
    most = func.coalesce(func.nullif(EventRecord.capacity, 0), func.nullif(EventRecord.venue_capacity, 0))
    room = most.is_(None) | (EventRecord.tickets_issued + count <= most)
    taken = (
        update(EventRecord)
        .where(EventRecord.id == event_id, room)
        .values(tickets_issued=EventRecord.tickets_issued + count, ticket_sequence=EventRecord.ticket_sequence + count)
        .returning(*_COUNTED)
        .execution_options(synchronize_session=False)
    )
    row = session.execute(taken).one_or_none()
    if row is None:
        raise Conflict("The event's capacity does not leave room for that many tickets.", code="capacity_exceeded")
    _tell_whether_sold_out(session, row, count)
    return int(row.ticket_sequence) - count + 1


def give_back(session: Session, event_id: str, count: int = 1) -> None:
    """Room in the capacity for tickets that count no longer."""
    returned = (
        update(EventRecord)
        .where(EventRecord.id == event_id)
        .values(tickets_issued=EventRecord.tickets_issued - count)
        .returning(*_COUNTED)
        .execution_options(synchronize_session=False)
    )
    for row in session.execute(returned):
        _tell_whether_sold_out(session, row, -count)


def _tell_whether_sold_out(session: Session, row: Any, more: int) -> None:
    """A word to whoever shows events to visitors, only when the last one goes or comes back: sales are many."""
    most = rules.bound(row.capacity, row.venue_capacity, row.layout_room)
    if most and (row.tickets_issued >= most) != (row.tickets_issued - more >= most):
        announce(session, SOLD_OUT_OR_NOT, row.id, of(session).clock())


def put(session: Session, event: EventRecord, rows: Iterable[AnyRow | Row]) -> None:
    """Let gates of this event hold these rows."""
    revisions.put(session, event.number, rows)


def tell(
    session: Session,
    event: EventRecord,
    name: str,
    deed: Deed,
    *,
    before: dict[str, Any] | None = None,
    after: dict[str, Any] | None = None,
    reason: str = "",
) -> None:
    """An audit line and a fact about an event; whoever shows events to visitors looks at it anew."""
    note(session, event, name, deed, before=before, after=after, reason=reason)
    announce(session, "event_changed", (event.organisation_id, event.id, event.number), deed.now)


def note(
    session: Session,
    event: EventRecord,
    name: str,
    deed: Deed,
    *,
    before: dict[str, Any] | None = None,
    after: dict[str, Any] | None = None,
    reason: str = "",
) -> None:
    """The same without a word to higher floors: for an event that is gone."""
    where = event.organisation_id
    record(session, AuditLine(deed.actor, name, "event", event.id, where, deed.now, before, after, reason))
    subjects = {"event": event.id, "event_number": event.number, "venue": event.venue_id}
    record_fact(session, Fact(name, where, deed.now, subjects, {"before": before, "after": after, "reason": reason}))
    telemetry.note(session, event, name, deed, before=before, after=after, reason=reason)


def times_of(row: EventRecord) -> rules.Times:
    """The times of an event as it will take place: on its new date, where there is one."""
    start, end = window(row)
    return rules.Times(**{**{name: getattr(row, name) for name in _TIMES}, "start_at": start, "end_at": end})


def _names(session: Session, organisation_id: str, words: Mapping[str, Any]) -> dict[str, str]:
    slug = words["slug"] or slug_of(words["name"], lambda slug: queries.slug_taken(session, organisation_id, slug))
    code = words["code"] or code_of(slug, lambda code: queries.code_taken(session, organisation_id, code))
    if queries.slug_taken(session, organisation_id, slug):
        raise Conflict(f"Another event of yours has the slug {slug!r}. Choose another.", code="slug_taken")
    if queries.code_taken(session, organisation_id, code):
        raise Conflict(f"Another event of yours has the code {code!r}. Choose another.", code="code_taken")
    return {"slug": slug, "code": code}


def _number(session: Session, entropy: Entropy) -> int:
    # Random, not counted: a restored backup must not give a number to two events with tickets in the world.
    while True:
        number = int.from_bytes(entropy(4), "big") & 0x7FFFFFFF
        if number and not queries.number_taken(session, number):
            return number


def flush_or_say(session: Session) -> None:
    """Conflict, in words, where another event has what must be its own."""
    try:
        session.flush()
    except IntegrityError as taken:
        if "dedupe_key" in str(taken.orig):
            raise Conflict(DOUBLE, code="duplicate_event") from None
        raise Conflict("Another event of yours has that slug or code. Choose another.", code="name_taken") from None


def _zone_flush(session: Session) -> None:
    try:
        session.flush()
    except IntegrityError:
        raise Conflict("The event has a zone of that name already.", code="name_taken") from None
