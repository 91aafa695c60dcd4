"""Registers the periodic job that deletes old guests."""

from __future__ import annotations

from sync_server.customers import service
from sync_server.plumbing.jobs import Job
from sync_server.plumbing.parts import Parts


def wire(parts: Parts) -> None:
    parts.jobs.append(
        Job("customers.forget", 60_000, lambda session, context: service.delete_expired(session, context.now))
    )
