"""Records which seats each fact touches: after the commit, as the relay delivers it, and never inside a sale."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session

from shared.clock import Millis
from shared.errors import NotFound
from sync_server.outbox.catalogue import kind_of
from sync_server.outbox.fact_kinds import Seats
from sync_server.plumbing.caching.cache import CacheKey
from sync_server.plumbing.database import after_commit
from sync_server.plumbing.jobs import Message
from sync_server.plumbing.messaging.bus import Notification
from sync_server.plumbing.parts import Parts
from sync_server.plumbing.principals import ActionContext
from sync_server.seat_maps import counters, service
from sync_server.tickets import queries as tickets

Touched = set[int] | None
"""Seat numbers; empty if only places without seats changed, None if any seat may have changed."""


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
    except (SQLAlchemyError, NotFound):
        return None


def _seats_in(payload: Mapping[str, Any]) -> set[int]:
    one, several = payload.get("seat"), payload.get("seats")
    return _seat_numbers([one, *(several if isinstance(several, list) else ())])


def _seat_numbers(values: Iterable[Any]) -> set[int]:
    return {value for value in values if isinstance(value, int) and value > 0}


class ChangeRecorder:
    """Receives facts in batches, and writes the seats they touch to the log."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._lock = threading.Lock()
        self._pending: dict[tuple[str, str], Touched] = {}  # by event and organisation

    def receive(self, messages: Sequence[Message]) -> None:
        """Record what a batch touches, in one transaction; if that fails it stays pending."""
        for message in messages:
            self._add(message)
        if self._pending:
            with self._parts.database.writing() as session:
                self.flush(session, self._parts.clock())

    def _add(self, message: Message) -> None:
        event = message.subjects.get("event")
        with self._parts.database.reading() as session:
            seats = seats_touched(session, message)
        if event is None or isinstance(seats, bool):
            return
        key = str(event), message.organisation_id
        with self._lock:
            before = self._pending.get(key, set())
            self._pending[key] = None if seats is None or before is None else before | seats

    def flush(self, session: Session, now: Millis) -> None:
        """Write what is pending, and announce it after the commit."""
        with self._lock:
            pending = dict(self._pending)
        service.record_changes(session, pending, now)
        after_commit(session, lambda: self._announce(pending))

    def _announce(self, written: Mapping[tuple[str, str], Touched]) -> None:
        with self._lock:
            for key, seats in written.items():
                if self._pending.get(key, False) == seats:
                    del self._pending[key]
        keys: list[CacheKey] = [counters.cache_key(organisation_id, event_id) for event_id, organisation_id in written]
        if keys:
            self._parts.cache.invalidate(*keys)
        topics = [*(topic(event_id) for event_id, _ in written), ANY_MAP]
        self._parts.bus.publish_all([Notification(each, {}) for each in topics])

    def flush_pending(self, session: Session, context: ActionContext) -> None:
        """Job: write what could not be written when it was received."""
        self.flush(session, context.now)

    def anything_pending(self, _session: Session, _now: Millis) -> bool:
        """Whether `flush_pending` has anything to write."""
        return bool(self._pending)
