"""Cancels, blocks and reissues tickets, and updates them when their event changes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from shared.errors import Conflict
from shared.wire.snapshot import TicketState
from sync_server.events import issued_counts
from sync_server.events import queries as events
from sync_server.events import service as event_service
from sync_server.events.days.chosen_days import ChosenDays, dates_of
from sync_server.events.time_shift import TimeShift
from sync_server.outbox.service import Fact, Subject, record_change
from sync_server.plumbing.event_key import EventKey
from sync_server.plumbing.requests.principals import ActionContext
from sync_server.plumbing.sql import writes
from sync_server.revisions import service as revisions
from sync_server.seating import event_layouts
from sync_server.tickets import queries, rules, ticket_counts
from sync_server.tickets.issuance import inventory_updates
from sync_server.tickets.issuance.issue_request import IssueRequest
from sync_server.tickets.issuance.issuing import issue
from sync_server.tickets.keys import issues, signing_keys
from sync_server.tickets.models import TicketRecord, TicketTypeRecord
from sync_server.tickets.types import type_service
from sync_server.tickets.types.moved_times import moved_sale, moved_validity

__all__ = [
    "IssueRequest",
    "block",
    "cancel",
    "issue",
    "name_holder",
    "reissue",
    "reissue_signed_by",
    "settle",
    "shift_times",
    "unblock",
    "update_holder_names",
]


@dataclass(frozen=True, slots=True)
class _Transition:
    """A change of a ticket's state, and the fact that records it."""

    state: TicketState
    fact: str
    reason: str


@dataclass(frozen=True, slots=True)
class _Change:
    """What changed about a ticket, and why."""

    before: dict[str, Any]
    after: dict[str, Any]
    reason: str


def cancel(
    session: Session, organisation_id: str, ticket_id: int, context: ActionContext, *, reason: str
) -> TicketRecord:
    """Cancel a ticket, and release its seat and its place in the capacity."""
    event_id = queries.event_of(session, organisation_id, ticket_id)
    event_layouts.require_not_moving(session, organisation_id, event_id)
    event_service.lock_event(session, organisation_id, event_id)  # lock order: event, type, ticket
    event_layouts.require_not_moving(session, organisation_id, event_id)
    transition = _Transition(TicketState.CANCELLED, "ticket_cancelled", reason)
    row = _change_state(session, organisation_id, ticket_id, transition, context)
    days = ChosenDays(dates_of(events.event(session, organisation_id, event_id)), row.valid_days)
    issued_counts.release_capacity(session, row.organisation_id, row.event_id, days)
    type_service.release_quantity(session, organisation_id, row.event_id, row.ticket_type, days)
    inventory_updates.release_inventory(session, row, context.now)
    return row


def block(
    session: Session, organisation_id: str, ticket_id: int, context: ActionContext, *, reason: str
) -> TicketRecord:
    """Block a ticket that is lost, stolen or disputed."""
    transition = _Transition(TicketState.BLOCKED, "ticket_blocked", reason)
    return _change_state(session, organisation_id, ticket_id, transition, context)


def unblock(
    session: Session, organisation_id: str, ticket_id: int, context: ActionContext, *, reason: str
) -> TicketRecord:
    """Make a blocked ticket valid again."""
    _check_state(session, organisation_id, ticket_id, TicketState.BLOCKED)
    transition = _Transition(TicketState.VALID, "ticket_unblocked", reason)
    return _change_state(session, organisation_id, ticket_id, transition, context)


def settle(
    session: Session, organisation_id: str, ticket_id: int, context: ActionContext, *, reason: str
) -> TicketRecord:
    """Mark an unpaid ticket as paid, which makes it valid."""
    _check_state(session, organisation_id, ticket_id, TicketState.UNPAID)
    transition = _Transition(TicketState.VALID, "ticket_settled", reason)
    return _change_state(session, organisation_id, ticket_id, transition, context)


def _check_state(session: Session, organisation_id: str, ticket_id: int, expected: TicketState) -> None:
    current = TicketState(queries.ticket(session, organisation_id, ticket_id, lock=True).state)
    if current is not expected:
        raise Conflict(
            f"The ticket is {current.name.lower()}, not {expected.name.lower()}.", code="invalid_ticket_state"
        )


