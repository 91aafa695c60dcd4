"""Counts what depends on an event, before it is moved to another venue or deleted."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from sqlalchemy.orm import Session

from shared.clock import Millis
from sync_server.events import queries
from sync_server.events.models import EventRecord
from sync_server.events.rules import ForSale
from sync_server.plumbing.event_key import EventKey
from sync_server.plumbing.ports import ports_of


@dataclass(frozen=True, slots=True)
class EventPorts:
    """What events ask of higher packages."""

    dependents: Mapping[str, Callable[[Session, str, str], int]]
    """How many there are, by a name that people read: functions of the event's organisation and id."""
    count_taken: Callable[[Session, str, str, Millis], int]
    """How many seats and places are sold or held: a function of organisation, event and time."""
    naming_days: Mapping[str, Callable[[Session, str, str, int], int]]
    """How many are for certain days, by a name that people read: functions of organisation, event and a day.

    They count those that name this day or a later one.
    """
    for_sale: Callable[[Session, Mapping[EventKey, bool], Millis], Mapping[EventKey, ForSale]]
    """What their ticket types offer, by event: a function of the events, each with whether it has several days."""


@dataclass(frozen=True, slots=True)
class EventDependents:
    """What depends on one event."""

    uses: Mapping[str, int]  # by a name that people read: tickets, ticket types, devices
    taken: int  # seats and places sold or held

    def summary(self) -> str:
        """For example "2 tickets, 1 layouts"; empty if nothing depends on the event."""
        return ", ".join(f"{count} {what}" for what, count in sorted(self.uses.items()) if count)


def count_dependents(session: Session, event: EventRecord, now: Millis) -> EventDependents:
    """Everything that depends on this event, apart from its own zones and gates."""
    ports = ports_of(session, EventPorts)
    taken = ports.count_taken(session, event.organisation_id, event.id, now)
    uses = {
        "tickets": event.ticket_sequence,
        "events that it replaces": queries.count_replaced_by(session, event.organisation_id, event.id),
        "seats and places sold or held": taken,
    }
    above = {what: count(session, event.organisation_id, event.id) for what, count in ports.dependents.items()}
    return EventDependents(uses | above, taken)
