"""Says which event takes place instead of one that was called off."""

from __future__ import annotations

from sqlalchemy.orm import Session

from shared.errors import Conflict
from shared.lifecycle import EventStatus
from sync_server.accounts.service import lock_organisation
from sync_server.events import queries, rules
from sync_server.events.models import EventRecord
from sync_server.events.service import tell
from sync_server.events.status import walk
from sync_server.plumbing.principals import Deed


def replace(
    session: Session, organisation_id: str, event_id: str, by: str | None, deed: Deed, *, reason: str = ""
) -> EventRecord:
    """Point a postponed or cancelled event at the one that takes its place; None: at none.

    Never at itself, in a circle, or at an event of somebody else (that answers as one that does not exist).
    """
    lock_organisation(session, organisation_id)  # two links made at once could close a circle
    row = queries.event(session, organisation_id, event_id, lock=True)
    rules.check_replaceable(EventStatus(row.status))
    if by is not None:
        _check_line(session, organisation_id, row.id, by)
    before = {"replaced_by_event_id": row.replaced_by_event_id}
    row.replaced_by_event_id, row.updated_at = by, deed.now
    session.flush()
    tell(session, row, "event_replaced", deed, before=before, after={"replaced_by_event_id": by}, reason=reason)
    return row


def call_off(
    session: Session,
    organisation_id: str,
    event_id: str,
    target: EventStatus,
    deed: Deed,
    *,
    reason: str,
    by: str | None,
) -> EventRecord:
    """Postpone or cancel an event, and say at once which one takes its place."""
    if by is not None:
        lock_organisation(session, organisation_id)  # before the event, as everybody does
    row = walk(session, organisation_id, event_id, target, deed, reason=reason)
    return row if by is None else replace(session, organisation_id, event_id, by, deed, reason=reason)


def _check_line(session: Session, organisation_id: str, event_id: str, by: str) -> None:
    following: str | None = by
    while following is not None:
        if following == event_id:
            raise Conflict(
                "An event cannot take its own place, nor be replaced by one that it replaces itself.",
                code="replacement_in_a_circle",
            )
        following = queries.event(session, organisation_id, following).replaced_by_event_id
