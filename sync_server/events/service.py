"""Creates and changes events, their zones, and the zones that each gate serves."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields
from typing import Any, Final

from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from shared.clock import Millis
from shared.errors import Conflict, InvalidRequest
from shared.ids import Entropy, uuid7
from shared.lifecycle import EventStatus
from shared.wire.snapshot import AnyRow, Row
from sync_server.accounts import queries as accounts
from sync_server.accounts.service import lock_organisation
from sync_server.events import permissions, queries, rules, series_queries
from sync_server.events.days import changed_days
from sync_server.events.derived_columns import DUPLICATE_MESSAGE, require_unique, set_derived_columns
from sync_server.events.issued_counts import most_issued
from sync_server.events.models import EventRecord, GateZonesRecord, ZoneRecord
from sync_server.events.permissions import Part
from sync_server.events.signals import EventChanged, EventCreated, EventTimesMoved, NameChecksChanged
from sync_server.events.snapshot_rows import days, own_rows, window, zone_row
from sync_server.events.time_shift import TimeShift
from sync_server.outbox import service as outbox
from sync_server.outbox.service import Fact, Subject
from sync_server.plumbing.language.slugs import code_of, slug_of
from sync_server.plumbing.requests.principals import ActionContext
from sync_server.plumbing.signals import send
from sync_server.plumbing.sql import writes
from sync_server.revisions import service as revisions
from sync_server.venues import queries as venues
from sync_server.venues.queries import Venue
from sync_server.venues.rules import check_not_archived

MINUTE_MS: Final = 60_000
_TIMES: Final = frozenset(field.name for field in fields(rules.Times))
_EVENT_TIMES: Final = ("end_at", "doors_at", "go_live_at", "end_at_auto")
_SALE_TIMES: Final = ("sale_start_at", "sale_end_at")
_TEXT_COLUMNS: Final = frozenset(
    column.name
    for column in EventRecord.__table__.columns
    if any(getattr(default, "arg", None) == "" for default in (column.default, column.server_default))
)
"""Texts that may be empty: null clears them."""


def create_event(
    session: Session,
    organisation_id: str,
    fields: Mapping[str, Any],
    context: ActionContext,
    *,
    copied_from: str | None = None,
) -> EventRecord:
    """A new draft at one of the organisation's venues, with all the snapshot rows that its gates need."""
    lock_organisation(session, organisation_id)  # keys and supervisors must not change while we copy them
    venue = venues.venue(session, organisation_id, fields["venue_id"], lock=True)
    check_not_archived(venue.archived_at is not None)
    values = to_columns(session, organisation_id, fields)
    values["owner_id"] = values.get("owner_id") or context.actor.id or None
    row = EventRecord(
        **{**values, **_slug_and_code(session, organisation_id, fields), **venue_columns(venue)},
        id=uuid7(context.now, context.entropy),
        organisation_id=organisation_id,
        number=_new_number(session, context.entropy),
        status=EventStatus.DRAFT.value,
        created_by=context.actor.id or None,
        created_at=context.now,
        updated_at=context.now,
    )
    row.sale_end_at = row.start_at if row.sale_end_at is None else row.sale_end_at
    row.doors_at = _default_doors_at(row, venue.settings) if row.doors_at is None else row.doors_at
    rules.check_times(times_of(row))
    rules.check_future(row.start_at, context.now)
    rules.check_capacity(row.capacity, 0, row.venue_capacity)
    set_derived_columns(row)
    require_unique(session, row)
    session.add(row)
    flush_or_conflict(session)
    _publish_first_rows(session, row, context, {} if copied_from is None else {"copied_from": copied_from})
    return row


def venue_columns(venue: Venue) -> dict[str, Any]:
    """The columns that an event copies from its venue."""
    return {
        "venue_id": venue.id,
        "venue_name": venue.name,
        "timezone": venue.timezone,
        "city": venue.city,
        "country": venue.country,
        "address": venue.address,
        "venue_capacity": venue.max_capacity,
    }


def _default_doors_at(row: EventRecord, settings: Mapping[str, Any]) -> Millis | None:
    before = settings.get("doors_minutes_before")
    return None if before is None else row.start_at - before * MINUTE_MS


def _publish_first_rows(session: Session, row: EventRecord, context: ActionContext, origin: dict[str, Any]) -> None:
    revisions.open_head(session, row.key)
    put_rows(session, row, own_rows(row))
    put_rows(session, row, queries.gate_rows(session, row))
    put_rows(session, row, accounts.supervisor_rows(session, row.organisation_id))
    record_change(
        session,
        row,
        "event_created",
        context,
        after={"name": row.name, "slug": row.slug, "number": row.number, **origin},
    )
    send(session, EventCreated(row.organisation_id, row.id, row.number, context))


