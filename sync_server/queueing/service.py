"""Makes and changes queues; joining, leaving, and taking the pass when it is one's turn."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from sqlalchemy import delete, update
from sqlalchemy.orm import Session

from shared.clock import Millis
from shared.errors import Conflict, NotFound, NotSignedIn
from shared.lifecycle import EventStatus
from sync_server.customers import queries as customers
from sync_server.events import queries as events
from sync_server.events.permissions import Part
from sync_server.holds.event_handlers import bump_sale_version
from sync_server.outbox.service import Fact, Subject, record_change
from sync_server.plumbing.requests.principals import ActionContext
from sync_server.plumbing.sealing import Sealer
from sync_server.plumbing.sql import writes
from sync_server.queueing import draw, queries, rules
from sync_server.queueing.models import EntryState, EventQueueRow, QueueEntryRow

TAKING_PART: Final = (EntryState.WAITING.value, EntryState.ADMITTED.value)
_SEED: Final = "seed of a draw"


@dataclass(frozen=True, slots=True)
class Joined:
    """A place in a queue."""

    entry: QueueEntryRow
    created: bool


def set_queue(
    session: Session,
    organisation_id: str,
    event_id: str,
    fields: Mapping[str, Any],
    context: ActionContext,
    *,
    sealer: Sealer,
) -> EventQueueRow:
    """Give an event a queue, or change the one that it has; what the draw promised cannot be changed."""
    event = events.event(session, organisation_id, event_id, lock=True)
    context.require(Part.SALE.action(EventStatus(event.status)))
    row = queries.locked_queue(session, organisation_id, event_id)
    if row is None:
        seed = context.entropy(draw.SEED_BYTES)
        row = EventQueueRow(
            organisation_id=organisation_id,
            event_id=event_id,
            commitment=draw.commitment(seed),
            sealed_seed=sealer.seal(seed, f"{_SEED} {event_id}"),
            drawn=0,
            next_seq=1,
            created_at=context.now,
            updated_at=context.now,
            **fields,
        )
        session.add(row)
        bump_sale_version(session, organisation_id, event_id)
        before = None
    else:
        if row.closed_at is not None and fields["beacon_source"] != row.beacon_source:
            raise Conflict("The waiting room has closed: what decides the draw cannot be changed.", code="queue_closed")
        before = writes.change(row, fields)
        row.updated_at = context.now
    session.flush()
    _record(session, row, event.number, "queue_set", context, before=before, after=dict(fields))
    return row


def remove_queue(session: Session, organisation_id: str, event_id: str, context: ActionContext) -> None:
    """Take the queue away: from now on everybody may buy."""
    event = events.event(session, organisation_id, event_id, lock=True)
    context.require(Part.SALE.action(EventStatus(event.status)))
    row = queries.locked_queue(session, organisation_id, event_id)
    if row is None:
        raise NotFound("This event has no queue.", code="queue_not_found")
    if row.drawn_at is not None and row.drawn:
        raise Conflict(
            "The order has been drawn and published. Let more people into the checkout at once instead.",
            code="already_drawn",
        )
    _record(session, row, event.number, "queue_removed", context, before=None, after=None)
    entry, queue = QueueEntryRow, EventQueueRow
    session.execute(delete(entry).where(entry.organisation_id == organisation_id, entry.event_id == event_id))
    session.execute(delete(queue).where(queue.organisation_id == organisation_id, queue.event_id == event_id))
    bump_sale_version(session, organisation_id, event_id)


def pause(session: Session, organisation_id: str, event_id: str, context: ActionContext) -> None:
    """Admit nobody until the queue goes on: places stay, and whoever was admitted may finish."""
    _set_paused(session, organisation_id, event_id, context.now, context)


def resume(session: Session, organisation_id: str, event_id: str, context: ActionContext) -> None:
    """Admit again from where the queue was paused."""
    _set_paused(session, organisation_id, event_id, None, context)


def _set_paused(
    session: Session, organisation_id: str, event_id: str, paused_at: Millis | None, context: ActionContext
) -> None:
    event = events.event(session, organisation_id, event_id, lock=True)
    context.require(Part.SALE.action(EventStatus(event.status)))
    row = queries.locked_queue(session, organisation_id, event_id)
    if row is None:
        raise NotFound("This event has no queue.", code="queue_not_found")
    was, now = row.paused_at is not None, paused_at is not None
    if was != now:
        row.paused_at, row.updated_at = paused_at, context.now
        session.flush()
        before, after = {"paused": was}, {"paused": now}
        _record(session, row, event.number, "queue_set", context, before=before, after=after)


def set_beacon(session: Session, organisation_id: str, event_id: str, value: str, context: ActionContext) -> None:
    """Note the value of the public random round that was named beforehand."""
    event = events.event(session, organisation_id, event_id, lock=True)
    context.require(Part.SALE.action(EventStatus(event.status)))
    row = queries.locked_queue(session, organisation_id, event_id)
    if row is None:
        raise NotFound("This event has no queue.", code="queue_not_found")
    rules.require_beacon_expected(row.beacon_source, row.closed_at, row.drawn_at)
    before = {"beacon_value": row.beacon_value}
    row.beacon_value, row.updated_at = value, context.now
    session.flush()
    _record(session, row, event.number, "queue_set", context, before=before, after={"beacon_value": value})


def _record(
    session: Session,
    row: EventQueueRow,
    event_number: int,
    name: str,
    context: ActionContext,
    *,
    before: dict[str, Any] | None,
    after: dict[str, Any] | None,
) -> None:
    subjects = {"event": row.event_id, "event_number": event_number}
    payload = {"before": before, "after": after, "commitment": row.commitment.hex()}
    fact = Fact(name, row.organisation_id, context.now, subjects, payload)
    record_change(session, context, Subject("queue", row.event_id, before, after), fact)


def seed_of(row: EventQueueRow, sealer: Sealer) -> bytes:
    """The seed of a queue's draw."""
    return sealer.open(row.sealed_seed, f"{_SEED} {row.event_id}")


