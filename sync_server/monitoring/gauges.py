"""Gauges that are queried from the database when metrics are scraped, in whichever process."""

from __future__ import annotations

import threading
from collections import Counter
from typing import Final

from prometheus_client import Gauge
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.pool import QueuePool

from sync_server.checkout import queries as checkout
from sync_server.checkout.sessions import queries as checkout_sessions
from sync_server.monitoring import queries, service
from sync_server.monitoring.alert_log import ALERTS
from sync_server.monitoring.gate_lag import gate_lag
from sync_server.monitoring.rules import AlertKind
from sync_server.outbox import queries as outbox
from sync_server.plumbing.parts import Parts
from sync_server.plumbing.telemetry.logs import LOG
from sync_server.seating.figures import BOUNDS
from sync_server.webhooks import queries as webhooks

MIN_INTERVAL_NS: Final = 5_000_000_000
"""Anybody who reaches the metrics may scrape them: frequent scrapes must not load the database."""


class Gauges:
    """Alerts, checks and outbox, as gauges."""

    def __init__(self, parts: Parts) -> None:
        registry = parts.metrics.registry
        self._parts, self._lock, self._measured_at = parts, threading.Lock(), -MIN_INTERVAL_NS
        self._alerts = Gauge("gatehouse_alerts", "Open alerts", ["kind"], registry=registry)
        self._nightly_checked = Gauge(
            "gatehouse_nightly_check_seconds",
            "When the nightly check last ran, as a Unix time; 0: never",
            registry=registry,
        )
        self._alerts_checked = Gauge(
            "gatehouse_alerts_looked_seconds",
            "When a worker last checked for alerts, as a Unix time; 0: never",
            registry=registry,
        )
        self._seating = Gauge(
            "gatehouse_houses_out_of_bounds",
            "Events for which this figure is out of bounds",
            ["figure"],
            registry=registry,
        )

        self._webhooks_waiting = Gauge(
            "gatehouse_webhook_waiting", "Messages that wait for a webhook that is not paused", registry=registry
        )
        self._in_checkout = Gauge(
            "gatehouse_checkout_sessions_open", "Checkout sessions that are open", registry=registry
        )
        self._orders_pending = Gauge("gatehouse_orders_pending", "Orders that wait to be paid", registry=registry)

        self._gates_undelivered = Gauge(
            "gatehouse_gates_undelivered_seconds",
            "How long ago a gate last delivered scans that says it has more; of the gate with the longest time",
            registry=registry,
        )
        self._gates_behind = Gauge(
            "gatehouse_gates_behind_revisions",
            "Changes of an event that a gate has not fetched; of the gate with the most",
            registry=registry,
        )

    def measure(self) -> None:
        """Update the gauges, at most every few seconds; without a database they keep their values."""
        self._count_connections()
        with self._lock:
            now = self._parts.monotonic()
            if now - self._measured_at < MIN_INTERVAL_NS:
                return
            self._measured_at = now
            try:
                self._update()
            except SQLAlchemyError as problem:
                LOG.warning("not_measured", problem=type(problem).__name__)

    def _count_connections(self) -> None:
        """Of the pool that all but holds use; asked of the process itself, so that it works without a database."""
        pool, states = self._parts.database.engine.pool, self._parts.metrics.connections
        if isinstance(pool, QueuePool):
            states.labels("in_use").set(pool.checkedout())
            states.labels("most").set(pool.size() + max(0, pool._max_overflow))
        if self._parts.database.autocommit is not None:
            for state, count in self._parts.database.autocommit.use().items():
                self._parts.metrics.autocommit_connections.labels(state).set(count)

    def _update(self) -> None:
        now, metrics = self._parts.clock(), self._parts.metrics
        with self._parts.database.reading() as session:
            alerts, seating = queries.all_alerts(session, now), queries.out_of_bounds(session)
            times = queries.last_check(session, service.WRONG_TIMES)
            nightly, alert_check = (queries.last_check(session, name) for name in (service.NIGHTLY, ALERTS))
            metrics.facts_waiting.set(outbox.pending_count(session))
            oldest = outbox.oldest_unrelayed(session)
            metrics.oldest_fact.set(0 if oldest is None else max(0, now - oldest) / 1000)
            metrics.facts_dead.set(outbox.dead_count(session))
            self._webhooks_waiting.set(webhooks.count_waiting(session))
            self._in_checkout.set(checkout_sessions.count_all_open(session, now))
            self._orders_pending.set(checkout.count_pending(session))
            lag = gate_lag(session, now)
        self._gates_undelivered.set(lag.undelivered_ms / 1000)
        self._gates_behind.set(lag.revisions)
        events = Counter(alert.kind for alert in alerts if alert.event_id)
        others = Counter[AlertKind]()
        for alert in alerts:
            others[alert.kind] += 0 if alert.event_id else alert.count
        for kind in AlertKind:
            self._alerts.labels(kind.value).set(events[kind] + others[kind])
        self._alerts.labels(AlertKind.TIMES_IN_WRONG_ORDER.value).set(times.findings if times else 0)
        self._nightly_checked.set(nightly.ran_at / 1000 if nightly else 0)
        self._alerts_checked.set(alert_check.ran_at / 1000 if alert_check else 0)
        for figure in BOUNDS:
            self._seating.labels(figure).set(seating.get(figure, 0))
