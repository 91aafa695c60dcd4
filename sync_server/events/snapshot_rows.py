"""Converts an event and its zones to the snapshot rows that gates store."""

from __future__ import annotations

from shared.clock import Millis
from shared.days import event_days
from shared.wire.snapshot import AnyRow, EventDay, EventRow, PolicyRow, WhenUncertain, ZoneRow
from sync_server.events.models import EventRecord, ZoneRecord

_HOUR_MS = 3_600_000


def days(event: EventRecord) -> tuple[EventDay, ...]:
    """The event days, of the new date if there is one."""
    return days_between(event.start_at, event.end_at, event.rescheduled_at, event.timezone, event.cutover_hour)


def days_between(
    start_at: Millis, end_at: Millis, rescheduled_at: Millis | None, timezone: str, cutover_hour: int
) -> tuple[EventDay, ...]:
    """The same, by what an event's row says."""
    start, end = _window(start_at, end_at, rescheduled_at)
    return event_days(start, end, timezone, cutover_hour)


def window(event: EventRecord) -> tuple[Millis, Millis]:
    """Start and end, on the new date if there is one."""
    return _window(event.start_at, event.end_at, event.rescheduled_at)


def _window(start_at: Millis, end_at: Millis, rescheduled_at: Millis | None) -> tuple[Millis, Millis]:
    return (start_at, end_at) if rescheduled_at is None else (rescheduled_at, rescheduled_at + end_at - start_at)


def event_row(event: EventRecord) -> EventRow:
    return EventRow(
        number=event.number,
        organisation=event.organisation_id,
        name=event.name,
        status=event.status,
        starts_at=event.start_at,
        ends_at=event.end_at,
        timezone=event.timezone,
        days=days(event),
        rescheduled_at=event.rescheduled_at,
        go_live_at=event.go_live_at,
        end_at_auto=event.end_at_auto,
        counts_from=event.counts_from,
        anti_passback=event.anti_passback,
        cutover_empties=event.cutover_empties,
        venue=event.venue_name,
    )


def policy_row(event: EventRecord) -> PolicyRow:
    """The organiser's policy for gates."""
    hours = event.max_snapshot_age_hours
    return PolicyRow(
        known_tickets_only=event.known_tickets_only,
        max_snapshot_age_ms=None if hours is None else hours * _HOUR_MS,
        clock_uncertain=WhenUncertain(event.clock_uncertain),
        repeat_ms=event.repeat_ms,
    )


def zone_row(zone: ZoneRecord) -> ZoneRow:
    return ZoneRow(zone.number, zone.name, zone.kind, zone.capacity, zone.membership_tier)


def own_rows(event: EventRecord) -> list[AnyRow]:
    """The rows that depend on the event's own columns."""
    return [event_row(event), policy_row(event)]
