"""Creates guest sessions, ends them, and deletes old ones."""

from __future__ import annotations

from functools import lru_cache
from hashlib import sha256

from sqlalchemy import delete, update
from sqlalchemy.orm import Session

from shared.clock import Millis
from shared.errors import TooMany
from shared.ids import uuid7
from sync_server.customers import queries, rules
from sync_server.customers.cookies import GuestSession, new_csrf
from sync_server.customers.logins import sessions
from sync_server.customers.models import GuestRow
from sync_server.customers.signals import GuestCreated, GuestRemoved
from sync_server.plumbing.due import organisations_due
from sync_server.plumbing.requests.addresses import network_of, tells_apart
from sync_server.plumbing.requests.principals import ActionContext
from sync_server.plumbing.signals import send

RETENTION_MS = 48 * 3_600_000
"""Ended guests are kept this long, because holds and orders may still refer to them."""


@lru_cache(1024)
def address_hash(address: str) -> str:
    """A hash of a client address, of IPv6 of its network, to count its requests without storing the address."""
    return sha256(f"address\0{network_of(address)}".encode()).hexdigest()[:32]


def create_guest(
    session: Session, organisation_id: str, context: ActionContext, *, lasts_ms: int, allowed: int
) -> GuestSession:
    """Start a guest session; TooMany if one client address starts more than `allowed`."""
    origin, since = address_hash(context.actor.ip), context.now - rules.ADDRESS_WINDOW_MS
    if tells_apart(context.actor.ip) and queries.guests_from_address(session, origin, since) >= allowed:
        raise TooMany("Too many visitors from your network. Wait five minutes and try again.", retry_after=300)
    row = GuestRow(
        id=uuid7(context.now, context.entropy),
        organisation_id=organisation_id,
        origin=origin,
        created_at=context.now,
        ends_at=context.now + lasts_ms,
    )
    session.add(row)
    session.flush()
    send(session, GuestCreated(organisation_id, row.id, context))
    return GuestSession(row.id, organisation_id, row.ends_at, new_csrf(context.entropy))


def delete_expired(session: Session, now: Millis) -> None:
    """Delete guests after their retention time, and address hashes once they no longer count."""
    owner, old = GuestRow.organisation_id, GuestRow.ends_at <= now - RETENTION_MS
    for organisation_id in organisations_due(session, owner, old):
        gone = delete(GuestRow).where(owner == organisation_id, old).returning(GuestRow.id)
        sessions.forget_guests(session, organisation_id, session.scalars(gone).all())
    uncounted = GuestRow.origin.is_not(None), GuestRow.created_at <= now - rules.ADDRESS_WINDOW_MS
    for organisation_id in organisations_due(session, owner, *uncounted):
        session.execute(update(GuestRow).where(owner == organisation_id, *uncounted).values(origin=None))


def end_session(session: Session, organisation_id: str, guest_id: str, context: ActionContext) -> None:
    """End a guest's session, so that the cookie is no longer valid."""
    guest = GuestRow.organisation_id == organisation_id, GuestRow.id == guest_id
    session.execute(update(GuestRow).where(*guest).values(ends_at=context.now))
    send(session, GuestRemoved(organisation_id, guest_id, context))
