"""Tickets for every day of an event follow when it gets another day, or loses one."""

from __future__ import annotations

from collections import Counter

from sqlalchemy.orm import Session

from sync_server.events import issued_counts
from sync_server.events import queries as events
from sync_server.events.days import day_counts
from sync_server.events.days.chosen_days import EVERY_DAY, numbers
from sync_server.events.signals import EventDaysChanged
from sync_server.holds.endings import day_changes
from sync_server.seating import event_layouts
from sync_server.tickets import queries
from sync_server.tickets.issuance.layout import issuing_layout


def on_days_changed(session: Session, event: EventDaysChanged) -> None:
    """Take the new days for those who have every day, and count anew; the event is locked."""
    event_layouts.require_not_moving(session, event.organisation_id, event.event_id)
    if event.after > event.before:
        _take_new_days(session, event)
    _count_anew(session, event)


def _take_new_days(session: Session, event: EventDaysChanged) -> None:
    where, new = (event.organisation_id, event.event_id), range(event.before, event.after)
    day_changes.take_seats_on(session, *where, queries.for_every_day(*where), new)
    layout = issuing_layout(session, *where, event.context.now)
    for (zone, bits), count in sorted(queries.count_seatless(session, *where).items()):
        number = layout.places_zone(zone) if layout is not None else None
        if number is not None and bits == EVERY_DAY:
            day_changes.take_places_on(session, *where, number, count, new)


def _count_anew(session: Session, event: EventDaysChanged) -> None:
    found = queries.count_by_days(session, event.organisation_id, event.event_id)
    counts: Counter[tuple[int, int]] = Counter()
    for (ticket_type, bits), count in found.items():
        for day in numbers(bits, event.after):
            counts[ticket_type, day] += count
            counts[day_counts.ALL_TYPES, day] += count
    row = events.event(session, event.organisation_id, event.event_id)
    day_counts.replace_all(session, row.key, counts if event.after > 1 else {})
    least = min(counts[day_counts.ALL_TYPES, day] for day in range(event.after))
    issued_counts.set_least_issued(session, row, least)