def change_event(
    session: Session,
    organisation_id: str,
    event_id: str,
    changes: Mapping[str, Any],
    context: ActionContext,
    *,
    short_notice_ms: int = rules.SHORT_NOTICE_MS,
) -> EventRecord:
    """Change an event's details, times or rules; connected gates know within a second.

    A new start moves the other times of the event by as many days and local hours. Sale windows and ticket times move
    too unless `move_times` is false; a sale that has opened stays open.
    """
    row = queries.event(session, organisation_id, event_id, lock=True)
    values = to_columns(session, organisation_id, changes)
    shift_sales, old_times, old_days = values.pop("move_times", True), times_of(row), days(row)
    shift = _shift_times(row, values, context.now, _EVENT_TIMES + _SALE_TIMES if shift_sales else _EVENT_TIMES)
    permissions.check_fields(row, values, context)
    before = writes.change(row, values)
    rules.check_times(times_of(row))
    if "description" in values and row.status in queries.VISIBLE_STATUSES:
        rules.check_description(row.description)
    if "capacity" in values:
        rules.check_capacity(row.capacity, most_issued(session, row), row.venue_capacity)
    row.updated_at = context.now
    set_derived_columns(row)
    require_unique(session, row)
    flush_or_conflict(session)
    changed_days.follow(session, row, old_days, context)
    if shift.distance and shift_sales:
        send(session, EventTimesMoved(row.organisation_id, row.id, shift, context))
    put_rows(session, row, own_rows(row))
    record_change(session, row, "event_updated", context, before=before, after=values)
    record_short_notice(session, row, old_times, context, short_notice_ms=short_notice_ms)
    if before.get("name_checks", row.name_checks) != row.name_checks:
        send(session, NameChecksChanged(row.organisation_id, row.id, row.name_checks))
    return row


def _shift_times(row: EventRecord, values: dict[str, Any], now: Millis, names: Iterable[str]) -> TimeShift:
    """How the start moves; adds to `values` the times that move with it and are not given."""
    shift = TimeShift(row.start_at, values.get("start_at", row.start_at), row.timezone, opened_by=now)
    if shift.distance:
        rules.check_new_start(EventStatus(row.status), shift.new_start, now)
        values |= shift.times({name: getattr(row, name) for name in names if name not in values})
    return shift


def record_short_notice(
    session: Session, row: EventRecord, old_times: rules.Times, context: ActionContext, *, short_notice_ms: int
) -> None:
    """Record a separate fact when times change so late that people may be on their way."""
    new_times = times_of(row)
    changed = [name for name in sorted(_TIMES) if getattr(old_times, name) != getattr(new_times, name)]
    starts = old_times.start_at, new_times.start_at
    if changed and rules.at_short_notice(EventStatus(row.status), starts, context.now, short_notice_ms):
        before, after = ({name: getattr(times, name) for name in changed} for times in (old_times, new_times))
        record_change(session, row, "event_moved_at_short_notice", context, before=before, after=after)


