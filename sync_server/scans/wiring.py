"""Registers the worker's job for scans."""

from __future__ import annotations

from sync_server.plumbing.jobs import HeavyJob
from sync_server.plumbing.parts import Parts
from sync_server.scans.crowds.watch import CapacityWatch

CHECK_EVERY_MS = 10_000


def wire(parts: Parts) -> None:
    watch = CapacityWatch()
    parts.jobs.append(HeavyJob("scans.over_capacity", CHECK_EVERY_MS, watch.run, watch.anything_moved, CHECK_EVERY_MS))
