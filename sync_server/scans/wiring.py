"""Gives the worker what scans want done every so often."""

from __future__ import annotations

from sync_server.plumbing.parts import Parts
from sync_server.plumbing.work import Job
from sync_server.scans.capacity import CapacityWatch

LOOK_EVERY_MS = 10_000


def wire(parts: Parts) -> None:
    """Look for crowds beyond capacity."""
    parts.jobs.append(Job("scans.over_capacity", LOOK_EVERY_MS, CapacityWatch().run))
