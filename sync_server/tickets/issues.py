"""What each issue of a ticket says: frozen when made, kept when replaced, never older than gates were told."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from sqlalchemy import update
from sqlalchemy.orm import Session

from shared import claims
from shared.clock import Millis
from shared.tickets import Entitlement, Ticket, TicketFlags
from sync_server.revisions import service as revisions
from sync_server.tickets.models import TicketIssueRecord, TicketRecord

_FROZEN: Final = "issues_frozen"


def freeze(session: Session, row: TicketRecord, key_id: int, now: Millis) -> None:
    """Say what this issue says; the signature over it is made when the code is asked for, after the commit."""
    if row.claims:
        _keep_replaced(session, row)
    row.key_id, row.issued_at = key_id, now // 1000
    row.claims = _words(row)
    session.info.setdefault(_FROZEN, {}).setdefault(row.event_number, {})[row.id] = row


def not_older_than(session: Session, event_number: int, settled_at: Millis) -> None:
    """Let what this transaction issued be younger than every snapshot that lacks it.

    Called under the lock of the event's head, with what gates may have been told before: a sale that takes seconds
    would print a second that a gate's snapshot has behind it, and the gate would say that it ought to know the ticket.
    """
    for row in session.info.get(_FROZEN, {}).pop(event_number, {}).values():
        if (row.issued_at + 1) * 1000 <= settled_at:
            row.issued_at = settled_at // 1000
            row.claims = _words(row)
            kept = update(TicketRecord).where(TicketRecord.id == row.id, TicketRecord.issue == row.issue)
            said: dict[str, Any] = {"issued_at": row.issued_at, "claims": row.claims}
            session.execute(kept.values(said).execution_options(synchronize_session=False))


def make_final(session: Session, rows: Iterable[TicketRecord]) -> None:
    """Let these words change no more though their transaction goes on: somebody wants the codes before the commit.

    Holds the lock of the event's head from now on, so that all who sell there wait: better ask after the commit.
    """
    frozen = session.info.get(_FROZEN, {})
    early = {row.event_number for row in rows if row.id in frozen.get(row.event_number, {})}
    for event_number in sorted(early):
        not_older_than(session, event_number, revisions.lock_head(session, event_number))


def _keep_replaced(session: Session, row: TicketRecord) -> None:
    _, key_id, _, ticket_id, issue, *_ = claims.HEAD.unpack_from(row.claims)
    session.add(
        TicketIssueRecord(
            ticket_id=ticket_id, issue=issue, organisation_id=row.organisation_id, key_id=key_id, claims=row.claims
        )
    )


def _words(row: TicketRecord) -> bytes:
    return claims.to_bytes(
        Ticket(
            key_id=row.key_id,
            event_number=row.event_number,
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
