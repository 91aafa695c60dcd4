"""Lets the worker make the rounds and log what facts tell, and the measures count alerts when they are read."""

from __future__ import annotations

from sync_server.plumbing.parts import Parts
from sync_server.watch.chronicle import chronicler
from sync_server.watch.gauges import Gauges
from sync_server.watch.rounds import jobs


def wire(parts: Parts) -> None:
    """Add the jobs, the log of facts and the gauges."""
    parts.jobs.extend(jobs())
    parts.announcers.append(chronicler(parts))
    if parts.nearby.line is not None:
        parts.nearby.line.took = parts.metrics.redis_seconds.observe
    parts.metrics.before_reading.append(Gauges(parts).measure)
