"""Lets the worker make the rounds, and the measures count alerts when they are read."""

from __future__ import annotations

from sync_server.plumbing.parts import Parts
from sync_server.watch.gauges import Gauges
from sync_server.watch.rounds import jobs


def wire(parts: Parts) -> None:
    """Add the jobs and the gauges."""
    parts.jobs.extend(jobs())
    parts.metrics.before_reading.append(Gauges(parts).measure)
