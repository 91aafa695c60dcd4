"""Lets guests in, and forgets them."""

from __future__ import annotations

from sqlalchemy import delete, update
from sqlalchemy.orm import Session

from shared.clock import Millis
from shared.errors import TooMany
from shared.ids import uuid7
from sync_server.accounts.passwords import tally_key
from sync_server.customers import queries, rules
from sync_server.customers.cookies import Card, new_csrf
from sync_server.customers.models import GuestRow
from sync_server.plumbing.database import announce
from sync_server.plumbing.principals import Deed

KEPT_MS = 48 * 3_600_000
"""A guest whose time is over is remembered a while: holds and orders may still name them."""


def origin_of(address: str) -> str:
    """How what comes from one address is counted without writing the address down."""
    return tally_key("address", address)[:16].hex()


def let_in(session: Session, organisation_id: str, deed: Deed, *, lasts_ms: int, allowed: int) -> Card:
    """A new guest of this organisation; TooMany where one address sends more than `allowed`."""
    origin = origin_of(deed.actor.ip)
    if queries.guests_from(session, origin, deed.now - rules.FROM_ONE_ADDRESS_MS) >= allowed:
        raise TooMany("Too many visitors come from your address. Wait five minutes and try again.", retry_after=300)
    row = GuestRow(
        id=uuid7(deed.now, deed.entropy),
        organisation_id=organisation_id,
        origin=origin,
        created_at=deed.now,
        ends_at=deed.now + lasts_ms,
    )
    session.add(row)
    session.flush()
    announce(session, "guest_let_in", row, deed.now)
    return Card(row.id, organisation_id, row.ends_at, new_csrf(deed.entropy))


def forget(session: Session, now: Millis) -> None:
    """Drop guests whose time is long over, and where the others came from once it need not be counted any more."""
    session.execute(delete(GuestRow).where(GuestRow.ends_at <= now - KEPT_MS))
    counted = GuestRow.created_at > now - rules.FROM_ONE_ADDRESS_MS
    session.execute(update(GuestRow).where(GuestRow.origin.is_not(None), ~counted).values(origin=None))


def end(session: Session, guest_id: str, now: Millis) -> None:
    """A guest goes: the cookie is good no more."""
    session.execute(update(GuestRow).where(GuestRow.id == guest_id).values(ends_at=now))
    announce(session, "guest_gone", guest_id, now)
