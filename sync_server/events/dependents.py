"""Counts what depends on an event, before it is moved to another venue or deleted.

A domain takes part with `database.on(DEPENDENTS_REQUESTED, handler)`: the handler adds its own counts.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from sqlalchemy.orm import Session

from shared.clock import Millis
from sync_server.events import queries
from sync_server.events.models import EventRecord
from sync_server.plumbing.database import emit

DEPENDENTS_REQUESTED: Final = "event_dependents_requested"


@dataclass(slots=True)
class EventDependents:
    """What depends on one event; handlers fill it in."""

    organisation_id: str
    event_id: str
    uses: dict[str, int] = field(default_factory=dict)  # by a name that people read: tickets, ticket types, devices
    taken: int = 0  # seats and places sold or held
    seated: bool = False  # whether some of those are seats of the layout

    def summary(self) -> str:
        """For example "2 tickets, 1 layouts"; empty if nothing depends on the event."""
        return ", ".join(f"{count} {what}" for what, count in sorted(self.uses.items()) if count)


def count_dependents(session: Session, event: EventRecord, now: Millis) -> EventDependents:
    """Everything that depends on this event, apart from its own zones and gates."""
    dependents = EventDependents(event.organisation_id, event.id, {"tickets": event.ticket_sequence})
    dependents.uses["events that it replaces"] = queries.count_replaced_by(session, event.id)
    emit(session, DEPENDENTS_REQUESTED, dependents, now)
    return dependents
