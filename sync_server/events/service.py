"""Makes and changes events, their zones, and which zones a gate serves."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields
from typing import Any

from sqlalchemy import update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from shared.errors import Conflict
from shared.ids import Entropy, uuid7
from shared.lifecycle import EventStatus
from shared.snapshot import AnyRow, Row
from sync_server.accounts import queries as accounts
from sync_server.accounts.service import lock_organisation
from sync_server.audit.service import AuditLine, record
from sync_server.events import queries, rules
from sync_server.events.models import EventRecord, GateZonesRecord, ZoneRecord
from sync_server.events.rows import own_rows, window, zone_row
from sync_server.outbox.service import Fact
from sync_server.outbox.service import record as record_fact
from sync_server.plumbing.database import announce
from sync_server.plumbing.principals import Deed
from sync_server.plumbing.slugs import code_of, slug_of
from sync_server.revisions import service as revisions
from sync_server.venues import queries as venues

_TIMES = frozenset(field.name for field in fields(rules.Times))


def create_event(session: Session, organisation_id: str, words: Mapping[str, Any], deed: Deed) -> EventRecord:
    """A new draft at one of the organisation's venues, with everything that gates will hold of it."""
    lock_organisation(session, organisation_id)  # keys and supervisors must not change between reading and writing them
    venue = venues.venue(session, organisation_id, words["venue_id"], lock=True)
    rules.check_times(_times(words))
    rules.check_not_over(words["end_at"], deed.now)
    rules.check_capacity(words["capacity"], 0, venue.max_capacity)
    row = EventRecord(
        **{**words, **_names(session, organisation_id, words)},
        id=uuid7(deed.now, deed.entropy), organisation_id=organisation_id, number=_number(session, deed.entropy),
        status=EventStatus.DRAFT.value, timezone=venue.timezone, venue_name=venue.name, city=venue.city,
        country=venue.country, address=venue.address, created_by=deed.actor.id, created_at=deed.now,
        updated_at=deed.now,
    )  # fmt: skip
    row.sale_end_at = words["start_at"] if words["sale_end_at"] is None else words["sale_end_at"]
    session.add(row)
    _flush_or_say(session, "Another event of yours has that slug or code. Choose another.")
    _open(session, row, deed)
    return row


def _open(session: Session, row: EventRecord, deed: Deed) -> None:
    revisions.open_head(session, row.number)
    put(session, row, own_rows(row))
    put(session, row, queries.gate_rows(session, row))
    put(session, row, accounts.supervisor_rows(session, row.organisation_id))
    tell(session, row, "event_created", deed, after={"name": row.name, "slug": row.slug, "number": row.number})
    announce(session, "event_created", (row.organisation_id, row.number), deed.now)


def change_event(
    session: Session, organisation_id: str, event_id: str, changes: Mapping[str, Any], deed: Deed
) -> EventRecord:
    """Other words, times or rules for an event; connected gates hear of it within a second."""
    row = queries.event(session, organisation_id, event_id, lock=True)
    rules.changed_status(EventStatus(row.status))
    venue = venues.venue(session, organisation_id, row.venue_id)
    before = {name: getattr(row, name) for name in changes}
    for name, value in changes.items():
        setattr(row, name, value)
    rules.check_times(times_of(row))
    rules.check_capacity(row.capacity, row.tickets_issued, venue.max_capacity)
    row.updated_at = deed.now
    _flush_or_say(session, "Another event of yours has that slug or code. Choose another.")
    put(session, row, own_rows(row))
    tell(session, row, "event_updated", deed, before=before, after=dict(changes))
    if before.get("name_checks", row.name_checks) != row.name_checks:
        announce(session, "name_checks_changed", (row.id, row.name_checks), deed.now)
    return row


