"""The numbers an operator watches, in the form Prometheus reads."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest


class Metrics:
    """One registry per application, so that two in one process do not mix."""

    def __init__(self) -> None:
        """Name the measures; nothing is started."""
        self.registry = CollectorRegistry()
        self.requests = Counter(
            "gatehouse_http_requests", "Requests answered", ["method", "route", "status"], registry=self.registry
        )
        self.seconds = Histogram(
            "gatehouse_http_request_seconds", "Time to answer", ["method", "route"], registry=self.registry
        )
        self.facts_waiting = Gauge("gatehouse_outbox_waiting", "Facts not delivered yet", registry=self.registry)
        self.facts_dead = Gauge("gatehouse_outbox_dead", "Facts laid aside after failing", registry=self.registry)
        self.facts_unrouted = Counter("gatehouse_outbox_unrouted", "Facts no queue wanted", registry=self.registry)
        self.facts_delivered = Counter("gatehouse_outbox_delivered", "Facts delivered", registry=self.registry)
        self.facts_failed = Counter("gatehouse_outbox_failed", "Deliveries that failed", registry=self.registry)

        self.joins_taken = Counter(
            "gatehouse_joins_taken", "Messages about joins elsewhere", ["outcome"], registry=self.registry
        )
        self.cache_lookups = Counter(
            "gatehouse_cache_lookups", "Look-ups that a cache answered, or did not", ["tier", "known"],
            registry=self.registry,
        )  # fmt: skip

    def count_lookup(self, tier: str, known: bool) -> None:
        """One look-up in a cache, near or far."""
        self.cache_lookups.labels(tier, "yes" if known else "no").inc()

    def text(self) -> bytes:
        """All measures as Prometheus reads them."""
        return generate_latest(self.registry)
