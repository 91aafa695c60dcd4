"""The Prometheus metrics of a process."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector, generate_latest

CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
METHODS: Final = frozenset({"GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE"})


def known_method(method: str) -> str:
    """The method, or `other`: clients invent them, and each value of a label is kept for ever."""
    return method if method in METHODS else "other"


class Metrics:
    """The metrics, in a registry of each application, so that two in one process do not mix."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        ProcessCollector(registry=self.registry)
        self.before_scrape: list[Callable[[], None]] = []  # packages update their gauges here
        self.requests = Counter(
            "gatehouse_http_requests", "HTTP requests", ["method", "route", "status"], registry=self.registry
        )
        self.seconds = Histogram(
            "gatehouse_http_request_seconds", "Time to respond", ["method", "route"], registry=self.registry
        )
        # Finding a labelled metric costs as much as counting; there are as many as routes.
        self._requests: dict[tuple[str, str, int], tuple[Counter, Histogram]] = {}
        self.slow_searches = Counter(
            "gatehouse_slow_searches", "Searches that took longer than half a second", ["route"], registry=self.registry
        )
        self.streams_open = Gauge(
            "gatehouse_streams_open", "Streams and long polls held open", ["kind"], registry=self.registry
        )
        self.connections = Gauge(
            "gatehouse_database_connections",
            "Connections of the pool: in use, and the most there may be",
            ["state"],
            registry=self.registry,
        )
        self.autocommit_connections = Gauge(
            "gatehouse_autocommit_connections",
            "Connections for holds and maps, on PostgreSQL: in use, the most there may be, and statements that wait",
            ["state"],
            registry=self.registry,
        )
        self.oldest_fact = Gauge(
            "gatehouse_outbox_oldest_seconds",
            "Age of the oldest fact that has not been relayed",
            registry=self.registry,
        )
        self.facts_waiting = Gauge("gatehouse_outbox_waiting", "Facts not delivered yet", registry=self.registry)
        self.facts_dead = Gauge("gatehouse_outbox_dead", "Facts quarantined after failing", registry=self.registry)
        self.facts_unrouted = Counter(
            "gatehouse_outbox_unrouted", "Facts that no queue was bound for", registry=self.registry
        )
        self.facts_delivered = Counter("gatehouse_outbox_delivered", "Facts delivered", registry=self.registry)
        self.facts_failed = Counter("gatehouse_outbox_failed", "Deliveries that failed", registry=self.registry)

        self.event_changes = Counter(
            "gatehouse_event_changes", "Event changes made by this process", ["fact"], registry=self.registry
        )
        self.layout_seconds = Histogram(
            "gatehouse_layout_load_seconds",
            "Time to load an event's seating",
            registry=self.registry,
            buckets=(0.005, 0.01, 0.025, 0.05, 0.1, 0.2, 0.5, 1, 2, 5),
        )
        self.job_seconds = Histogram(
            "gatehouse_job_seconds",
            "Time that a periodic job of the worker took",
            ["job"],
            registry=self.registry,
            buckets=(0.01, 0.05, 0.2, 1, 5, 20, 60),
        )
        self.redis_seconds = Histogram(
            "gatehouse_redis_seconds",
            "Time until Redis responded",
            registry=self.registry,
            buckets=(0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5),
        )
        self.joins_taken = Counter(
            "gatehouse_joins_taken", "Messages about events joined elsewhere", ["outcome"], registry=self.registry
        )
        self.cache_lookups = Counter(
            "gatehouse_cache_lookups",
            "Cache lookups, by tier and whether they were hits",
            ["tier", "known"],
            registry=self.registry,
        )

    def count_lookup(self, tier: str, known: bool) -> None:
        """Count a cache lookup: tier near, far, or houses (event seatings)."""
        self.cache_lookups.labels(tier, "yes" if known else "no").inc()

    def observe_request(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count a request and its duration. No argument is what a client wrote."""
        labelled = self._requests.get((method, route, status))
        if labelled is None:
            labelled = self.requests.labels(method, route, status), self.seconds.labels(method, route)
            self._requests[method, route, status] = labelled
        labelled[0].inc()
        labelled[1].observe(seconds)

    def text(self) -> bytes:
        """All metrics in the text format."""
        for update in self.before_scrape:
            update()
        return generate_latest(self.registry)
