"""Lets tickets follow the membership that they hang on: revoked, it opens no gate any more."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import select
from sqlalchemy.orm import Session

from shared.clock import Millis
from shared.errors import NotFound
from shared.snapshot import MembershipState
from sync_server.audit.service import AuditLine, record
from sync_server.events import queries as events
from sync_server.events import service as event_service
from sync_server.events.rules import OVER
from sync_server.outbox.service import Fact
from sync_server.outbox.service import record as record_fact
from sync_server.plumbing.principals import Deed
from sync_server.revisions import service as revisions
from sync_server.tickets import queries
from sync_server.tickets.models import TicketRecord


def revoke(session: Session, organisation_id: str, membership_id: str, deed: Deed, *, reason: str) -> int:
    """The membership is no more: its tickets stay sold, but zones that ask for it let them in no longer.

    How many tickets of events that are not over hang on it; NotFound where none ever did.
    """
    return _change(session, organisation_id, membership_id, MembershipState.REVOKED, None, deed=deed, reason=reason)


def renew(
    session: Session, organisation_id: str, membership_id: str, until: Millis | None, deed: Deed, *, reason: str
) -> int:
    """The membership goes on until then, or without an end; the same for its tickets."""
    end = until or 0
    return _change(session, organisation_id, membership_id, MembershipState.ACTIVE, end, deed=deed, reason=reason)


def _change(
    session: Session, organisation_id: str, membership_id: str, state: MembershipState, until: Millis | None,
    *, deed: Deed, reason: str,
) -> int:  # fmt: skip
    mine = TicketRecord.organisation_id == organisation_id, TicketRecord.membership_id == membership_id
    there = session.execute(select(TicketRecord.event_id).where(*mine).distinct()).scalars().all()
    if not membership_id or not there:
        raise NotFound("No ticket hangs on such a membership.", code="membership_not_found")
    count = 0
    for event_id in sorted(there):  # one order for everybody, so that no two wait for each other
        event_service.lock(session, organisation_id, event_id)
        facts = events.facts(session, organisation_id, event_id)
        if facts.status not in OVER:
            rows = session.execute(select(TicketRecord).where(*mine, TicketRecord.event_id == event_id)).scalars().all()
            _mark(rows, state, until, deed)
            revisions.put(
                session, facts.number, [queries.ticket_row(row, name_checks=facts.name_checks) for row in rows]
            )
            count += len(rows)
    _tell(session, organisation_id, membership_id, state, count, deed=deed, reason=reason)
    return count


def _mark(rows: Sequence[TicketRecord], state: MembershipState, until: Millis | None, deed: Deed) -> None:
    for row in rows:
        row.membership_state, row.updated_at = int(state), deed.now
        row.membership_until = row.membership_until if until is None else until


def _tell(
    session: Session, organisation_id: str, membership_id: str, state: MembershipState, count: int,
    *, deed: Deed, reason: str,
) -> None:  # fmt: skip
    name = "membership_revoked" if state is MembershipState.REVOKED else "membership_renewed"
    after = {"state": state.name.lower(), "tickets": count}
    line = AuditLine(deed.actor, name, "membership", membership_id, organisation_id, deed.now, None, after, reason)
    record(session, line)
    record_fact(session, Fact(name, organisation_id, deed.now, {"membership": membership_id}, {"tickets": count}))
