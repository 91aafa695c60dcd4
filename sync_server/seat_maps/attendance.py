"""Attendance on one day of an event, by the scans at its gates."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from sqlalchemy.orm import Session

from shared.clock import Millis
from shared.errors import NotFound
from shared.wire.snapshot import EventDay
from sync_server.events import queries as events
from sync_server.events.days.chosen_days import day_not_found
from sync_server.revisions import queries as revisions
from sync_server.scans.attendance import days as attendance
from sync_server.scans.attendance.days import DayAttendance
from sync_server.tickets import queries as tickets


@dataclass(slots=True)
class DaySeats:
    """Seats by their numbers in the layout; guests without a seat counted by event zone."""

    day: EventDay
    inside: list[int] = field(default_factory=list)
    left: list[int] = field(default_factory=list)
    zones_inside: Counter[int] = field(default_factory=Counter)
    zones_left: Counter[int] = field(default_factory=Counter)


def seats_of_day(session: Session, organisation_id: str, event_id: str, date: str, now: Millis) -> DaySeats:
    """Who came on that day; NotFound if the event is another organisation's, or has no such day."""
    event = events.details(session, organisation_id, event_id).key
    row = revisions.event_row(session, event)
    if row is None:
        raise NotFound("There is no such event.", code="event_not_found")
    day = next((day for day in row.days if day.date == date), None)
    if day is None:
        raise day_not_found([day.date for day in row.days])
    if now < day.start:
        return DaySeats(day)
    seats = tickets.seats(session, event)
    return _of(day, attendance.on_day(session, event, day, seats.keys()), seats)


def _of(day: EventDay, found: DayAttendance, seats: Mapping[int, int]) -> DaySeats:
    made = DaySeats(day)
    for ticket, came in found.named.items():
        (made.inside if came.stayed else made.left).append(seats[ticket])
    for came, count in found.others.items():
        (made.zones_inside if came.stayed else made.zones_left)[came.zone] += count
    return made
