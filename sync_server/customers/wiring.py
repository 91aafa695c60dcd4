"""Registers the periodic job that deletes what has ended: guests, sessions and links of customers."""

from __future__ import annotations

from sqlalchemy.orm import Session

from sync_server.customers import service
from sync_server.customers.logins import links, sessions
from sync_server.plumbing.jobs import Job
from sync_server.plumbing.parts import Parts
from sync_server.plumbing.requests.principals import ActionContext


def wire(parts: Parts) -> None:
    """Register the job."""
    parts.jobs.append(Job("customers.forget", 60_000, _forget))


def _forget(session: Session, context: ActionContext) -> None:
    for delete_ended in (service.delete_expired, sessions.delete_expired, links.delete_ended):
        delete_ended(session, context.now)
