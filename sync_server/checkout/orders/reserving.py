"""Keeps what unpaid orders reserve of their ticket types when the days of their event change."""

from __future__ import annotations

from collections import Counter

from sqlalchemy.orm import Session

from sync_server.checkout import queries
from sync_server.events.days import day_counts
from sync_server.events.days.chosen_days import numbers
from sync_server.events.signals import EventDaysChanged
from sync_server.plumbing.event_key import EventKey


def on_days_changed(session: Session, event: EventDaysChanged) -> None:
    """Tickets were counted anew for each day, and orders are not among them: count what they reserve, too."""
    if event.after == 1:
        return
    reserved: dict[int, Counter[int]] = {}
    for line in queries.ordered_lines(session, event.organisation_id, event.event_id):
        reserved.setdefault(line.ticket_type, Counter()).update(numbers(line.valid_days, event.after))
    for ticket_type, days in sorted(reserved.items()):
        day_counts.add(session, EventKey(event.organisation_id, event.event_id), ticket_type, days, 0)