def add_zone(session: Session, organisation_id: str, event_id: str, words: Mapping[str, Any], deed: Deed) -> ZoneRecord:
    """A new zone of the house at this event."""
    event = queries.event(session, organisation_id, event_id, lock=True)
    rules.changed_status(EventStatus(event.status))
    number = max((zone.number for zone in queries.zones(session, event_id)), default=0) + 1
    row = ZoneRecord(**words, event_id=event_id, number=number, organisation_id=organisation_id)
    session.add(row)
    _flush_or_say(session, "The event has a zone of that name already.")
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
    _flush_or_say(session, "The event has a zone of that name already.")
    put(session, event, [zone_row(row)])
    tell(session, event, "event_zone_changed", deed, before=before, after={"zone": number, **changes})
    return row


def serve_zones(
    session: Session, organisation_id: str, event_id: str, gate_number: int, *, zones: Iterable[int], deed: Deed
) -> None:
    """Let a gate serve only these zones at this event; none named: all."""
    event = queries.event(session, organisation_id, event_id, lock=True)
    venues.gate(session, event.venue_id, gate_number)
    wanted = sorted({queries.zone(session, event_id, number).number for number in zones})
    session.merge(
        GateZonesRecord(event_id=event_id, gate_number=gate_number, organisation_id=organisation_id, zones=list(wanted))
    )
    session.flush()
    put(session, event, queries.gate_rows(session, event))
    tell(session, event, "event_gate_changed", deed, after={"gate": gate_number, "zones": wanted})


def lock(session: Session, organisation_id: str, event_id: str) -> None:
    """Hold back others who change this event or its tickets' numbers, until this transaction ends."""
    queries.event(session, organisation_id, event_id, lock=True)


def take_numbers(session: Session, event_id: str, count: int) -> int:
    """The first of `count` ticket numbers in a row, counted against the capacity; Conflict where there is no room.

    One conditional statement: whoever comes second waits for the first, and sees what is left.
    """
    room = (EventRecord.capacity == 0) | (EventRecord.tickets_issued + count <= EventRecord.capacity)
    taken = (
        update(EventRecord)
        .where(EventRecord.id == event_id, room)
        .values(tickets_issued=EventRecord.tickets_issued + count, ticket_sequence=EventRecord.ticket_sequence + count)
        .returning(EventRecord.ticket_sequence)
        .execution_options(synchronize_session=False)
    )
    last = session.execute(taken).scalar_one_or_none()
    if last is None:
        raise Conflict("The event's capacity does not leave room for that many tickets.", code="capacity_exceeded")
    return last - count + 1


def give_back(session: Session, event_id: str, count: int = 1) -> None:
    """Room in the capacity for tickets that count no longer."""
    returned = update(EventRecord).where(EventRecord.id == event_id)
    session.execute(
        returned.values(tickets_issued=EventRecord.tickets_issued - count).execution_options(synchronize_session=False)
    )


def put(session: Session, event: EventRecord, rows: Iterable[AnyRow | Row]) -> None:
    """Let gates of this event hold these rows."""
    revisions.put(session, event.number, rows)


def tell(
    session: Session, event: EventRecord, name: str, deed: Deed, *, before: dict[str, Any] | None = None,
    after: dict[str, Any] | None = None, reason: str = "",
) -> None:  # fmt: skip
    """An audit line and a fact about an event."""
    where = event.organisation_id
    record(session, AuditLine(deed.actor, name, "event", event.id, where, deed.now, before, after, reason))
    subjects = {"event": event.id, "event_number": event.number, "venue": event.venue_id}
    record_fact(session, Fact(name, where, deed.now, subjects, {"before": before, "after": after, "reason": reason}))


def times_of(row: EventRecord) -> rules.Times:
    """The times of an event as it will take place: on its new date, where there is one."""
    start, end = window(row)
    return _times({name: getattr(row, name) for name in _TIMES} | {"start_at": start, "end_at": end})


def _times(words: Mapping[str, Any]) -> rules.Times:
    return rules.Times(**{name: words[name] for name in _TIMES})


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


def _flush_or_say(session: Session, words: str) -> None:
    try:
        session.flush()
    except IntegrityError:
        raise Conflict(words, code="name_taken") from None
