"""Lets tickets follow the membership that they hang on: revoked, it opens no gate any more."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from shared.clock import Millis
from shared.snapshot import MembershipState
from sync_server.audit.service import AuditLine, record
from sync_server.events import queries as events
from sync_server.events import service as event_service
from sync_server.events.rules import OVER
from sync_server.outbox.service import Fact
from sync_server.outbox.service import record as record_fact
from sync_server.plumbing.principals import Deed
from sync_server.plumbing.shapes import iso_or_none
from sync_server.revisions import service as revisions
from sync_server.seating import memberships as kept
from sync_server.seating.memberships import Membership, State
from sync_server.tickets import queries
from sync_server.tickets.models import TicketRecord

_STATES = {State.ACTIVE: MembershipState.ACTIVE, State.REVOKED: MembershipState.REVOKED}


def revoke(session: Session, organisation_id: str, id: str, deed: Deed, *, reason: str) -> int:
    """The membership is no more: its tickets stay sold, but zones that ask for it let them in no longer.

    How many tickets of events that are not over hang on it; NotFound for a membership that was never granted.
    """
    until = kept.membership(session, organisation_id, id).until
    return _change(session, organisation_id, id, State.REVOKED, until, deed=deed, reason=reason)


def renew(session: Session, organisation_id: str, id: str, until: Millis | None, deed: Deed, *, reason: str) -> int:
    """The membership goes on until then, or without an end; the same for its tickets."""
    return _change(session, organisation_id, id, State.ACTIVE, until, deed=deed, reason=reason)


def _change(
    session: Session, organisation_id: str, id: str, state: State, until: Millis | None, *, deed: Deed, reason: str
) -> int:
    # The membership before the events, as whoever issues takes them: no ticket is bound to what was revoked meanwhile.
    before, after = kept.change(session, organisation_id, id, state=state, until=until, now=deed.now)
    mine = TicketRecord.organisation_id == organisation_id, TicketRecord.membership_id == id
    there = session.execute(select(TicketRecord.event_id).where(*mine).distinct()).scalars().all()
    count = 0
    for event_id in sorted(there):  # one order for everybody, so that no two wait for each other
        event_service.lock(session, organisation_id, event_id)
        facts = events.facts(session, organisation_id, event_id)
        if facts.status not in OVER:
            rows = session.execute(select(TicketRecord).where(*mine, TicketRecord.event_id == event_id)).scalars().all()
            _mark(rows, after, deed)
            revisions.put(
                session, facts.number, [queries.ticket_row(row, name_checks=facts.name_checks) for row in rows]
            )
            count += len(rows)
    _tell(session, organisation_id, before, after, count, deed=deed, reason=reason)
    return count


def _mark(rows: Sequence[TicketRecord], now: Membership, deed: Deed) -> None:
    for row in rows:
        row.membership_state, row.membership_until, row.updated_at = state_of(now), now.until or 0, deed.now


def state_of(found: Membership) -> int:
    """As rows of tickets have it; whether it is over says their `until`."""
    return int(_STATES[found.state])


def _words(found: Membership) -> dict[str, Any]:
    return {"state": str(found.state), "until": iso_or_none(found.until)}


def _tell(
    session: Session, organisation_id: str, old: Membership, new: Membership, count: int, *, deed: Deed, reason: str
) -> None:
    name = "membership_revoked" if new.state is State.REVOKED else "membership_renewed"
    before, after = (_words(each) for each in (old, new))
    after["tickets"] = count
    line = AuditLine(deed.actor, name, "membership", new.id, organisation_id, deed.now, before, after, reason)
    record(session, line)
    record_fact(session, Fact(name, organisation_id, deed.now, {"membership": new.id}, {"tickets": count}))
