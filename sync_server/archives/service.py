"""Asks for an event to be put away or brought back, and records each step of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from sqlalchemy import update
from sqlalchemy.orm import Session

from shared.clock import Millis
from shared.errors import Conflict
from shared.lifecycle import EventStatus
from sync_server.archives import people, queries, readiness
from sync_server.archives.models import EventArchiveRow
from sync_server.archives.rules import State, require_settled
from sync_server.archives.writing import WrittenFile
from sync_server.audit import service as audit
from sync_server.events import queries as events
from sync_server.events import service as event_service
from sync_server.events.lifecycle import status
from sync_server.monitoring.rules import Alert
from sync_server.plumbing.event_key import EventKey
from sync_server.plumbing.requests.principals import ActionContext
from sync_server.plumbing.waking import wake
from sync_server.revisions import service as revisions

CARRY_ON: Final = "archives.carry_on"
"""The job that works on archives."""
LEASE_MS: Final = 120_000
"""Longer than any step takes without saying so; what a dead worker had begun waits so long."""
_MAX_PROBLEM: Final = 500


@dataclass(frozen=True, slots=True)
class Asked:
    """Who wants an event put away, and whether what is not settled is put up with."""

    context: ActionContext
    reason: str = ""
    confirmed: bool = False


def ask(session: Session, event: EventKey, asked: Asked, *, alerts: Sequence[Alert] | None = None) -> EventArchiveRow:
    """Close an event that is over and settled: from now on nothing of it changes, and the worker puts it away.

    Conflict `event_not_settled` names what stands in the way.
    """
    row, context = events.event(session, *event, lock=True), asked.context
    archive = queries.find(session, event, lock=True)
    if archive is not None and archive.state != State.RESTORED:
        return archive
    obstacles = readiness.obstacles(session, row, context.now, alerts=alerts)
    require_settled(obstacles, confirmed=asked.confirmed, reason=asked.reason)
    if row.status != EventStatus.ARCHIVED.value:
        status.change_status(session, *event, EventStatus.ARCHIVED, context, reason=asked.reason)
    event_service.close(session, *event, context.now)
    archive = _begin(session, event, archive, asked)
    after = {"unsettled": [one.message for one in obstacles]} if obstacles else {}
    _record(session, archive, "event.archive_asked_for", context, asked.reason, **after)
    return archive


def _begin(session: Session, event: EventKey, archive: EventArchiveRow | None, asked: Asked) -> EventArchiveRow:
    if archive is None:
        archive = EventArchiveRow(**event._asdict())
        session.add(archive)
    context = asked.context
    archive.state, archive.reason, archive.asked_at = State.WRITING, asked.reason, context.now
    archive.asked_by = context.actor.id or None
    archive.rows = archive.rows_done = archive.leased_until = 0
    archive.again, archive.problem, archive.figures = False, "", {}
    session.flush()
    wake(session, CARRY_ON)
    return archive


def ask_back(session: Session, event: EventKey, context: ActionContext, *, reason: str) -> EventArchiveRow:
    """Let the worker bring an event back into the tables; Conflict where it is not put away."""
    archive = queries.archive(session, event, lock=True)
    if archive.state == State.RESTORING:
        return archive
    if archive.state != State.PUT_AWAY:
        raise Conflict(
            f"The event is not put away: its archive is {archive.state}. Nothing was changed.",
            code="event_not_put_away",
        )
    archive.state, archive.rows_done, archive.again, archive.problem = State.RESTORING, 0, False, ""
    _record(session, archive, "event.restore_asked_for", context, reason)
    wake(session, CARRY_ON)
    return archive


def lease(session: Session, event: EventKey, now: Millis) -> EventArchiveRow | None:
    """Take an archive for some minutes; None where another worker has it."""
    archive = queries.find(session, event, lock=True)
    if archive is None or archive.leased_until > now:
        return None
    archive.leased_until = now + LEASE_MS
    return archive


def release(session: Session, event: EventKey) -> None:
    """Give an archive back: whoever comes next goes on with it."""
    queries.archive(session, event, lock=True).leased_until = 0


def count(session: Session, event: EventKey, more: int, now: Millis) -> None:
    """Count rows that have gone or come back, and keep the lease."""
    row = EventArchiveRow
    here = update(row).where(row.organisation_id == event.organisation_id, row.event_id == event.event_id)
    session.execute(here.values(rows_done=row.rows_done + more, leased_until=now + LEASE_MS))


def written(session: Session, event: EventKey, name: str, file: WrittenFile, now: Millis) -> None:
    """Note that the file is on disk and verified: rows may leave the tables from now on."""
    archive = queries.archive(session, event, lock=True)
    archive.state, archive.file, archive.written_at = State.REMOVING, name, now
    archive.sha256, archive.size, archive.rows, archive.rows_done = file.sha256, file.size, file.rows, 0
    archive.figures = dict(file.figures)


def removed(session: Session, event: EventKey, context: ActionContext) -> None:
    """Note that nothing of the event but its plan is in the tables any more."""
    archive = queries.archive(session, event, lock=True)
    archive.state, archive.done_at, archive.leased_until, archive.problem = State.PUT_AWAY, context.now, 0, ""
    after = {"file": archive.file, "sha256": (archive.sha256 or b"").hex(), "rows": archive.rows}
    _record(session, archive, "event.put_away", context, archive.reason, **after)


def write_again(session: Session, event: EventKey) -> None:
    """Bring back what has left, and write the file anew: the event was changed after it had been written."""
    archive = queries.archive(session, event, lock=True)
    archive.state, archive.again, archive.leased_until = State.RESTORING, True, 0
    archive.rows_done, archive.problem = 0, "The event changed after its file had been written; it is written anew."


def restored(session: Session, event: EventKey, context: ActionContext) -> None:
    """Note that everything is in the tables again, and open the event; or begin again with its file."""
    archive = queries.archive(session, event, lock=True)
    archive.leased_until = 0
    people.forget(session, event)
    revisions.recount(session, event, context.now)  # whoever was erased meanwhile is not in what came back
    if archive.again:
        archive.state, archive.again = State.WRITING, False
        return
    archive.state, archive.done_at, archive.problem = State.RESTORED, context.now, ""
    event_service.reopen(session, *event)
    _record(session, archive, "event.restored", context, "", file=archive.file, rows=archive.rows)


def discarded(session: Session, event: EventKey, context: ActionContext) -> None:
    """Note that the file is gone for good, as the organisation's policy says; its figures stay."""
    archive = queries.archive(session, event, lock=True)
    archive.state, archive.done_at = State.DISCARDED, context.now
    people.forget(session, event)
    _record(session, archive, "event.archive_discarded", context, "", file=archive.file)


def failed(session: Session, event: EventKey, problem: str, now: Millis) -> None:
    """Say why it does not go on; it is tried again in some minutes."""
    archive = queries.archive(session, event, lock=True)
    archive.problem, archive.leased_until = problem[:_MAX_PROBLEM], now + LEASE_MS


def _record(
    session: Session, archive: EventArchiveRow, action: str, context: ActionContext, reason: str, **after: object
) -> None:
    subject = "event", archive.event_id, archive.organisation_id
    audit.record(session, audit.AuditLine(context, action, *subject, after=dict(after) or None, reason=reason))
