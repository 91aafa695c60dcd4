"""The life of an event as a line of stations: where it was, where it is, and where it may go."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from shared.lifecycle import TRANSITIONS, EventStatus
from sync_server.admin.page import may
from sync_server.events.queries import Event
from sync_server.events.rules import action_for

_S = EventStatus
LINE: Final = (_S.DRAFT, _S.PUBLISHED, _S.POSTPONED, _S.LIVE, _S.ENDED, _S.CANCELLED, _S.ARCHIVED)
"""In the order in which most events come to them."""
FINAL: Final = frozenset({_S.CANCELLED, _S.ARCHIVED, _S.ENDED})
"""From these an event does not come back."""


@dataclass(frozen=True, slots=True)
class Station:
    """One status on the line, and how it stands to the event: past, now, may, or empty for never and not yet."""

    status: str
    look: str


def stations(event: Event) -> list[Station]:
    """The seven stations of an event, for who looks at it."""
    return [Station(each.value, _look(event, each)) for each in LINE]


def _look(event: Event, station: EventStatus) -> str:
    current = EventStatus(event.status)
    if station is current:
        return "now"
    if station in TRANSITIONS[current] and _possible(event, station) and may(action_for(station)):
        return "may"
    return "past" if _passed(event, current, station) else ""


def _possible(event: Event, station: EventStatus) -> bool:
    return station is not _S.DRAFT or not event.tickets_issued


def _passed(event: Event, current: EventStatus, station: EventStatus) -> bool:
    over = current in {_S.ENDED, _S.ARCHIVED} and event.cancelled_at is None and event.published_at is not None
    return {
        _S.DRAFT: True,
        _S.PUBLISHED: event.published_at is not None,
        _S.LIVE: over,
        _S.ENDED: over and current is _S.ARCHIVED,
        _S.CANCELLED: event.cancelled_at is not None,
    }.get(station, False)
