"""Reads of guests."""

from __future__ import annotations

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from shared.clock import Millis
from sync_server.customers.models import GuestRow


def guests_from(session: Session, origin: str, since: Millis) -> int:
    """How many guests came from one address since then."""
    there = select(func.count()).where(GuestRow.origin == origin, GuestRow.created_at > since)
    return session.execute(there).scalar_one()


def is_here(session: Session, guest_id: str, now: Millis) -> bool:
    """Whether a guest has neither left nor stayed too long: a cookie alone does not know who left."""
    return session.scalar(select(GuestRow.ends_at).where(GuestRow.id == guest_id, GuestRow.ends_at > now)) is not None
