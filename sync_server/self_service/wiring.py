"""Registers the periodic job that ends offers of tickets which nobody has accepted."""

from __future__ import annotations

from sync_server.plumbing.jobs import Job
from sync_server.plumbing.parts import Parts
from sync_server.self_service import transfers


def wire(parts: Parts) -> None:
    """Register the job."""
    parts.jobs.append(Job("transfers.lapse", 60_000, lambda session, context: transfers.lapse(session, context.now)))
