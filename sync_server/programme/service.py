"""Lists events as they become visible, change and go: the only writer of listings."""

from __future__ import annotations

from typing import Final

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from shared.clock import Millis
from sync_server.events import public_queries as events
from sync_server.events.public_queries import ListedFacts
from sync_server.plumbing.folding import fold
from sync_server.plumbing.principals import Deed
from sync_server.plumbing.work import MORE
from sync_server.programme import rules
from sync_server.programme.models import Listing
from sync_server.programme.words import words as words_of

REMEMBERED_MS: Final = rules.HOUR
"""So long a walk through the feed never meets an event twice, wherever it was moved meanwhile."""
AT_ONCE: Final = 500


def look_anew(session: Session, event_id: str, now: Millis) -> bool:
    """List an event as it is now, or let it go; whether the feed shows any difference."""
    facts = events.listed_facts(session, event_id)
    if facts is None:
        return False
    until = rules.listed_until(_plan(facts))
    row = session.get(Listing, facts.number)
    if row is None:
        return until > now and _list(session, facts, until)
    seen = row.listed_until > now
    row.listed_until = until if until > now else min(row.listed_until, now)
    _move(row, rules.starts_at(_plan(facts)), now)
    _describe(row, facts)
    return seen or row.listed_until > now


def _list(session: Session, facts: ListedFacts, until: Millis) -> bool:
    own = {"number": facts.number, "event_id": facts.event_id, "organisation_id": facts.organisation_id}
    words = " ".join(words_of(facts.search_text))
    start = rules.starts_at(_plan(facts))
    session.add(Listing(**own, **_columns(facts), words=words, starts_at=start, listed_until=until))
    return True


def _move(row: Listing, start: Millis, now: Millis) -> None:
    if start != row.starts_at:
        lately = row.moved_at > now - REMEMBERED_MS
        row.moved_from = min(row.moved_from, row.starts_at) if lately else row.starts_at
        row.moved_at, row.starts_at = now, start


def _describe(row: Listing, facts: ListedFacts) -> None:
    for name, value in _columns(facts).items():
        setattr(row, name, value)
    words = words_of(facts.search_text)
    # PostgreSQL gives them back sorted and quoted: only a difference is worth a write to the search index.
    if {*words} != {word.strip("'") for word in str(row.words).split()}:
        row.words = " ".join(words)


def _columns(facts: ListedFacts) -> dict[str, str]:
    return {"city": facts.city, "city_norm": facts.city_norm, "category_norm": fold(facts.category)}


def _plan(facts: ListedFacts) -> rules.Plan:
    return rules.Plan(facts.status, facts.start_at, facts.end_at, facts.rescheduled_at, facts.end_at_auto)


def let_go(session: Session, deed: Deed) -> object:
    """Drop what is over, so that the feed begins with what is to come; MORE where there was much of it."""
    old = deed.now - REMEMBERED_MS
    over = select(Listing.number).where(Listing.listed_until < old).order_by(Listing.listed_until).limit(AT_ONCE)
    numbers = session.execute(over).scalars().all()
    if numbers:
        session.execute(delete(Listing).where(Listing.number.in_(numbers), Listing.listed_until < old))
    return MORE if len(numbers) == AT_ONCE else None
