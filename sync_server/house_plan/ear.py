"""Hears for all open maps of a process what other processes tell of their houses, where no Redis brings it."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from sqlalchemy.exc import SQLAlchemyError

from sync_server.house_plan import queries
from sync_server.house_plan.following import topic
from sync_server.plumbing.bus import Listener, Note
from sync_server.plumbing.logs import LOG
from sync_server.plumbing.parts import Parts

EVERY_S: Final = 0.1


class Ear:
    """One small question for all readers, ten times a second and only while there are any."""

    def __init__(self, parts: Parts) -> None:
        """Nobody reads yet."""
        self._parts = parts
        self._turn = threading.Lock()
        self._read: Counter[str] = Counter()  # how many readers an event has
        self._heard: dict[str, int] = {}

    @contextmanager
    def listening(self, event_id: str) -> Iterator[Listener]:
        """Hear of an event's map, for the time of a block."""
        with self._turn:
            self._read[event_id] += 1
        try:
            with self._parts.bus.listen([topic(event_id)]) as listener:
                yield listener
        finally:
            with self._turn:
                self._read[event_id] -= 1
                if not self._read[event_id]:
                    del self._read[event_id]
                    self._heard.pop(event_id, None)

    def run(self, stop: threading.Event) -> None:
        """Until the stop; not at all where the bus itself reaches every process."""
        if self._parts.config.embedded or self._parts.config.redis_url is not None:
            return
        while not stop.wait(EVERY_S):
            try:
                self.run_once()
            except SQLAlchemyError as problem:  # readers look by themselves now and then
                LOG.warning("maps_not_heard", problem=type(problem).__name__)
                stop.wait(1)

    def run_once(self) -> int:
        """Tell the readers of houses that have come further; how many those were."""
        with self._turn:
            read = [*self._read]
        if not read:
            return 0
        with self._parts.database.glancing() as session:
            versions = queries.versions(session, read)
        with self._turn:
            news = [event for event, version in versions.items() if self._heard.get(event, -1) != version]
            self._heard.update(versions)
        self._parts.bus.tell_all([Note(topic(event_id), {}) for event_id in news])
        return len(news)
