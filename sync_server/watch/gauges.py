"""Counts what is the matter whenever the measures are read, in whichever process that is."""

from __future__ import annotations

import threading
from collections import Counter
from typing import Final

from prometheus_client import Gauge
from sqlalchemy.exc import SQLAlchemyError

from sync_server.outbox import queries as outbox
from sync_server.plumbing.logs import LOG
from sync_server.plumbing.parts import Parts
from sync_server.seating.figures import BOUNDS
from sync_server.watch import queries, service
from sync_server.watch.rules import Kind
from sync_server.watch.telling import ALERTS

NOT_MORE_OFTEN_NS: Final = 5_000_000_000
"""The measures are open to whoever reaches them: reading them often must not cost the database much."""


class Gauges:
    """The measures that are looked up in the database when they are read."""

    def __init__(self, parts: Parts) -> None:
        """Looks at nothing yet."""
        registry = parts.metrics.registry
        self._parts, self._turn, self._looked = parts, threading.Lock(), -NOT_MORE_OFTEN_NS
        self._alerts = Gauge("gatehouse_alerts", "Things somebody must look at", ["kind"], registry=registry)
        self._checked = Gauge(
            "gatehouse_nightly_check_seconds",
            "When the nightly check ran last, in seconds since 1970; 0: never",
            registry=registry,
        )
        self._told = Gauge(
            "gatehouse_alerts_looked_seconds",
            "When a worker looked for alerts last, in seconds since 1970; 0: never",
            registry=registry,
        )
        self._houses = Gauge(
            "gatehouse_houses_out_of_bounds",
            "Events of which this figure is out of bounds",
            ["figure"],
            registry=registry,
        )

    def measure(self) -> None:
        """Look, unless somebody has just done so; without a database the old figures stand."""
        with self._turn:
            now = self._parts.monotonic()
            if now - self._looked < NOT_MORE_OFTEN_NS:
                return
            self._looked = now
            try:
                self._look()
            except SQLAlchemyError as problem:
                LOG.warning("not_measured", problem=type(problem).__name__)

    def _look(self) -> None:
        now, metrics = self._parts.clock(), self._parts.metrics
        with self._parts.database.reading() as session:
            alerts, houses = queries.of_all(session, now), queries.out_of_bounds(session)
            times = queries.last_check(session, service.WRONG_TIMES)
            nightly, told = (queries.last_check(session, name) for name in (service.NIGHTLY, ALERTS))
            metrics.facts_waiting.set(outbox.waiting(session))
            metrics.facts_dead.set(outbox.dead(session))
        events = Counter(alert.kind for alert in alerts if alert.event_id)
        platform = {alert.kind: alert.count for alert in alerts if not alert.event_id}
        for kind in Kind:
            self._alerts.labels(kind.value).set(events[kind] + platform.get(kind, 0))
        self._alerts.labels(Kind.TIMES_IN_WRONG_ORDER.value).set(times.findings if times else 0)
        self._checked.set(nightly.ran_at / 1000 if nightly else 0)
        self._told.set(told.ran_at / 1000 if told else 0)
        for figure in BOUNDS:
            self._houses.labels(figure).set(houses.get(figure, 0))
