"""The log line of a change, as its fact's row in the catalogue says: who did what, and why; never a name or an address.

What the worker delivers is logged there (`monitoring/fact_log.py`); who made a change is known only where it is made.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from sqlalchemy.orm import Session

from sync_server.outbox.catalogue import kind_of
from sync_server.plumbing.database import after_commit
from sync_server.plumbing.jobs import LOG_SUBJECTS
from sync_server.plumbing.requests.principals import ActionContext
from sync_server.plumbing.telemetry.logs import LOG


def log_change(session: Session, context: ActionContext, fact: Any) -> None:
    """Log one line after the commit, where the catalogue names fields for it."""
    wanted = kind_of(fact.name).told
    if not wanted:
        return
    before, after = fact.payload.get("before") or {}, fact.payload.get("after") or {}
    known = {**after, "reason": fact.payload.get("reason")}
    if "status" in after:
        known |= {"old_status": before.get("status"), "new_status": after["status"]}
    ids = {field: fact.subjects[name] for name, field in LOG_SUBJECTS.items() if name in fact.subjects}
    actor = {"actor": context.actor.kind, "actor_id": context.actor.id, "request_id": context.actor.request_id}
    fields = {name: known[name] for name in wanted if name in known and (name != "reason" or known[name])}
    line = {"organisation_id": fact.organisation_id, **ids, **actor, **fields}
    after_commit(session, partial(LOG.info, fact.name, **line))
