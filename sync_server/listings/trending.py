"""Ranks events by interest, in generations that readers can page through."""

from __future__ import annotations

from collections import defaultdict
from typing import Final

from sqlalchemy import delete, insert, select, text
from sqlalchemy.orm import Session, aliased

from shared.clock import Millis
from sync_server.listings.models import Generation, Interest, Listing, Place
from sync_server.listings.rules import HOUR, INTEREST_HOURS, score
from sync_server.plumbing.requests.principals import ActionContext

PLACES: Final = 1_000
"""How many events have a place; all others follow by their start."""
INTERVAL_MS: Final = 60_000
RETENTION_MS: Final = 30 * 60_000
"""How long readers can go on in a generation after a newer one."""

_CLAIM_NUMBER = text(
    "INSERT INTO trending_generations (number, made_at) VALUES (:number, :now) ON CONFLICT DO NOTHING RETURNING 1"
)


def rank(session: Session, context: ActionContext) -> bool:
    """Job: write a new generation if the order has changed; whether it did."""
    newest = session.execute(select(Generation).order_by(Generation.number.desc()).limit(1)).scalar_one_or_none()
    number = newest.number if newest else 0
    order = _order(session, context.now)
    if order == _places(session, number):
        _delete_old(session, context.now)
        return False
    # Concurrent workers take the same number: one of them writes.
    if session.execute(_CLAIM_NUMBER, {"number": number + 1, "now": context.now}).first() is None:
        return False
    if order:
        rows = [{"generation": number + 1, "place": place, "number": event} for place, event in enumerate(order, 1)]
        session.execute(insert(Place), rows)
    _delete_old(session, context.now)
    return True


def _order(session: Session, now: Millis) -> list[int]:
    """The numbers of trending events, highest score first."""
    since = now // HOUR - INTEREST_HOURS
    wanted = (
        select(Listing.number, Listing.starts_at, Interest.hour, Interest.weight)
        .join(Listing, Listing.event_id == Interest.event_id)
        .where(Interest.hour >= since, Listing.listed_until > now)
    )
    interest: dict[tuple[int, int], list[tuple[int, int]]] = defaultdict(list)
    for number, start, hour, weight in session.execute(wanted):
        interest[start, number].append((hour, weight))
    ranked = sorted((-score(hours, start, now), start, number) for (start, number), hours in interest.items())
    return [number for _, _, number in ranked[:PLACES]]


def _places(session: Session, generation: int) -> list[int]:
    wanted = select(Place.number).where(Place.generation == generation).order_by(Place.place)
    return list(session.execute(wanted).scalars())


def _delete_old(session: Session, now: Millis) -> None:
    """Delete generations whose successor is old enough; the newest always stays."""
    later = aliased(Generation)
    successor = select(later.number).where(later.number == Generation.number + 1, later.made_at < now - RETENTION_MS)
    expired = session.execute(select(Generation.number).where(successor.exists())).scalars().all()
    if expired:
        session.execute(delete(Place).where(Place.generation.in_(expired)))
        session.execute(delete(Generation).where(Generation.number.in_(expired)))