def to_columns(session: Session, organisation_id: str, fields: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a request as column values; InvalidRequest for an owner or series of another organisation."""
    values = {name: "" if value is None and name in _TEXT_COLUMNS else value for name, value in fields.items()}
    owner = values.get("owner_id")
    if owner and accounts.role_in(session, organisation_id, owner) is None:
        raise InvalidRequest("owner_id: no member of your organisation has this id.", field="owner_id")
    series = values.get("recurrence_group_id")
    if series and not series_queries.series_exists(session, organisation_id, series):
        raise InvalidRequest(
            "recurrence_group_id: your organisation has no such series. POST /api/events/{id}/series starts one.",
            field="recurrence_group_id",
        )
    return values


def add_zone(
    session: Session, organisation_id: str, event_id: str, fields: Mapping[str, Any], context: ActionContext
) -> ZoneRecord:
    """A new zone of the event."""
    event = queries.event(session, organisation_id, event_id, lock=True)
    permissions.check_part(event, Part.SALE, context)
    number = max((zone.number for zone in queries.zones(session, organisation_id, event_id)), default=0) + 1
    row = ZoneRecord(**fields, event_id=event_id, number=number, organisation_id=organisation_id)
    session.add(row)
    _flush_zone(session)
    put_rows(session, event, [zone_row(row)])
    record_change(session, event, "event_zone_added", context, after={"zone": number, **fields})
    return row


def change_zone(
    session: Session,
    organisation_id: str,
    event_id: str,
    number: int,
    *,
    changes: Mapping[str, Any],
    context: ActionContext,
) -> ZoneRecord:
    """Rename a zone, or change its kind, capacity or tier."""
    event = queries.event(session, organisation_id, event_id, lock=True)
    permissions.check_part(event, Part.SALE, context)
    row = queries.zone(session, organisation_id, event_id, number)
    before = writes.change(row, changes)
    _flush_zone(session)
    put_rows(session, event, [zone_row(row)])
    record_change(session, event, "event_zone_changed", context, before=before, after={"zone": number, **changes})
    return row


def set_gate_zones(
    session: Session,
    organisation_id: str,
    event_id: str,
    gate_number: int,
    *,
    zones: Iterable[int],
    context: ActionContext,
) -> None:
    """Let a gate serve only these zones at this event; an empty list means all."""
    event = queries.event(session, organisation_id, event_id, lock=True)
    permissions.check_part(event, Part.ADMISSION, context)
    venues.gate(session, organisation_id, event.venue_id, gate_number)
    numbers = sorted({queries.zone(session, organisation_id, event_id, number).number for number in zones})
    session.merge(
        GateZonesRecord(
            event_id=event_id, gate_number=gate_number, organisation_id=organisation_id, zones=list(numbers)
        )
    )
    session.flush()
    put_rows(session, event, queries.gate_rows(session, event))
    record_change(session, event, "event_gate_changed", context, after={"gate": gate_number, "zones": numbers})


def set_layout_capacity(session: Session, organisation_id: str, event_id: str, capacity: int) -> None:
    """Store how many people the open zones of the event's layout hold; 0 means it has no layout."""
    queries.event(session, organisation_id, event_id).layout_capacity = capacity
    session.flush()


def lock_event(session: Session, organisation_id: str, event_id: str) -> None:
    """Lock the event's row until the end of the transaction, against changes and further ticket numbers.

    Conflict `event_put_away` for one whose tickets are in its archive.
    """
    rules.require_in_tables(queries.event(session, organisation_id, event_id, lock=True).put_away_at)


def close(session: Session, organisation_id: str, event_id: str, now: Millis) -> None:
    """Let nothing of the event change any more; waits for uploads that have found it open."""
    queries.event_alone(session, organisation_id, event_id).put_away_at = now
    session.flush()


def reopen(session: Session, organisation_id: str, event_id: str) -> None:
    """Everything of the event is in the tables again."""
    queries.event_alone(session, organisation_id, event_id).put_away_at = None
    session.flush()


def put_rows(session: Session, event: EventRecord, rows: Iterable[AnyRow | Row]) -> None:
    """Add rows to the event's snapshot, from which its gates take them."""
    revisions.put(session, event.key, rows)


def record_change(
    session: Session,
    event: EventRecord,
    name: str,
    context: ActionContext,
    *,
    before: dict[str, Any] | None = None,
    after: dict[str, Any] | None = None,
    reason: str = "",
) -> None:
    """Write an audit line and a fact about an event, and let its listings be refreshed.

    An event that has been deleted has no listings.
    """
    subjects = {"event": event.id, "event_number": event.number, "venue": event.venue_id}
    payload = {"before": before, "after": after, "reason": reason}
    fact = Fact(name, event.organisation_id, context.now, subjects, payload)
    outbox.record_change(session, context, Subject("event", event.id, before, after, reason), fact)
    if event in session:
        send(session, EventChanged(event.organisation_id, event.id, event.number, context))


def times_of(row: EventRecord) -> rules.Times:
    """The times at which an event takes place, on its new date if it has one."""
    start, end = window(row)
    return rules.Times(**{**{name: getattr(row, name) for name in _TIMES}, "start_at": start, "end_at": end})


def _slug_and_code(session: Session, organisation_id: str, fields: Mapping[str, Any]) -> dict[str, str]:
    slug = fields["slug"] or slug_of(fields["name"], lambda slug: queries.slug_taken(session, organisation_id, slug))
    code = fields["code"] or code_of(slug, lambda code: queries.code_taken(session, organisation_id, code))
    if queries.slug_taken(session, organisation_id, slug):
        raise Conflict(
            f"Your organisation already has an event with the slug {slug!r}. Choose another.", code="slug_taken"
        )
    if queries.code_taken(session, organisation_id, code):
        raise Conflict(
            f"Your organisation already has an event with the code {code!r}. Choose another.", code="code_taken"
        )
    return {"slug": slug, "code": code}


def _new_number(session: Session, entropy: Entropy) -> int:
    # Random, not sequential: after a restore, a new event must not get the number of one whose tickets are already out.
    while True:
        number = int.from_bytes(entropy(4), "big") & 0x7FFFFFFF
        if number and not queries.number_taken(session, number):
            return number


def flush_or_conflict(session: Session) -> None:
    """Flush; Conflict where another event has the same slug, code or dedupe key."""
    try:
        session.flush()
    except IntegrityError as error:
        if "dedupe_key" in str(error.orig):
            raise Conflict(DUPLICATE_MESSAGE, code="duplicate_event") from None
        raise Conflict(
            "Your organisation already has an event with that slug or code. Choose another.", code="name_taken"
        ) from None


def _flush_zone(session: Session) -> None:
    writes.flush_or_conflict(session, "The event already has a zone with that name.", "name_taken")
