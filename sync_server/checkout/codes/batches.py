"""Batches of codes: made, listed and revoked by organisers."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from shared.errors import Conflict, InvalidRequest, NotFound
from shared.lifecycle import EventStatus
from sync_server.audit.service import AuditLine, record
from sync_server.checkout.codes import signing
from sync_server.checkout.models import CodeBatchRow, CodeUseRow
from sync_server.events import queries as events
from sync_server.events.permissions import Part
from sync_server.plumbing.event_key import EventKey
from sync_server.plumbing.requests.principals import ActionContext
from sync_server.tickets import queries as tickets

Row = CodeBatchRow


def make(session: Session, event: EventKey, fields: Mapping[str, Any], context: ActionContext) -> CodeBatchRow:
    """Make a batch of codes for an event."""
    _require_organiser(session, event, context)
    _require_types(session, event, fields["ticket_types"])
    number = session.execute(select(func.coalesce(func.max(Row.number), 0)).where(event.of(Row))).scalar_one() + 1
    if number > signing.MAX_BATCHES:
        raise Conflict(f"An event has at most {signing.MAX_BATCHES} batches of codes.", code="too_many_batches")
    here = {"organisation_id": event.organisation_id, "event_id": event.event_id}
    row = Row(**here, number=number, created_at=context.now, **fields)
    session.add(row)
    session.flush()
    _record(session, row, "code_batch.made", context)
    return row


def revoke(session: Session, event: EventKey, number: int, context: ActionContext) -> CodeBatchRow:
    """Withdraw a batch: none of its codes is taken any more. Orders that have one keep their price."""
    _require_organiser(session, event, context)
    row = batch(session, event, number)
    if row.revoked_at is None:
        row.revoked_at = context.now
        session.flush()
        _record(session, row, "code_batch.revoked", context)
    return row


def _require_organiser(session: Session, event: EventKey, context: ActionContext) -> None:
    found = events.event(session, *event, lock=True)
    context.require(Part.SALE.action(EventStatus(found.status)))


def _require_types(session: Session, event: EventKey, numbers: Collection[int]) -> None:
    known = {row.number for row in tickets.ticket_types(session, *event)}
    if unknown := sorted(set(numbers) - known):
        raise InvalidRequest(f"The event has no ticket type {unknown[0]}.", field="ticket_types", code="unknown_type")


def _record(session: Session, row: CodeBatchRow, action: str, context: ActionContext) -> None:
    after = {"number": row.number, "kind": row.kind, "name": row.name, "codes": row.codes}
    record(session, AuditLine(context, action, "event", row.event_id, row.organisation_id, None, after))


def batch(session: Session, event: EventKey, number: int) -> CodeBatchRow:
    """A batch of an event; NotFound where there is none."""
    found = session.execute(select(Row).where(event.of(Row), Row.number == number)).scalar_one_or_none()
    if found is None:
        raise NotFound("The event has no such batch of codes.", code="batch_not_found")
    return found


def batches(session: Session, event: EventKey) -> Sequence[CodeBatchRow]:
    """The batches of an event, the first one first."""
    events.event(session, *event)
    return session.execute(select(Row).where(event.of(Row)).order_by(Row.number)).scalars().all()


def count_uses(session: Session, event: EventKey) -> dict[int, int]:
    """How often codes of each batch are used by orders that stand."""
    use = CodeUseRow
    counted = select(use.batch, func.count()).where(event.of(use), use.given_back_at.is_(None)).group_by(use.batch)
    return {number: int(uses) for number, uses in session.execute(counted)}
