"""Records which seats each fact touches: after the commit, as the relay delivers it, and never inside a sale."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any, Final

from sqlalchemy.orm import Session

from shared.errors import NotFound
from sync_server.outbox.catalogue import kind_of
from sync_server.outbox.fact_kinds import Seats
from sync_server.plumbing.caching.cache import Cache
from sync_server.plumbing.database import after_commit, database_of
from sync_server.plumbing.jobs import Message, Subscriber
from sync_server.plumbing.messaging.bus import Notification
from sync_server.seat_maps import counters, service
from sync_server.tickets import queries as tickets

Touched = set[int] | None
"""Seat numbers; empty if only places without seats changed, None if any seat may have changed."""


READER: Final = "seat_maps"
"""The subscriber that writes the log."""
ANY_MAP: Final = "seatmaps"
"""The bus topic on which it is announced that some map has a new version."""


def topic(event_id: str) -> str:
    """The bus topic on which new versions of an event's map are announced."""
    return f"seatmap:{event_id}"


def touched(message: Message) -> Touched | bool:
    """The seats that a fact touches; False if it concerns neither seats nor places."""
    seats = kind_of(message.name).seats
    if seats is Seats.NONE:
        return False
    return None if seats is Seats.ALL else _seats_in(message.payload)


def seats_touched(session: Session, message: Message) -> Touched | bool:
    """The same, with the seat that a ticket had; None (any seat) if it cannot be looked up now."""
    if kind_of(message.name).seats is not Seats.TICKET:
        return touched(message)
    try:
        id = tickets.internal_id(str(message.subjects.get("ticket")))
        return _seat_numbers({tickets.ticket(session, message.organisation_id, id).seat})
    except NotFound:
        return None


def _seats_in(payload: Mapping[str, Any]) -> set[int]:
    one, several = payload.get("seat"), payload.get("seats")
    return _seat_numbers([one, *(several if isinstance(several, list) else ())])


def _seat_numbers(values: Iterable[Any]) -> set[int]:
    return {value for value in values if isinstance(value, int) and value > 0}


def recorder(cache: Cache) -> Subscriber:
    """Writes the seats that facts touch to the log, and announces the new versions."""

    def record(session: Session, facts: Sequence[Message]) -> Sequence[Notification]:
        found: dict[tuple[str, str], Touched] = {}
        for fact in facts:
            seats, key = seats_touched(session, fact), (str(fact.subjects["event"]), fact.organisation_id)
            if not isinstance(seats, bool):
                before = found.get(key, set())
                found[key] = None if seats is None or before is None else before | seats
        service.record_changes(session, found, database_of(session).clock())
        after_commit(session, partial(cache.invalidate, *(counters.cache_key(where, event) for event, where in found)))
        return [Notification(each, {}) for each in (*(topic(event) for event, _ in found), ANY_MAP)]

    return Subscriber(READER, _concerns_map, record)


def _concerns_map(fact: Message) -> bool:
    return kind_of(fact.name).seats is not Seats.NONE and "event" in fact.subjects
