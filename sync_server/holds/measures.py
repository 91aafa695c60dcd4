"""Measures of holds for operators: what came of tries, how often others were quicker, and how many there are now."""

from __future__ import annotations

import threading
from typing import Final

from prometheus_client import Counter, Gauge
from sqlalchemy.exc import SQLAlchemyError

from sync_server.holds import queries
from sync_server.plumbing.logs import LOG
from sync_server.plumbing.parts import Parts

NOT_MORE_OFTEN_NS: Final = 5_000_000_000
"""The measures are open to whoever reaches them: reading them often must not cost the database much."""


class Measures:
    """Counted in the process that acts; what only the tables know is looked up when the measures are read."""

    def __init__(self, parts: Parts) -> None:
        """Counts nothing and looks at nothing yet."""
        registry = parts.metrics.registry
        self._parts, self._turn, self._looked = parts, threading.Lock(), -NOT_MORE_OFTEN_NS
        self._tries = Counter(
            "gatehouse_hold_tries", "Tries to hold, by what came of them", ["outcome"], registry=registry
        )
        self.retries = Counter("gatehouse_hold_retries", "Tries begun anew: others were quicker", registry=registry)
        self._active = Gauge("gatehouse_holds_active", "Holds that are not over", registry=registry)
        self._overdue = Gauge("gatehouse_holds_overdue", "Holds that are over, but not ended yet", registry=registry)
        parts.metrics.before_reading.append(self.look)

    def tried(self, outcome: str) -> None:
        """A request to hold was answered: `held`, `held_already`, or the code word of a refusal."""
        self._tries.labels(outcome).inc()

    def forget(self) -> None:
        """Look anew at the next reading, however soon it comes."""
        with self._turn:
            self._looked = -NOT_MORE_OFTEN_NS

    def look(self) -> None:
        """Look at the tables, unless somebody has just done so; without a database the old figures stand."""
        with self._turn:
            now = self._parts.monotonic()
            if now - self._looked < NOT_MORE_OFTEN_NS:
                return
            self._looked = now
            try:
                with self._parts.database.reading() as session:
                    active, overdue = queries.good_and_over(session, self._parts.clock())
            except SQLAlchemyError as problem:
                LOG.warning("holds_not_measured", problem=type(problem).__name__)
                return
        self._active.set(active)
        self._overdue.set(overdue)
