"""Reads of what buyers of an event were told."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import select
from sqlalchemy.orm import Session

from sync_server.checkout.filing import figures
from sync_server.checkout.filing.figures import Figure
from sync_server.events import queries as events
from sync_server.order_mails.models import EventNewsRow
from sync_server.plumbing.event_key import EventKey
from sync_server.plumbing.parts import Parts


def require_event(session: Session, key: EventKey) -> None:
    """NotFound unless the organisation has this event."""
    events.event(session, *key)


@dataclass(frozen=True, slots=True)
class Buyers:
    """Who is written to when an event changes."""

    orders: int
    told: int
    without_address: int


def buyers(parts: Parts, session: Session, key: EventKey) -> Buyers:
    """How many buyers an event has, and how many of them can be written to: none where no mail is set up."""
    found = figures.of_event(session, key)
    count, addressed = found[Figure.BOUGHT], found[Figure.ADDRESSED]
    return Buyers(count, addressed if parts.config.mail_url is not None else 0, count - addressed)


def news(session: Session, key: EventKey) -> Sequence[EventNewsRow]:
    """What the buyers of an event were told, the newest first; of the last two months."""
    require_event(session, key)
    wanted = select(EventNewsRow).where(key.of(EventNewsRow)).order_by(EventNewsRow.created_at.desc()).limit(100)
    return session.execute(wanted).scalars().all()
