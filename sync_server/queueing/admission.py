"""Moves a queue on: closes the waiting room, draws the order, ends overdue entries, and admits who is next."""

from __future__ import annotations

from uuid import UUID

from sqlalchemy import ColumnElement, bindparam, update
from sqlalchemy.orm import Session

from shared.clock import Millis
from sync_server.events import queries as events
from sync_server.outbox.service import Fact, Subject, record_change
from sync_server.plumbing.due import due_if_any, organisations_due
from sync_server.plumbing.ports import ports_of
from sync_server.plumbing.requests.principals import ActionContext
from sync_server.plumbing.sealing import Sealer
from sync_server.queueing import draw, queries, rules
from sync_server.queueing.models import EntryState, EventQueueRow, QueueEntryRow
from sync_server.queueing.ports import QueuePorts
from sync_server.queueing.service import TAKING_PART, seed_of

NO_BEACON = ""


def advance_all(session: Session, sealer: Sealer, context: ActionContext) -> None:
    """Move on every queue in which anybody takes part."""
    for organisation_id in organisations_due(session, QueueEntryRow.organisation_id, *_takes_part()):
        for queue in queries.queues(session, organisation_id):
            advance(session, organisation_id, queue.event_id, sealer, context)


def anybody_there(session: Session, _now: Millis) -> Millis | None:
    """At once, where anybody takes part in any queue."""
    return due_if_any(session, QueueEntryRow.organisation_id, *_takes_part())


def _takes_part() -> tuple[ColumnElement[bool], ...]:
    return (QueueEntryRow.state.in_(TAKING_PART),)


def advance(
    session: Session, organisation_id: str, event_id: str, sealer: Sealer, context: ActionContext, *, wait: bool = True
) -> bool:
    """Move a queue on; False without waiting where somebody else does so already. Doing it twice changes nothing."""
    queue = queries.locked_queue(session, organisation_id, event_id, wait=wait)
    if queue is None:
        return False
    event = events.event(session, organisation_id, event_id)
    context = context.by_system()
    if queue.closed_at is None and context.now >= queries.opening(event, queue).draw_at:
        _close(session, queue, event.number, context)
    decided = queue.beacon_value is not None or not queue.beacon_source
    if queue.closed_at is not None and queue.drawn_at is None and decided:
        _draw_order(session, queue, event.number, sealer, context)
    if queue.drawn_at is not None:
        _end_overdue(session, queue, context.now)
        if queue.paused_at is None:
            _admit(session, queue, context.now)
    return True


def _close(session: Session, queue: EventQueueRow, event_number: int, context: ActionContext) -> None:
    """Fix who takes part in the draw, and publish it; whoever joins now comes after them."""
    entry = QueueEntryRow
    here = entry.organisation_id == queue.organisation_id, entry.event_id == queue.event_id
    waits = entry.state == EntryState.WAITING.value, entry.seq.is_(None)
    session.execute(
        update(entry).where(*here, *waits).values(in_draw=True).execution_options(synchronize_session=False)
    )
    entries = queries.entries_of_the_room(session, queue.organisation_id, queue.event_id)
    queue.root, queue.closed_at = draw.Tree(entries).root, context.now
    queue.drawn, queue.next_seq = len(entries), len(entries) + 1
    session.flush()
    _record(session, queue, event_number, "queue_closed", context)


def _draw_order(
    session: Session, queue: EventQueueRow, event_number: int, sealer: Sealer, context: ActionContext
) -> None:
    """Draw the order of those who waited for the opening."""
    entries = queries.entries_of_the_room(session, queue.organisation_id, queue.event_id)
    assert queue.root is not None  # noqa: S101 - closed
    drawn = draw.order(entries, seed_of(queue, sealer), queue.root, queue.beacon_value or NO_BEACON)
    table = QueueEntryRow.__table__
    numbered = (
        update(table)  # type: ignore[arg-type]  # SQLAlchemy types `__table__` as any selectable
        .where(table.c.organisation_id == bindparam("organisation"), table.c.event_id == bindparam("event"))
        .where(table.c.id == bindparam("entry"))
        .values(seq=bindparam("number"))
    )
    here = {"organisation": queue.organisation_id, "event": queue.event_id}
    numbers = [{**here, "entry": str(UUID(bytes=entry)), "number": at} for at, entry in enumerate(drawn, 1)]
    if numbers:
        session.execute(numbered, numbers)
    queue.drawn_at = context.now
    session.flush()
    _record(session, queue, event_number, "queue_drawn", context)


def _record(session: Session, queue: EventQueueRow, event_number: int, name: str, context: ActionContext) -> None:
    subjects = {"event": queue.event_id, "event_number": event_number}
    root = queue.root.hex() if queue.root is not None else ""
    payload = {"root": root, "entries": queue.drawn, "beacon": queue.beacon_value or NO_BEACON}
    fact = Fact(name, queue.organisation_id, context.now, subjects, payload)
    record_change(session, context, Subject("queue", queue.event_id, None, payload), fact)


def _end_overdue(session: Session, queue: EventQueueRow, now: Millis) -> None:
    entry = QueueEntryRow
    here = entry.organisation_id == queue.organisation_id, entry.event_id == queue.event_id
    overdue = entry.state.in_(TAKING_PART), entry.expires_at <= now
    ended = update(entry).where(*here, *overdue).values(state=EntryState.EXPIRED.value)
    session.execute(ended.execution_options(synchronize_session=False))


def _admit(session: Session, queue: EventQueueRow, now: Millis) -> None:
    here = queue.organisation_id, queue.event_id
    lately = queries.count_admitted_since(session, *here, now - rules.MINUTE_MS) if queue.per_minute else 0
    free = ports_of(session, QueuePorts).free_slots(session, *here, now)
    count = rules.admitted_now(free, queue.per_minute, lately)
    # Another server may have been first although its clock was read later: nobody is admitted before those ahead.
    admitted_at = max(now, queries.last_admitted_at(session, *here)) if count else now
    for entry in queries.next_entries(session, *here, count) if count else ():
        entry.state, entry.admitted_at = EntryState.ADMITTED.value, admitted_at
        entry.expires_at = now + queue.pass_minutes * rules.MINUTE_MS
    session.flush()
