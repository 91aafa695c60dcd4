"""Ranks events by the interest they meet with, in generations that readers can hold on to."""

from __future__ import annotations

from collections import defaultdict
from typing import Final

from sqlalchemy import delete, insert, select, text
from sqlalchemy.orm import Session, aliased

from shared.clock import Millis
from sync_server.plumbing.principals import Deed
from sync_server.programme.models import Generation, Interest, Listing, Place
from sync_server.programme.rules import HOUR, INTEREST_HOURS, score

PLACES: Final = 1_000
"""So many events have a place; all others follow by their start."""
EVERY_MS: Final = 60_000
KEPT_MS: Final = 30 * 60_000
"""So long after a newer one came a generation is still read to its end."""

_ONE_WRITES = text(
    "INSERT INTO trending_generations (number, made_at) VALUES (:number, :now) ON CONFLICT DO NOTHING RETURNING 1"
)


def rank(session: Session, deed: Deed) -> bool:
    """Make a new generation where the order has changed; whether there is one."""
    newest = session.execute(select(Generation).order_by(Generation.number.desc()).limit(1)).scalar_one_or_none()
    number = newest.number if newest else 0
    order = _order(session, deed.now)
    if order == _places(session, number):
        _drop_old(session, deed.now)
        return False
    # Workers that come to it at the same time take the same number: one of them writes.
    if session.execute(_ONE_WRITES, {"number": number + 1, "now": deed.now}).first() is None:
        return False
    if order:
        rows = [{"generation": number + 1, "place": place, "number": event} for place, event in enumerate(order, 1)]
        session.execute(insert(Place), rows)
    _drop_old(session, deed.now)
    return True


def _order(session: Session, now: Millis) -> list[int]:
    """The numbers of trending events, first things first."""
    since = now // HOUR - INTEREST_HOURS
    wanted = (
        select(Listing.number, Listing.starts_at, Interest.hour, Interest.weight)
        .join(Listing, Listing.event_id == Interest.event_id)
        .where(Interest.hour >= since, Listing.listed_until > now)
    )
    met: dict[tuple[int, int], list[tuple[int, int]]] = defaultdict(list)
    for number, start, hour, weight in session.execute(wanted):
        met[start, number].append((hour, weight))
    ranked = sorted((-score(hours, start, now), start, number) for (start, number), hours in met.items())
    return [number for _, _, number in ranked[:PLACES]]


def _places(session: Session, generation: int) -> list[int]:
    wanted = select(Place.number).where(Place.generation == generation).order_by(Place.place)
    return list(session.execute(wanted).scalars())


def _drop_old(session: Session, now: Millis) -> None:
    """Generations whose successor is old enough; the newest is never dropped."""
    later = aliased(Generation)
    followed = select(later.number).where(later.number == Generation.number + 1, later.made_at < now - KEPT_MS)
    gone = session.execute(select(Generation.number).where(followed.exists())).scalars().all()
    if gone:
        session.execute(delete(Place).where(Place.generation.in_(gone)))
        session.execute(delete(Generation).where(Generation.number.in_(gone)))
