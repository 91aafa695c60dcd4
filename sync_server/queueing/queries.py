"""Reads of queues and their entries."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from sqlalchemy import ColumnElement, Select, case, func, or_, select
from sqlalchemy.orm import Session

from shared.clock import Millis
from shared.errors import NotFound
from sync_server.events import queries as events
from sync_server.queueing import rules
from sync_server.queueing.models import EntryState, EventQueueRow, QueueEntryRow
from sync_server.queueing.rules import Opening

Queue = EventQueueRow
Entry = QueueEntryRow


def _of_event(organisation_id: str, event_id: str) -> tuple[ColumnElement[bool], ...]:
    row = QueueEntryRow
    return row.organisation_id == organisation_id, row.event_id == event_id


def is_queued(session: Session, organisation_id: str, event_id: str) -> bool:
    """Whether an event has a queue."""
    row = EventQueueRow
    here = row.organisation_id == organisation_id, row.event_id == event_id
    return session.execute(select(row.event_id).where(*here)).first() is not None


def find_queue(session: Session, organisation_id: str, event_id: str) -> EventQueueRow | None:
    """The queue of an event, if it has one."""
    return session.scalars(_queue(organisation_id, event_id)).one_or_none()


def queue(session: Session, organisation_id: str, event_id: str) -> EventQueueRow:
    """The queue of an event, or NotFound."""
    return _required(find_queue(session, organisation_id, event_id))


def shared_queue(session: Session, organisation_id: str, event_id: str) -> EventQueueRow:
    """The queue of an event, which nobody closes before this transaction ends; NotFound."""
    found = _queue(organisation_id, event_id).with_for_update(read=True)
    return _required(session.scalars(found.execution_options(populate_existing=True)).one_or_none())


def locked_queue(session: Session, organisation_id: str, event_id: str, *, wait: bool = True) -> EventQueueRow | None:
    """The queue of an event, locked; None where it has none, or without waiting where somebody else has it."""
    found = _queue(organisation_id, event_id).with_for_update(skip_locked=not wait)
    return session.scalars(found.execution_options(populate_existing=True)).one_or_none()


def _queue(organisation_id: str, event_id: str) -> Select[EventQueueRow]:
    row = EventQueueRow
    return select(row).where(row.organisation_id == organisation_id, row.event_id == event_id)


def _required(found: EventQueueRow | None) -> EventQueueRow:
    if found is None:
        raise NotFound("This event has no queue.", code="queue_not_found")
    return found


def opening(event: events.Event, queue: EventQueueRow) -> Opening:
    """When the queue of this event does what."""
    return Opening.of(event.sale_start_at, event.sale_end_at, queue.created_at, queue.room_minutes)


def latest_entry(session: Session, organisation_id: str, event_id: str, bearer_id: str) -> QueueEntryRow | None:
    """The entry of somebody's last time in the queue."""
    here = *_of_event(organisation_id, event_id), QueueEntryRow.bearer_id == bearer_id
    newest = select(QueueEntryRow).where(*here).order_by(QueueEntryRow.joined_at.desc()).limit(1)
    return session.execute(newest).scalar_one_or_none()


def waiting_numbers(session: Session, organisation_id: str, event_id: str, now: Millis) -> list[int]:
    """The numbers of all who still wait, in order."""
    waits = QueueEntryRow.state == EntryState.WAITING.value, QueueEntryRow.expires_at > now
    here = *_of_event(organisation_id, event_id), *waits
    numbered = select(QueueEntryRow.seq).where(*here, QueueEntryRow.seq.is_not(None)).order_by(QueueEntryRow.seq)
    return [seq for seq in session.scalars(numbered) if seq is not None]


def next_entries(session: Session, organisation_id: str, event_id: str, count: int) -> Sequence[QueueEntryRow]:
    """Those who have waited longest."""
    here = *_of_event(organisation_id, event_id), QueueEntryRow.state == EntryState.WAITING.value
    waiting = select(QueueEntryRow).where(*here, QueueEntryRow.seq.is_not(None))
    return session.scalars(waiting.order_by(QueueEntryRow.seq).limit(count)).all()


def shopping(organisation_id: str, event_id: str, now: Millis) -> Select[str]:
    """Whose turn takes a slot: it has not run out, and they took the pass, or may still be about to; to be counted."""
    entry = QueueEntryRow
    shops = entry.state == EntryState.ADMITTED.value, entry.expires_at > now
    is_there = or_(entry.tab_hash.is_not(None), entry.admitted_at > now - rules.NO_SHOW_MS)
    return select(entry.bearer_id).where(*_of_event(organisation_id, event_id), *shops, is_there)


def count_admitted_since(session: Session, organisation_id: str, event_id: str, since: Millis) -> int:
    """How many were admitted after that moment."""
    here = *_of_event(organisation_id, event_id), QueueEntryRow.admitted_at > since
    return session.scalars(select(func.count()).select_from(QueueEntryRow).where(*here)).one()


def count_by_state(session: Session, organisation_id: str, event_id: str) -> dict[str, int]:
    """How many entries are in each state."""
    here = _of_event(organisation_id, event_id)
    counted = select(QueueEntryRow.state, func.count()).where(*here).group_by(QueueEntryRow.state)
    return {state: int(count) for state, count in session.execute(counted)}


def entries_of_the_room(session: Session, organisation_id: str, event_id: str) -> list[bytes]:
    """The entries that the draw is about, sorted: of those who wait for it, or who took part in it."""
    here = *_of_event(organisation_id, event_id), QueueEntryRow.in_draw
    return sorted(UUID(id).bytes for id in session.scalars(select(QueueEntryRow.id).where(*here)))


def drawn_entries(session: Session, organisation_id: str, event_id: str) -> Sequence[str]:
    """The entries of the draw in the order of service."""
    here = *_of_event(organisation_id, event_id), QueueEntryRow.in_draw
    return session.scalars(select(QueueEntryRow.id).where(*here).order_by(QueueEntryRow.seq)).all()


def queues(session: Session, organisation_id: str) -> Sequence[EventQueueRow]:
    """All queues of an organisation."""
    return session.scalars(select(EventQueueRow).where(EventQueueRow.organisation_id == organisation_id)).all()


def pass_of(session: Session, organisation_id: str, event_id: str, bearer_id: str) -> rules.Pass | None:
    """What somebody's latest entry opens."""
    entry = latest_entry(session, organisation_id, event_id, bearer_id)
    return None if entry is None else rules.Pass(entry.state, entry.expires_at, entry.tab_hash)


def count_guests(session: Session, organisation_id: str, event_id: str) -> tuple[int, int]:
    """How many guests ever joined the queue of an event, and how many of them were admitted."""
    admitted = case((QueueEntryRow.admitted_at.is_not(None), QueueEntryRow.bearer_id))
    counted = select(func.count(QueueEntryRow.bearer_id.distinct()), func.count(admitted.distinct()))
    joined, let_in = session.execute(counted.where(*_of_event(organisation_id, event_id))).one()
    return int(joined), int(let_in)


def last_admitted_at(session: Session, organisation_id: str, event_id: str) -> Millis:
    """When somebody was last admitted; 0 if nobody was."""
    last = select(func.max(QueueEntryRow.admitted_at)).where(*_of_event(organisation_id, event_id))
    return session.scalar(last) or 0
