"""Names the event that replaces a postponed or cancelled one."""

from __future__ import annotations

from sqlalchemy.orm import Session

from shared.errors import Conflict
from shared.lifecycle import EventStatus
from sync_server.accounts.service import lock_organisation
from sync_server.events import queries, rules
from sync_server.events.lifecycle import status
from sync_server.events.models import EventRecord
from sync_server.events.service import record_change
from sync_server.plumbing.requests.principals import ActionContext


def replace(
    session: Session, organisation_id: str, event_id: str, by: str | None, context: ActionContext, *, reason: str = ""
) -> EventRecord:
    """Link a postponed or cancelled event to its replacement, or remove the link.

    Conflict for a link that would close a cycle; NotFound for an event of another organisation.
    """
    lock_organisation(session, organisation_id)  # two concurrent links could close a cycle
    row = queries.event(session, organisation_id, event_id, lock=True)
    rules.check_replaceable(EventStatus(row.status))
    if by is not None:
        _check_no_cycle(session, organisation_id, row.id, by)
    before = {"replaced_by_event_id": row.replaced_by_event_id}
    row.replaced_by_event_id, row.updated_at = by, context.now
    session.flush()
    record_change(
        session, row, "event_replaced", context, before=before, after={"replaced_by_event_id": by}, reason=reason
    )
    return row


def change_status(
    session: Session,
    organisation_id: str,
    event_id: str,
    target: EventStatus,
    context: ActionContext,
    *,
    reason: str,
    by: str | None,
) -> EventRecord:
    """Move an event to another status and, if `by` is given, name the event that replaces it."""
    if by is not None:
        lock_organisation(session, organisation_id)  # before the event: same lock order everywhere
    row = status.change_status(session, organisation_id, event_id, target, context, reason=reason)
    return row if by is None else replace(session, organisation_id, event_id, by, context, reason=reason)


def _check_no_cycle(session: Session, organisation_id: str, event_id: str, by: str) -> None:
    next_id: str | None = by
    while next_id is not None:
        if next_id == event_id:
            raise Conflict(
                "An event cannot replace itself, directly or through other events.", code="replacement_in_a_circle"
            )
        next_id = queries.event(session, organisation_id, next_id).replaced_by_event_id
