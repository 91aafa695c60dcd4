"""Frees the slots of checkout sessions that have run out; several workers may do it at once."""

from __future__ import annotations

from typing import Final

from sqlalchemy import ColumnElement, select, text
from sqlalchemy.orm import Session

from shared.clock import Millis
from sync_server.checkout.models import CheckoutSessionRow
from sync_server.checkout.sessions import entering
from sync_server.plumbing.due import next_due, organisations_due
from sync_server.plumbing.event_key import EventKey
from sync_server.plumbing.jobs import Job
from sync_server.plumbing.requests.principals import ActionContext

EVERY_MS: Final = 60_000
"""Nobody waits for it: whoever enters frees what has run out. It keeps figures and the table right."""
_OPEN: Final = CheckoutSessionRow.state == text("'open'")
"""As literal text, to match the partial index."""


def job() -> Job:
    """The job; doing it twice changes nothing."""
    at = CheckoutSessionRow.expires_at
    return Job("checkout.sessions", EVERY_MS, _free, lambda session, _now: next_due(session, at, _OPEN))


def _due(now: Millis) -> tuple[ColumnElement[bool], ...]:
    return _OPEN, CheckoutSessionRow.expires_at <= now


def _free(session: Session, context: ActionContext) -> None:
    row = CheckoutSessionRow
    for organisation_id in organisations_due(session, row.organisation_id, *_due(context.now)):
        here = select(row.event_id).where(row.organisation_id == organisation_id, *_due(context.now)).distinct()
        for event_id in sorted(session.execute(here).scalars()):
            entering.expire(session, EventKey(organisation_id, event_id), context.now)
