"""Commands about the seats of events."""

from __future__ import annotations

from typing import Any

from sync_server.commands.console import open_runtime, operator_context
from sync_server.commands.people import organisation_id
from sync_server.seating import stranded_seats
from sync_server.seating.event_seatings import event_seatings_of


def list_stranded(organisation: str, event_id: str) -> list[dict[str, Any]]:
    """Single seats of an event that nobody has."""
    with open_runtime() as runtime:
        with runtime.parts.database.reading() as session:
            owner = organisation_id(session, organisation)
        with event_seatings_of(runtime.parts).current(owner, event_id, runtime.parts.clock()) as seating:
            found, layout = stranded_seats.releasable(seating), seating.plan.layout
            return [
                {"seat_id": layout.name(seat), "words": layout.in_words(seat), "held_back": why and why.value}
                for seat, why in sorted(found.items())
            ]


def release_stranded(organisation: str, event_id: str, names: list[str], reason: str) -> list[str]:
    """Put stranded seats on sale to anybody: those named, or all."""
    with open_runtime() as runtime:
        with runtime.parts.database.reading() as session:
            owner = organisation_id(session, organisation)
        with event_seatings_of(runtime.parts).current(owner, event_id, runtime.parts.clock()) as seating:
            chosen = stranded_seats.chosen(seating, names or None)
        with runtime.parts.database.writing() as session:
            return stranded_seats.release(session, owner, event_id, chosen, operator_context(runtime), reason=reason)
