"""Lets the worker forget guests."""

from __future__ import annotations

from sync_server.customers import service
from sync_server.plumbing.parts import Parts
from sync_server.plumbing.work import Job


def wire(parts: Parts) -> None:
    """One job, every minute."""
    parts.jobs.append(Job("customers.forget", 60_000, lambda session, deed: service.forget(session, deed.now)))
