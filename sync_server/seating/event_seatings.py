"""Caches the seating of a few events, updated with what is taken or released before each use."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import Any, Final, cast

from flask import current_app
from sqlalchemy.orm import Session

from shared.clock import Millis
from sync_server.plumbing.metrics import Metrics
from sync_server.plumbing.parts import parts
from sync_server.seating import queries
from sync_server.seating.event_seating import EventSeating, empty_seating, event_policy
from sync_server.seating.models import EventLayoutRecord
from sync_server.seating.taken import taken

EXTENSION: Final = "gatehouse.event_seatings"
MAX_CACHED: Final = 8
"""The seating of a stadium takes about thirty megabytes."""


@dataclass(slots=True)
class _Cached:
    """The seating of one event, what it was built from, and the lock for those who use it."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    built_from: tuple[Any, ...] = ()
    seating: EventSeating | None = None


class EventSeatings:
    """Seatings by event. Building one of sixty thousand seats takes a second, updating it a moment."""

    def __init__(self, metrics: Metrics | None = None) -> None:
        """An empty cache; `metrics` record lookups and how long callers wait."""
        self._metrics = metrics
        self._lock = threading.Lock()
        self._cached: OrderedDict[str, _Cached] = OrderedDict()

    @contextmanager
    def current(self, session: Session, organisation_id: str, event_id: str, now: Millis) -> Iterator[EventSeating]:
        """The up-to-date seating of an event, for one caller at a time; NotFound for an event without a layout."""
        row = queries.event_layout(session, organisation_id, event_id)
        with ExitStack() as stack:
            with self._measured():
                cached = self._entry(event_id)
                stack.enter_context(cached.lock)
                seating = self._load(cached, session, row)
                seating.update(taken(session, event_id, now))
            yield seating

    def _load(self, cached: _Cached, session: Session, row: EventLayoutRecord) -> EventSeating:
        source = (row.layout_id, row.revision, event_policy(session, row))
        seating = cached.seating if cached.built_from == source else None
        if self._metrics is not None:
            self._metrics.count_lookup("houses", seating is not None)
        if seating is None:
            seating = cached.seating = empty_seating(session, row)
            cached.built_from = source
        return seating

    def _measured(self) -> AbstractContextManager[object]:
        return nullcontext() if self._metrics is None else self._metrics.layout_seconds.time()

    def _entry(self, event_id: str) -> _Cached:
        with self._lock:
            cached = self._cached.setdefault(event_id, _Cached())
            self._cached.move_to_end(event_id)
            if len(self._cached) > MAX_CACHED:
                self._cached.popitem(last=False)
            return cached


def event_seatings() -> EventSeatings:
    """The cache of the application that serves the current request."""
    return cast(EventSeatings, current_app.extensions.setdefault(EXTENSION, EventSeatings(parts().metrics)))
