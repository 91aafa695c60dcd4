"""Attendance on one day of an event, by the scans at its gates."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from sqlalchemy.orm import Session

from shared.clock import Millis
from shared.errors import NotFound
from shared.movements import attendance, passages
from shared.snapshot import EventDay, EventRow, Movement
from sync_server.events import queries as events
from sync_server.events.chosen_days import day_not_found
from sync_server.plumbing.event_key import EventKey
from sync_server.revisions import queries as revisions
from sync_server.scans import queries as scans
from sync_server.tickets import queries as tickets

_BATCH_SIZE: Final = 20_000


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
    seats = {ticket.id: ticket.seat for ticket in tickets.seated_tickets(session, organisation_id, event_id)}
    found, at = DaySeats(day), min(now, day.until - 1)
    for ticket, movements in _by_ticket(session, event).items():
        _count(found, seats.get(ticket, 0), movements, row, at)
    return found


def _by_ticket(session: Session, event: EventKey) -> dict[int, list[Movement]]:
    found: dict[int, list[Movement]] = defaultdict(list)
    for movement in _movements(session, event):
        found[movement.ticket_id].append(movement)
    return found


def _movements(session: Session, event: EventKey) -> Iterator[Movement]:
    last, batch = scans.movements_after(session, event, 0, _BATCH_SIZE)
    while batch:
        yield from batch
        last, batch = scans.movements_after(session, event, last, _BATCH_SIZE)


def _count(found: DaySeats, seat: int, movements: list[Movement], event: EventRow, at: Millis) -> None:
    """Count the movements before the end of the day: later ones belong to another day."""
    history = passages((movement for movement in movements if movement.at < found.day.until), None, None).passages
    came = attendance(history, event, at)
    if not came.today:
        return
    inside = came.inside_by is not None
    if seat:
        (found.inside if inside else found.left).append(seat)
    else:
        (found.zones_inside if inside else found.zones_left)[came.today[-1].zone] += 1
