"""How many came how far on the way from the queue to the door, at an event and by ticket type."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy.orm import Session

from sync_server.checkout import queries as checkout
from sync_server.checkout.sessions import queries as sessions
from sync_server.events import queries as events
from sync_server.events.rules import mark
from sync_server.holds import queries as holds
from sync_server.plumbing.event_key import EventKey
from sync_server.queueing import queries as queueing
from sync_server.scans import queries as scans
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
    )
