"""Revokes and renews memberships, and updates the tickets that depend on them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from shared.clock import Millis
from shared.wire.snapshot import MembershipState
from sync_server.events import queries as events
from sync_server.events import service as event_service
from sync_server.events.rules import CLOSED_STATUSES
from sync_server.outbox.service import Fact, Subject, record_change
from sync_server.plumbing.api.schemas import iso_or_none
from sync_server.plumbing.requests.principals import ActionContext
from sync_server.revisions import service as revisions
from sync_server.seating.zone_access import memberships as tier_memberships
from sync_server.seating.zone_access.memberships import Membership, State
from sync_server.tickets import queries
from sync_server.tickets.models import TicketRecord

_STATES = {State.ACTIVE: MembershipState.ACTIVE, State.REVOKED: MembershipState.REVOKED}


def revoke(session: Session, organisation_id: str, id: str, context: ActionContext, *, reason: str) -> int:
    """Revoke a membership: its tickets stay sold, but zones that require it refuse them.

    Returns the number of tickets concerned, of events that are not over; NotFound for an unknown membership.
    """
    until = tier_memberships.membership(session, organisation_id, id).until
    return _change(session, organisation_id, id, State.REVOKED, until, context=context, reason=reason)


def renew(
    session: Session, organisation_id: str, id: str, until: Millis | None, context: ActionContext, *, reason: str
) -> int:
    """Extend a membership and its tickets until then, or without an end."""
    return _change(session, organisation_id, id, State.ACTIVE, until, context=context, reason=reason)


def _change(
    session: Session,
    organisation_id: str,
    id: str,
    state: State,
    until: Millis | None,
    *,
    context: ActionContext,
    reason: str,
) -> int:
    # The membership before the events, in the order in which issuing locks them.
    before, after = tier_memberships.change(session, organisation_id, id, state=state, until=until, now=context.now)
    owned = TicketRecord.organisation_id == organisation_id, TicketRecord.membership_id == id
    event_ids = session.execute(select(TicketRecord.event_id).where(*owned).distinct()).scalars().all()
    count = 0
    for event_id in sorted(event_ids):  # same lock order everywhere, against deadlocks
        event_service.lock_event(session, organisation_id, event_id)
        event = events.details(session, organisation_id, event_id)
        if event.status not in CLOSED_STATUSES:
            rows = (
                session.execute(select(TicketRecord).where(*owned, TicketRecord.event_id == event_id)).scalars().all()
            )
            _update_tickets(rows, after, context)
            revisions.put(session, event.key, [queries.ticket_row(row, name_checks=event.name_checks) for row in rows])
            count += len(rows)
    _record(session, organisation_id, before, after, count, context=context, reason=reason)
    return count


def _update_tickets(rows: Sequence[TicketRecord], membership: Membership, context: ActionContext) -> None:
    for row in rows:
        row.membership_state, row.membership_until, row.updated_at = (
            ticket_membership_state(membership),
            membership.until or 0,
            context.now,
        )


def ticket_membership_state(found: Membership) -> int:
    """The state as stored in tickets; expiry is in `membership_until`."""
    return int(_STATES[found.state])


def _state_and_end(found: Membership) -> dict[str, Any]:
    return {"state": str(found.state), "until": iso_or_none(found.until)}


def _record(
    session: Session,
    organisation_id: str,
    old: Membership,
    new: Membership,
    count: int,
    *,
    context: ActionContext,
    reason: str,
) -> None:
    name = "membership_revoked" if new.state is State.REVOKED else "membership_renewed"
    before, after = (_state_and_end(each) for each in (old, new))
    after["tickets"] = count
    fact = Fact(name, organisation_id, context.now, {"membership": new.id}, {"tickets": count})
    record_change(session, context, Subject("membership", new.id, before, after, reason), fact)
