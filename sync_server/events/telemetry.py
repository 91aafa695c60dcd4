"""What the log says of an event's life: who did what to which event, and why; never a name or an address."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from sqlalchemy.orm import Session

from sync_server.events.models import EventRecord
from sync_server.plumbing.database import after_commit
from sync_server.plumbing.logs import LOG
from sync_server.plumbing.principals import Deed

_TIMES = ("start_at", "end_at", "rescheduled_at", "go_live_at", "end_at_auto")


def note(
    session: Session,
    event: EventRecord,
    name: str,
    deed: Deed,
    *,
    before: Mapping[str, Any] | None,
    after: Mapping[str, Any] | None,
    reason: str,
) -> None:
    """One line once the change is committed, and none where it is not."""
    was, now_is = before or {}, after or {}
    told: dict[str, Any] = {
        "event_id": event.id,
        "venue_id": event.venue_id,
        "organisation_id": event.organisation_id,
        "actor": deed.actor.kind,
        "actor_id": deed.actor.id,
        "request_id": deed.actor.request_id,
    }
    if "status" in now_is:
        told |= {"old_status": was.get("status"), "new_status": now_is["status"]}
    told |= {field: now_is[field] for field in _TIMES if field in now_is}
    words = {"reason": reason} if reason else {}
    after_commit(session, partial(LOG.info, name, **told, **words))
