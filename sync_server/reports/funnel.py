"""How many came how far on the way from the queue to the door, at an event and by ticket type."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from sqlalchemy.orm import Session

from shared.wire.rows import EventDay
from sync_server.checkout import queries as checkout
from sync_server.checkout.sessions import queries as sessions
from sync_server.events import queries as events
from sync_server.events import snapshot_rows
from sync_server.events.days import chosen_days
from sync_server.events.rules import mark
from sync_server.holds import queries as holds
from sync_server.plumbing.event_key import EventKey
from sync_server.queueing import queries as queueing
from sync_server.scans import queries as scans
from sync_server.scans.attendance import days as attendance
from sync_server.tickets import queries as tickets


@dataclass(frozen=True, slots=True)
class TypeFunnel:
    """Admissions of one ticket type."""

    number: int
    name: str
    ordered: int
    paid: int
    entered: int


@dataclass(frozen=True, slots=True)
class DayFunnel:
    """Admissions to one event day: a ticket for several counts on each of them."""

    date: str
    ordered: int
    paid: int
    entered: int


@dataclass(frozen=True, slots=True)
class Funnel:
    """One event: guests until the checkout, admissions from the order on."""

    event_id: str
    number: int
    name: str
    status: str
    mark: str | None  # cancelled, postponed or rescheduled
    joined: int
    admitted: int
    held: int
    checked_out: int
    ordered: int
    paid: int
    entered: int
    types: list[TypeFunnel]
    days: list[DayFunnel]


def funnel(session: Session, key: EventKey) -> Funnel:
    """The figures of one event, cancelled and postponed ones marked."""
    event = events.event(session, *key)
    joined, admitted = queueing.count_guests(session, *key)
    ordered, paid = checkout.count_admissions(session, key)
    entered = tickets.count_by_type(session, key, scans.entered(key))
    types = [
        TypeFunnel(
            row.number, row.name, ordered.get(row.number, 0), paid.get(row.number, 0), entered.get(row.number, 0)
        )
        for row in tickets.ticket_types(session, *key)
    ]
    return Funnel(
        event_id=event.id,
        number=event.number,
        name=event.name,
        status=event.status,
        mark=mark(event),
        joined=joined,
        admitted=admitted,
        held=holds.count_bearers(session, key),
        checked_out=sessions.count_bearers(session, key),
        ordered=sum(ordered.values()),
        paid=sum(paid.values()),
        entered=sum(entered.values()),
        types=types,
        days=_days(session, key, snapshot_rows.days(event)),
    )


def _days(session: Session, key: EventKey, days: tuple[EventDay, ...]) -> list[DayFunnel]:
    ordered, paid = Counter[int](), Counter[int]()
    for bits, (all_of_them, of_them_paid) in checkout.count_admissions_by_days(session, key).items():
        for number in chosen_days.numbers(bits, len(days)):
            ordered[number] += all_of_them
            paid[number] += of_them_paid
    came = attendance.counts(session, key, days)
    return [DayFunnel(day.date, ordered[n], paid[n], came[day.date]) for n, day in enumerate(days)]
