"""Asks higher floors what hangs on an event: before it moves house, and before it is deleted.

A higher floor answers by `database.when(ASKED, handler)`: its handler counts, by name, what it keeps for the event.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from sqlalchemy.orm import Session

from shared.clock import Millis
from sync_server.events import queries
from sync_server.events.models import EventRecord
from sync_server.plumbing.database import announce

ASKED: Final = "event_hanging_asked"


@dataclass(slots=True)
class Hanging:
    """What one event would leave behind or take along."""

    organisation_id: str
    event_id: str
    uses: dict[str, int] = field(default_factory=dict)  # in words that people read: tickets, ticket types, devices
    taken: int = 0  # seats and places that are sold or held
    seated: bool = False  # some of those are seats of the venue's own layout

    def words(self) -> str:
        """What there is, in words; empty: nothing."""
        return ", ".join(f"{count} {what}" for what, count in sorted(self.uses.items()) if count)


def hanging(session: Session, event: EventRecord, now: Millis) -> Hanging:
    """Everything that anybody keeps for this event, its own zones and gates apart."""
    answer = Hanging(event.organisation_id, event.id, {"tickets": event.ticket_sequence})
    answer.uses["events that it replaces"] = queries.count_replaced_by(session, event.id)
    announce(session, ASKED, answer, now)
    return answer