def join(session: Session, organisation_id: str, event_id: str, guest_id: str, context: ActionContext) -> Joined:
    """Take a place in the queue; whoever has one keeps it."""
    if not customers.is_active(session, organisation_id, guest_id, context.now):
        raise NotSignedIn("Your visit has ended. Load the page again.", code="unauthorized")
    event = events.event(session, organisation_id, event_id)
    queue = queries.shared_queue(session, organisation_id, event_id)
    opening = queries.opening(event, queue)
    rules.require_open(EventStatus(event.status), opening, context.now)
    latest = queries.latest_entry(session, organisation_id, event_id, guest_id)
    if latest is not None:
        if latest.state in TAKING_PART and context.now < latest.expires_at:
            return Joined(latest, created=False)
        rules.require_no_cooldown(latest.cooldown_until, context.now)
        _end(session, latest, EntryState.EXPIRED, context.now)
    seq = None if queue.closed_at is None else _next_number(session, queue)
    entry = QueueEntryRow(
        organisation_id=organisation_id,
        event_id=event_id,
        id=str(UUID(bytes=context.entropy(16))),
        bearer_id=guest_id,
        seq=seq,
        in_draw=False,
        state=EntryState.WAITING.value,
        joined_at=context.now,
        expires_at=rules.expires_at(opening, context.now),
    )
    session.add(entry)
    # The index allows one place for each: the second of two requests is run again, and finds the first one's.
    session.flush()
    return Joined(entry, created=True)


def _next_number(session: Session, queue: EventQueueRow) -> int:
    here = EventQueueRow.organisation_id == queue.organisation_id, EventQueueRow.event_id == queue.event_id
    raised = update(EventQueueRow).where(*here).values(next_seq=EventQueueRow.next_seq + 1)
    raised = raised.returning(EventQueueRow.next_seq).execution_options(synchronize_session=False)
    return int(session.execute(raised).scalar_one()) - 1


def leave(session: Session, organisation_id: str, event_id: str, guest_id: str, context: ActionContext) -> None:
    """Give the place up; rejoining is possible after an hour."""
    entry = _own_entry(session, organisation_id, event_id, guest_id)
    if entry.state in TAKING_PART:
        entry.cooldown_until = context.now + rules.COOLDOWN_MS
        _end(session, entry, EntryState.LEFT, context.now)


def spend(session: Session, organisation_id: str, event_id: str, bearer_id: str, now: Millis) -> None:
    """The turn of whoever bought something is over."""
    entry = queries.latest_entry(session, organisation_id, event_id, bearer_id)
    if entry is not None and entry.state == EntryState.ADMITTED.value:
        _end(session, entry, EntryState.SPENT, now)


def _end(session: Session, entry: QueueEntryRow, state: EntryState, now: Millis) -> None:
    if entry.state in TAKING_PART:
        entry.state, entry.expires_at = state.value, min(entry.expires_at, now)
        session.flush()


def renew(session: Session, organisation_id: str, event_id: str, guest_id: str, expires_at: Millis) -> None:
    """Keep the place of somebody whose page has asked."""
    entry = QueueEntryRow
    here = entry.organisation_id == organisation_id, entry.event_id == event_id, entry.bearer_id == guest_id
    waits = entry.state == EntryState.WAITING.value, entry.expires_at < expires_at
    renewed = update(entry).where(*here, *waits).values(expires_at=expires_at)
    session.execute(renewed.execution_options(synchronize_session=False))


def take_pass(
    session: Session, organisation_id: str, event_id: str, guest_id: str, *, tab_hash: bytes, now: Millis
) -> QueueEntryRow:
    """Bind the pass to the tab that asks first; Forbidden for others, and before and after one's turn."""
    entry = _own_entry(session, organisation_id, event_id, guest_id)
    if entry.state == EntryState.ADMITTED.value and entry.tab_hash is None:
        free = QueueEntryRow.tab_hash.is_(None)
        here = QueueEntryRow.organisation_id == organisation_id, QueueEntryRow.event_id == event_id
        bound = update(QueueEntryRow).where(*here, QueueEntryRow.id == entry.id, free).values(tab_hash=tab_hash)
        session.execute(bound.execution_options(synchronize_session=False))
        session.refresh(entry)
    refused = rules.refusal(rules.Pass(entry.state, entry.expires_at, entry.tab_hash), tab_hash, now)
    if refused is not None:
        raise refused
    return entry


def _own_entry(session: Session, organisation_id: str, event_id: str, guest_id: str) -> QueueEntryRow:
    queries.queue(session, organisation_id, event_id)
    entry = queries.latest_entry(session, organisation_id, event_id, guest_id)
    if entry is None:
        raise NotFound("You are not in this queue. Join it first.", code="not_in_queue")
    return entry
