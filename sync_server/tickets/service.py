"""Cancels tickets, blocks and unblocks them, issues them anew, and lets them follow their event."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from shared.errors import Conflict
from shared.snapshot import TicketState
from sync_server.audit.service import AuditLine, record
from sync_server.events import queries as events
from sync_server.events import service as event_service
from sync_server.outbox.service import Fact
from sync_server.outbox.service import record as record_fact
from sync_server.plumbing.principals import Deed
from sync_server.revisions import service as revisions
from sync_server.seating import event_layouts
from sync_server.tickets import issues, queries, rules, signing, taking, types
from sync_server.tickets.issuing import issue
from sync_server.tickets.models import TicketRecord, TicketTypeRecord
from sync_server.tickets.wishes import Wish

__all__ = [
    "Wish",
    "block",
    "cancel",
    "issue",
    "move_times",
    "reissue",
    "reissue_signed_by",
    "settle",
    "show_names",
    "unblock",
]


@dataclass(frozen=True, slots=True)
class _Step:
    """A ticket's way into another state, and the fact that tells of it."""

    state: TicketState
    fact: str
    reason: str


@dataclass(frozen=True, slots=True)
class _Change:
    """What a ticket was, what it is, and why."""

    before: dict[str, Any]
    after: dict[str, Any]
    reason: str


def cancel(session: Session, organisation_id: str, ticket_id: int, deed: Deed, *, reason: str) -> TicketRecord:
    """A ticket is good no more; its seat and its place in the capacity are free again."""
    event_id = queries.ticket(session, organisation_id, ticket_id).event_id
    event_layouts.require_open(session, organisation_id, event_id)
    event_service.lock(session, organisation_id, event_id)  # event, type, ticket: one order for everybody
    event_layouts.require_open(session, organisation_id, event_id)
    step = _Step(TicketState.CANCELLED, "ticket_cancelled", reason)
    row = _change_state(session, organisation_id, ticket_id, step, deed)
    event_service.give_back(session, row.event_id)
    types.give_back(session, row.event_id, row.ticket_type)
    taking.free(session, row, deed.now)
    return row


def block(session: Session, organisation_id: str, ticket_id: int, deed: Deed, *, reason: str) -> TicketRecord:
    """Hold a ticket back for now: lost, stolen, disputed."""
    step = _Step(TicketState.BLOCKED, "ticket_blocked", reason)
    return _change_state(session, organisation_id, ticket_id, step, deed)


def unblock(session: Session, organisation_id: str, ticket_id: int, deed: Deed, *, reason: str) -> TicketRecord:
    """Let a blocked ticket be good again."""
    _require_state(session, organisation_id, ticket_id, TicketState.BLOCKED)
    step = _Step(TicketState.VALID, "ticket_unblocked", reason)
    return _change_state(session, organisation_id, ticket_id, step, deed)


def settle(session: Session, organisation_id: str, ticket_id: int, deed: Deed, *, reason: str) -> TicketRecord:
    """The ticket is paid for: it is good from now on."""
    _require_state(session, organisation_id, ticket_id, TicketState.UNPAID)
    step = _Step(TicketState.VALID, "ticket_settled", reason)
    return _change_state(session, organisation_id, ticket_id, step, deed)


def _require_state(session: Session, organisation_id: str, ticket_id: int, wanted: TicketState) -> None:
    present = TicketState(queries.ticket(session, organisation_id, ticket_id, lock=True).state)
    if present is not wanted:
        raise Conflict(f"The ticket is {present.name.lower()}, not {wanted.name.lower()}.", code="invalid_ticket_state")


