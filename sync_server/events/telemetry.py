"""Log lines about changes of events: who did what to which event, and why; never a name or an address."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from sqlalchemy.orm import Session

from sync_server.events.models import EventRecord
from sync_server.plumbing.database import after_commit
from sync_server.plumbing.logs import LOG
from sync_server.plumbing.principals import ActionContext

_TIMES = ("start_at", "end_at", "rescheduled_at", "go_live_at", "end_at_auto")


def log_change(
    session: Session,
    event: EventRecord,
    name: str,
    context: ActionContext,
    *,
    before: Mapping[str, Any] | None,
    after: Mapping[str, Any] | None,
    reason: str,
) -> None:
    """Log one line after the commit."""
    old, new = before or {}, after or {}
    fields: dict[str, Any] = {
        "event_id": event.id,
        "venue_id": event.venue_id,
        "organisation_id": event.organisation_id,
        "actor": context.actor.kind,
        "actor_id": context.actor.id,
        "request_id": context.actor.request_id,
    }
    if "status" in new:
        fields |= {"old_status": old.get("status"), "new_status": new["status"]}
    fields |= {name: new[name] for name in _TIMES if name in new}
    fields |= {"reason": reason} if reason else {}
    after_commit(session, partial(LOG.info, name, **fields))
