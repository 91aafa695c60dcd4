"""Prometheus metrics of holds: attempts by outcome, retries, and how many holds there are now."""

from __future__ import annotations

import threading
from typing import Final

from prometheus_client import Counter, Gauge
from sqlalchemy.exc import SQLAlchemyError

from sync_server.holds import queries
from sync_server.plumbing.parts import Parts
from sync_server.plumbing.telemetry.logs import LOG

MIN_INTERVAL_NS: Final = 5_000_000_000
"""Anyone who reaches /metrics can scrape it: that must not cost the database much."""


class HoldMetrics:
    """Attempts are counted as they happen; the number of holds is read from the tables at each scrape."""

    def __init__(self, parts: Parts) -> None:
        registry = parts.metrics.registry
        self._parts, self._lock, self._refreshed = parts, threading.Lock(), -MIN_INTERVAL_NS
        self._attempts = Counter("gatehouse_hold_tries", "Attempts to hold, by outcome", ["outcome"], registry=registry)
        # Finding a labelled metric costs as much as counting.
        self._by_outcome: dict[str, Counter] = {}
        self.retries = Counter(
            "gatehouse_hold_retries", "Attempts retried because someone else was quicker", registry=registry
        )
        self._singles = Counter(
            "gatehouse_single_seats_left", "Seats that holds have left single", ["reason"], registry=registry
        )
        self._active = Gauge("gatehouse_holds_active", "Holds that have not run out", registry=registry)
        self._overdue = Gauge("gatehouse_holds_overdue", "Holds that ran out but are not ended yet", registry=registry)
        parts.metrics.before_scrape.append(self.refresh)

    def count_attempt(self, outcome: str) -> None:
        """Count a response: `held`, `held_already`, or the code of a refusal."""
        counter = self._by_outcome.get(outcome)
        if counter is None:
            counter = self._by_outcome.setdefault(outcome, self._attempts.labels(outcome))
        counter.inc()

    def count_singles(self, seats: int, reason: str) -> None:
        """Count seats that a hold has left single, by why that was allowed."""
        self._singles.labels(reason).inc(seats)

    def forget(self) -> None:
        """Read the tables at the next scrape, however soon it comes."""
        with self._lock:
            self._refreshed = -MIN_INTERVAL_NS

    def refresh(self) -> None:
        """Read the tables, at most once in five seconds; without a database the old figures stand."""
        with self._lock:
            now = self._parts.monotonic()
            if now - self._refreshed < MIN_INTERVAL_NS:
                return
            self._refreshed = now
            try:
                with self._parts.database.reading() as session:
                    active, overdue = queries.count_active_and_overdue(session, self._parts.clock())
            except SQLAlchemyError as problem:
                LOG.warning("holds_not_measured", problem=type(problem).__name__)
                return
        self._active.set(active)
        self._overdue.set(overdue)
