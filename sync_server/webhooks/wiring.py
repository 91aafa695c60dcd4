"""Lets webhooks hear of facts, and cleans their log."""

from __future__ import annotations

from sync_server.plumbing.jobs import Job
from sync_server.plumbing.parts import Parts
from sync_server.webhooks import service
from sync_server.webhooks.enqueuing import subscriber
from sync_server.webhooks.outgoing import share


def wire(parts: Parts) -> None:
    """Register the subscriber and the job."""
    share(parts)
    parts.subscribers.append(subscriber())
    parts.jobs.append(Job("webhooks.forget_messages", 600_000, service.delete_old))