def reissue(session: Session, organisation_id: str, ticket_id: int, deed: Deed, *, reason: str) -> TicketRecord:
    """A new code for the same ticket; the codes before are replaced."""
    row = queries.ticket(session, organisation_id, ticket_id, lock=True)
    if row.state == TicketState.CANCELLED:
        raise Conflict("A cancelled ticket gets no new code. Issue another ticket.", code="ticket_cancelled")
    rules.require_next_issue(row.issue)
    before = {"issue": row.issue, "key": row.key_id}
    row.issue, row.updated_at = row.issue + 1, deed.now
    issues.freeze(session, row, signing.signing_key(session, organisation_id, deed.now).id, deed.now)
    after = {"issue": row.issue, "key": row.key_id}
    _tell(session, row, "ticket_reissued", deed, _Change(before, after, reason))
    return row


def reissue_signed_by(session: Session, organisation_id: str, key_id: int, deed: Deed, *, limit: int) -> int:
    """Issue anew up to `limit` tickets that this key signed; how many there were. Repeat until none is left."""
    mine = (
        select(TicketRecord.id)
        .where(
            TicketRecord.key_id == key_id,
            TicketRecord.organisation_id == organisation_id,
            TicketRecord.state != TicketState.CANCELLED,
        )
        .limit(limit)
    )
    ids = session.execute(mine).scalars().all()
    for ticket_id in ids:
        reissue(session, organisation_id, ticket_id, deed, reason=f"key {key_id} is revoked")
    return len(ids)


def move_times(session: Session, organisation_id: str, event_id: str, distance_ms: int, deed: Deed) -> None:
    """Times of types and tickets move with the event; gates believe the rows, not what was printed before."""
    seconds, facts = distance_ms // 1000, events.facts(session, organisation_id, event_id)
    for kind in session.execute(select(TicketTypeRecord).where(TicketTypeRecord.event_id == event_id)).scalars():
        _move(kind, seconds)
        kind.sale_start_at = None if kind.sale_start_at is None else kind.sale_start_at + distance_ms
        kind.sale_end_at = None if kind.sale_end_at is None else kind.sale_end_at + distance_ms
    timed = (TicketRecord.not_before != 0) | (TicketRecord.not_after != 0)
    for row in session.execute(select(TicketRecord).where(TicketRecord.event_id == event_id, timed)).scalars():
        _move(row, seconds)
        row.updated_at = deed.now
        _put(session, row, name_checks=facts.name_checks)


def show_names(session: Session, event_id: str, *, name_checks: bool) -> None:
    """Gates get the holders' names, or lose them, as the event asks for name checks or not."""
    named = TicketRecord.event_id == event_id, TicketRecord.holder_name != ""
    for row in session.execute(select(TicketRecord).where(*named)).scalars():
        _put(session, row, name_checks=name_checks)


def _move(row: TicketTypeRecord | TicketRecord, seconds: int) -> None:
    row.not_before = row.not_before + seconds if row.not_before else 0
    row.not_after = row.not_after + seconds if row.not_after else 0


def _change_state(session: Session, organisation_id: str, ticket_id: int, step: _Step, deed: Deed) -> TicketRecord:
    row = queries.ticket(session, organisation_id, ticket_id, lock=True)
    old = TicketState(row.state)
    rules.require_way(old, step.state)
    row.state, row.updated_at = int(step.state), deed.now
    change = _Change({"state": old.name.lower()}, {"state": step.state.name.lower()}, step.reason)
    _tell(session, row, step.fact, deed, change)
    return row


def _tell(session: Session, row: TicketRecord, name: str, deed: Deed, change: _Change) -> None:
    session.flush()
    public, where = queries.public_id(row.id), row.organisation_id
    line = AuditLine(deed.actor, name, "ticket", public, where, deed.now, change.before, change.after, change.reason)
    record(session, line)
    subjects = {"ticket": public, "event": row.event_id, "event_number": row.event_number}
    record_fact(session, Fact(name, where, deed.now, subjects, change.after))
    facts = events.facts(session, where, row.event_id)
    _put(session, row, name_checks=facts.name_checks)


def _put(session: Session, row: TicketRecord, *, name_checks: bool) -> None:
    revisions.put(session, row.event_number, [queries.ticket_row(row, name_checks=name_checks)])
