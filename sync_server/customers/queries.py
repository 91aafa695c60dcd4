"""Queries for guests."""

from __future__ import annotations

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from shared.clock import Millis
from sync_server.customers.models import GuestRow


def guests_from_address(session: Session, origin: str, since: Millis) -> int:
    """How many guests have come from one client address since then."""
    query = select(func.count()).where(GuestRow.origin == origin, GuestRow.created_at > since)
    return session.execute(query).scalar_one()


def guests_and_addresses(session: Session, since: Millis) -> tuple[int, int]:
    """How many guests have come since then, of those whose address is still known, and from how many addresses."""
    query = select(func.count(GuestRow.origin), func.count(GuestRow.origin.distinct())).where(
        GuestRow.created_at > since
    )
    guests, addresses = session.execute(query).one()
    return guests, addresses


def is_active(session: Session, organisation_id: str, guest_id: str, now: Millis) -> bool:
    """Whether a guest's session is still open; the cookie alone does not show whether the guest ended it."""
    here = GuestRow.organisation_id == organisation_id, GuestRow.id == guest_id, GuestRow.ends_at > now
    return session.scalar(select(GuestRow.ends_at).where(*here)) is not None
