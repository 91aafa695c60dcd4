"""The claims of each issue of a ticket: frozen when issued, stored when replaced, newer than settled snapshots."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from sqlalchemy import update
from sqlalchemy.orm import Session

from shared import claims
from shared.clock import Millis
from shared.tickets import Entitlement, Ticket, TicketFlags
from sync_server.plumbing.event_key import EventKey
from sync_server.revisions import service as revisions
from sync_server.tickets import ticket_counts
from sync_server.tickets.models import TicketIssueRecord, TicketRecord

_FROZEN: Final = "issues_frozen"


def freeze_claims(session: Session, row: TicketRecord, event_number: int, key_id: int, now: Millis) -> None:
    """Fix the claims of this issue; they are signed when the code is requested, after the commit."""
    if row.claims:
        _store_replaced(session, row)
    before, row.key_id, row.issued_at = row.key_id, key_id, now // 1000
    if row.claims and before != key_id:
        ticket_counts.count_key(session, row, before)
    row.claims = _claims(row, event_number)
    session.info.setdefault(_FROZEN, {}).setdefault(EventKey(row.organisation_id, row.event_id), {})[row.id] = row


def raise_issue_times(session: Session, event: EventKey, settled_at: Millis) -> None:
    """Make the tickets of this transaction newer than every snapshot without them.

    Called under the lock on the event's head, with the time up to which gates may have a settled snapshot. Without it,
    a slow sale could print an issue time before that, and gates would refuse the tickets as unknown.
    """
    for row in session.info.get(_FROZEN, {}).pop(event, {}).values():
        if (row.issued_at + 1) * 1000 <= settled_at:
            row.issued_at = settled_at // 1000
            _, _, event_number, *_ = claims.HEAD.unpack_from(row.claims)
            row.claims = _claims(row, event_number)
            mine = event.of(TicketRecord), TicketRecord.id == row.id, TicketRecord.issue == row.issue
            values: dict[str, Any] = {"issued_at": row.issued_at, "claims": row.claims}
            session.execute(
                update(TicketRecord).where(*mine).values(values).execution_options(synchronize_session=False)
            )


def finalise_claims(session: Session, rows: Iterable[TicketRecord]) -> None:
    """Fix the claims before the end of the transaction, because their codes are needed already.

    Locks the event's head until the commit, which blocks all other sales: prefer to request codes afterwards.
    """
    frozen = session.info.get(_FROZEN, {})
    named = {(EventKey(row.organisation_id, row.event_id), row.id) for row in rows}
    for event in sorted({event for event, ticket_id in named if ticket_id in frozen.get(event, {})}):
        raise_issue_times(session, event, revisions.lock_head(session, event))


def _store_replaced(session: Session, row: TicketRecord) -> None:
    _, key_id, _, ticket_id, issue, *_ = claims.HEAD.unpack_from(row.claims)
    session.add(
        TicketIssueRecord(
            ticket_id=ticket_id, issue=issue, organisation_id=row.organisation_id, key_id=key_id, claims=row.claims
        )
    )


def _claims(row: TicketRecord, event_number: int) -> bytes:
    return claims.to_bytes(
        Ticket(
            key_id=row.key_id,
            event_number=event_number,
            ticket_id=row.id,
            issue=row.issue,
            issued_at=row.issued_at,
            ticket_type=row.ticket_type,
            zone=row.zone,
            seat=row.seat,
            valid_days=row.valid_days,
            entitlement=Entitlement(row.entitlement),
            limit=row.entry_limit,
            flags=TicketFlags(row.flags),
            not_before=row.not_before,
            not_after=row.not_after,
        )
    )