def reissue(
    session: Session,
    organisation_id: str,
    ticket_id: int,
    context: ActionContext,
    *,
    reason: str,
    holder_name: str | None = None,
) -> TicketRecord:
    """Give a ticket a new code, and perhaps another holder; earlier codes become invalid."""
    row = queries.ticket(session, organisation_id, ticket_id, lock=True)
    if row.state == TicketState.CANCELLED:
        raise Conflict("A cancelled ticket cannot be reissued. Issue another ticket.", code="ticket_cancelled")
    rules.require_next_issue(row.issue)
    before = {"issue": row.issue, "key": row.key_id}
    row.issue, row.updated_at = row.issue + 1, context.now
    row.holder_name = row.holder_name if holder_name is None else holder_name
    number = events.event(session, organisation_id, row.event_id).number
    key_id = signing_keys.signing_key(session, organisation_id, context.now).id
    issues.freeze_claims(session, row, number, key_id, context.now)
    after = {"issue": row.issue, "key": row.key_id}
    _record(session, row, "ticket_reissued", context, _Change(before, after, reason))
    return row


def name_holder(
    session: Session, organisation_id: str, ticket_id: int, name: str, context: ActionContext, *, reason: str
) -> bool:
    """Name another holder; returns whether the ticket has a new code, as it does if it was made out to somebody."""
    row = queries.ticket(session, organisation_id, ticket_id, lock=True)
    if row.holder_name not in {"", name}:
        reissue(session, organisation_id, ticket_id, context, reason=reason, holder_name=name)
        return True
    row.holder_name, row.updated_at = name, context.now
    session.flush()
    _put_row(session, row, name_checks=events.event(session, organisation_id, row.event_id).name_checks)
    return False


def reissue_signed_by(
    session: Session, organisation_id: str, key_id: int, context: ActionContext, *, limit: int
) -> int:
    """Reissue up to `limit` tickets that this key signed; returns how many. Repeat until it returns 0."""
    statement = (
        select(TicketRecord.id)
        .where(
            TicketRecord.organisation_id == organisation_id,
            TicketRecord.key_id == key_id,
            TicketRecord.state != TicketState.CANCELLED,
        )
        .limit(limit)
    )
    ids = session.execute(statement).scalars().all()
    for ticket_id in ids:
        reissue(session, organisation_id, ticket_id, context, reason=f"key {key_id} is revoked")
    return len(ids)


def shift_times(
    session: Session, organisation_id: str, event_id: str, shift: TimeShift, context: ActionContext
) -> None:
    """Move the times of ticket types and tickets with the event; gates go by their rows, not by the printed codes."""
    event = events.details(session, organisation_id, event_id)
    for ticket_type in session.execute(
        select(TicketTypeRecord).where(
            TicketTypeRecord.organisation_id == organisation_id, TicketTypeRecord.event_id == event_id
        )
    ).scalars():
        writes.change(ticket_type, {**moved_validity(ticket_type, shift), **moved_sale(ticket_type, shift)})
    timed = (TicketRecord.not_before != 0) | (TicketRecord.not_after != 0)
    for row in session.execute(
        select(TicketRecord).where(
            TicketRecord.organisation_id == organisation_id, TicketRecord.event_id == event_id, timed
        )
    ).scalars():
        writes.change(row, moved_validity(row, shift))
        row.updated_at = context.now
        _put_row(session, row, name_checks=event.name_checks)


def update_holder_names(session: Session, organisation_id: str, event_id: str, *, name_checks: bool) -> None:
    """Add the holders' names to the snapshot rows, or remove them, when the event's name checks change."""
    named = (
        TicketRecord.organisation_id == organisation_id,
        TicketRecord.event_id == event_id,
        TicketRecord.holder_name != "",
    )
    for row in session.execute(select(TicketRecord).where(*named)).scalars():
        _put_row(session, row, name_checks=name_checks)


def _change_state(
    session: Session, organisation_id: str, ticket_id: int, transition: _Transition, context: ActionContext
) -> TicketRecord:
    row = queries.ticket(session, organisation_id, ticket_id, lock=True)
    old = TicketState(row.state)
    rules.require_transition(old, transition.state)
    row.state, row.updated_at = int(transition.state), context.now
    ticket_counts.count_state(session, row, old)
    change = _Change({"state": old.name.lower()}, {"state": transition.state.name.lower()}, transition.reason)
    _record(session, row, transition.fact, context, change)
    return row


def _record(session: Session, row: TicketRecord, name: str, context: ActionContext, change: _Change) -> None:
    session.flush()
    public, where = queries.public_id(row.id), row.organisation_id
    subject = Subject("ticket", public, change.before, change.after, change.reason)
    event = events.event(session, where, row.event_id)
    subjects = {"ticket": public, "event": row.event_id, "event_number": event.number}
    record_change(session, context, subject, Fact(name, where, context.now, subjects, change.after))
    _put_row(session, row, name_checks=event.name_checks)


def _put_row(session: Session, row: TicketRecord, *, name_checks: bool) -> None:
    revisions.put(
        session, EventKey(row.organisation_id, row.event_id), [queries.ticket_row(row, name_checks=name_checks)]
    )
