"""The numbers an operator watches, in the form Prometheus reads."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector, generate_latest

CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"


class Metrics:
    """One registry per application, so that two in one process do not mix."""

    def __init__(self) -> None:
        """Name the measures; nothing is started."""
        self.registry = CollectorRegistry()
        ProcessCollector(registry=self.registry)
        self.before_reading: list[Callable[[], None]] = []  # rooms look up here what is only known when it is asked for
        self.requests = Counter(
            "gatehouse_http_requests", "Requests answered", ["method", "route", "status"], registry=self.registry
        )
        self.seconds = Histogram(
            "gatehouse_http_request_seconds", "Time to answer", ["method", "route"], registry=self.registry
        )
        # To find the measure of a request by its labels costs as much as to count it; there are as many as routes.
        self._requests: dict[tuple[str, str, int], tuple[Counter, Histogram]] = {}
        self.facts_waiting = Gauge("gatehouse_outbox_waiting", "Facts not delivered yet", registry=self.registry)
        self.facts_dead = Gauge("gatehouse_outbox_dead", "Facts laid aside after failing", registry=self.registry)
        self.facts_unrouted = Counter("gatehouse_outbox_unrouted", "Facts no queue wanted", registry=self.registry)
        self.facts_delivered = Counter("gatehouse_outbox_delivered", "Facts delivered", registry=self.registry)
        self.facts_failed = Counter("gatehouse_outbox_failed", "Deliveries that failed", registry=self.registry)

        self.event_changes = Counter(
            "gatehouse_event_changes", "Changes of events in this process", ["fact"], registry=self.registry
        )
        self.layout_seconds = Histogram(
            "gatehouse_layout_load_seconds",
            "Time to have an event's house ready",
            registry=self.registry,
            buckets=(0.005, 0.01, 0.025, 0.05, 0.1, 0.2, 0.5, 1, 2, 5),
        )
        self.redis_seconds = Histogram(
            "gatehouse_redis_seconds",
            "Time until Redis had answered",
            registry=self.registry,
            buckets=(0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5),
        )
        self.joins_taken = Counter(
            "gatehouse_joins_taken", "Messages about joins elsewhere", ["outcome"], registry=self.registry
        )
        self.cache_lookups = Counter(
            "gatehouse_cache_lookups",
            "Look-ups that a cache answered, or did not",
            ["tier", "known"],
            registry=self.registry,
        )
        self.seatmap_corrections = Counter(
            "gatehouse_seatmap_corrections",
            "Seats and places of which open maps had missed a change",
            registry=self.registry,
        )

    def count_lookup(self, tier: str, known: bool) -> None:
        """One look-up: near, far, or among the houses that a process keeps ready."""
        self.cache_lookups.labels(tier, "yes" if known else "no").inc()

    def answered(self, method: str, route: str, status: int, seconds: float) -> None:
        """One request was answered."""
        measures = self._requests.get((method, route, status))
        if measures is None:
            measures = self.requests.labels(method, route, status), self.seconds.labels(method, route)
            self._requests[method, route, status] = measures
        measures[0].inc()
        measures[1].observe(seconds)

    def text(self) -> bytes:
        """All measures as Prometheus reads them."""
        for look in self.before_reading:
            look()
        return generate_latest(self.registry)
