"""Tells open maps of this process about new versions from other processes, where no Redis does it."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from sqlalchemy.exc import SQLAlchemyError

from sync_server.plumbing.logs import LOG
from sync_server.plumbing.messaging.bus import Listener, Notification
from sync_server.plumbing.parts import Parts
from sync_server.seat_maps import queries
from sync_server.seat_maps.event_handlers import topic

INTERVAL_S: Final = 0.1


class VersionPoller:
    """One small query for all readers, ten times a second and only while there are any."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._lock = threading.Lock()
        self._readers: Counter[str] = Counter()  # by event
        self._versions: dict[str, int] = {}

    @contextmanager
    def listening(self, event_id: str) -> Iterator[Listener]:
        """Listen for new versions of an event's map, for the time of a block."""
        with self._lock:
            self._readers[event_id] += 1
        try:
            with self._parts.bus.listen([topic(event_id)]) as listener:
                yield listener
        finally:
            with self._lock:
                self._readers[event_id] -= 1
                if not self._readers[event_id]:
                    del self._readers[event_id]
                    self._versions.pop(event_id, None)

    def run(self, stop: threading.Event) -> None:
        """Poll until `stop`; return at once where the bus itself reaches every process."""
        if self._parts.config.embedded or self._parts.config.redis_url is not None:
            return
        while not stop.wait(INTERVAL_S):
            try:
                self.run_once()
            except SQLAlchemyError as problem:  # readers also look by themselves now and then
                LOG.warning("maps_not_heard", problem=type(problem).__name__)
                stop.wait(1)

    def run_once(self) -> int:
        """Notify the readers of maps with a new version; the number of those maps."""
        with self._lock:
            events = [*self._readers]
        if not events:
            return 0
        with self._parts.database.autocommit_reading() as session:
            versions = queries.versions(session, events)
        with self._lock:
            changed = [event for event, version in versions.items() if self._versions.get(event, -1) != version]
            self._versions.update(versions)
        self._parts.bus.publish_all([Notification(topic(event_id), {}) for event_id in changed])
        return len(changed)
