"""Adds the worker's checks, the log of facts, and the gauges that are queried on each scrape."""

from __future__ import annotations

from sync_server.monitoring.fact_log import fact_logger
from sync_server.monitoring.gauges import Gauges
from sync_server.monitoring.scheduled_checks import jobs
from sync_server.plumbing.parts import Parts


def wire(parts: Parts) -> None:
    """Register them with the parts."""
    parts.jobs.extend(jobs(parts))
    parts.subscribers.append(fact_logger(parts))
    if parts.backends.connection is not None:
        parts.backends.connection.took = parts.metrics.redis_seconds.observe
    parts.metrics.before_scrape.append(Gauges(parts).measure)
