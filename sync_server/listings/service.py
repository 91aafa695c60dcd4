"""Adds, updates and removes listings as events change; nothing else writes them."""

from __future__ import annotations

from typing import Final

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from shared.clock import Millis
from shared.lifecycle import EventStatus
from sync_server.events import public_queries as events
from sync_server.events.public_queries import Event
from sync_server.listings import rules
from sync_server.listings.models import Listing
from sync_server.plumbing.jobs import MORE
from sync_server.plumbing.language.folding import fold
from sync_server.plumbing.language.words import split_words
from sync_server.plumbing.requests.principals import ActionContext

MOVE_MEMORY_MS: Final = rules.HOUR
"""A reader who takes no longer than this never sees an event twice, wherever it is moved meanwhile."""
BATCH_SIZE: Final = 500


def refresh_listing(session: Session, organisation_id: str, event_id: str, now: Millis) -> bool:
    """Update the listing of an event; whether that may change the feed."""
    event = events.listing_fields(session, event_id, organisation_id)
    if event is None:
        return False
    until = rules.listed_until(_times(event))
    row = session.get(Listing, event.number)
    if row is None:
        return until > now and _list(session, event, until)
    was_listed = row.listed_until > now
    row.listed_until = until if until > now else min(row.listed_until, now)
    _move(row, rules.starts_at(_times(event)), now)
    _describe(row, event)
    return was_listed or row.listed_until > now


def _list(session: Session, event: Event, until: Millis) -> bool:
    keys = {"number": event.number, "event_id": event.id, "organisation_id": event.organisation_id}
    words = " ".join(split_words(event.search_text))
    start = rules.starts_at(_times(event))
    session.add(Listing(**keys, **_columns(event), words=words, starts_at=start, listed_until=until))
    return True


def _move(row: Listing, start: Millis, now: Millis) -> None:
    if start != row.starts_at:
        recently = row.moved_at > now - MOVE_MEMORY_MS
        row.moved_from = min(row.moved_from, row.starts_at) if recently else row.starts_at
        row.moved_at, row.starts_at = now, start


def _describe(row: Listing, event: Event) -> None:
    for name, value in _columns(event).items():
        setattr(row, name, value)
    words = split_words(event.search_text)
    # PostgreSQL returns them sorted and quoted; only a real difference is worth a write to the search index.
    if {*words} != {word.strip("'") for word in str(row.words).split()}:
        row.words = " ".join(words)


def _columns(event: Event) -> dict[str, str]:
    return {"city": event.city, "city_norm": event.city_norm, "category_norm": fold(event.category)}


def _times(event: Event) -> rules.ListingTimes:
    status = EventStatus(event.status)
    return rules.ListingTimes(status, event.start_at, event.end_at, event.rescheduled_at, event.end_at_auto)


def delete_expired(session: Session, context: ActionContext) -> object:
    """Job: delete listings that are over, so that the feed starts with what is to come; MORE if there may be more."""
    old = context.now - MOVE_MEMORY_MS
    over = select(Listing.number).where(Listing.listed_until < old).order_by(Listing.listed_until).limit(BATCH_SIZE)
    numbers = session.execute(over).scalars().all()
    if numbers:
        session.execute(delete(Listing).where(Listing.number.in_(numbers), Listing.listed_until < old))
    return MORE if len(numbers) == BATCH_SIZE else None
