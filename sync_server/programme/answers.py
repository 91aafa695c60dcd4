"""Answers visitors' questions with bytes that are remembered for moments."""

from __future__ import annotations

import re
from dataclasses import astuple, dataclass
from hashlib import blake2b
from typing import Final

import orjson
from sqlalchemy.orm import Session

from shared.clock import Millis
from shared.errors import InvalidRequest, NotFound
from sync_server.accounts import queries as accounts
from sync_server.events import public_queries as events
from sync_server.plumbing import cache
from sync_server.plumbing.parts import Parts
from sync_server.programme import cursors, queries, shown
from sync_server.programme.queries import Filter

FINDERS: Final = {"latest": queries.latest, "trending": queries.trending}
SUGGESTED: Final = 20
_ID: Final = re.compile("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


@dataclass(frozen=True, slots=True)
class Question:
    """What a visitor asks of the feed; `organisation` is a slug, `city`, `category` and `words` are folded."""

    sort: str = "latest"
    organisation: str | None = None
    city: str | None = None
    category: str | None = None
    starts_from: Millis | None = None
    starts_before: Millis | None = None
    words: tuple[str, ...] | None = None

    @property
    def text(self) -> str:
        """The same text for the same question."""
        return repr(astuple(self))


def feed(parts: Parts, question: Question, after: str | None, limit: int) -> bytes:
    """A page of the feed; InvalidRequest for a cursor that is damaged, too old, or of another question."""
    asked = question.text
    step = None if after is None else cursors.read(after, asked)
    mark = blake2b(f"{asked}{limit} {after}".encode(), digest_size=16).hexdigest()

    def load() -> bytes:
        now = parts.clock()
        with parts.database.glancing() as session:
            chosen = _filter(session, question)
            if chosen is None:
                return orjson.dumps({"items": [], "next": None})
            found = FINDERS[question.sort](session, chosen, step, limit=limit, now=now)
            cards = events.cards(session, found.numbers)
            following = None if found.last is None else cursors.write(found.last, asked)
            return orjson.dumps({"items": shown.items(session, cards, now), "next": following})

    return parts.cache.fetch(cache.public("feed", f"{question.city or '*'}:{mark}"), cache.FEED, load)


def _filter(session: Session, question: Question) -> Filter | None:
    """None: there is no such organisation."""
    owner = None
    if question.organisation is not None:
        row = accounts.organisation_by_slug(session, question.organisation)
        if row is None:
            return None
        owner = row.id
    when = question.starts_from, question.starts_before
    return Filter(question.city, question.category, *when, organisation_id=owner, words=question.words)


def page(parts: Parts, name: str, organisation: str | None) -> bytes:
    """What anybody may know of one event, by its id, or by its slug and where needed its organisation's slug."""
    event_id = name if organisation is None and _ID.fullmatch(name) else _by_slug(parts, name, organisation)

    def load() -> bytes:
        with parts.database.glancing() as session:
            card = events.page(session, event_id)
            if card is None:
                raise _missing()
            return orjson.dumps(shown.whole(session, card, parts.clock()))

    return parts.cache.fetch(cache.public("event", event_id), cache.EVENT, load)


def _by_slug(parts: Parts, slug: str, organisation: str | None) -> str:
    with parts.database.glancing() as session:
        owner = accounts.organisation_by_slug(session, organisation) if organisation else None
        if organisation and owner is None:
            raise _missing()
        found = events.ids_of_slug(session, slug, owner.id if owner else None)
    if not found:
        raise _missing()
    if len(found) > 1:
        raise InvalidRequest(
            "Several organisers have an event of that name. Say whose you mean: ?organisation=<slug>, or use the id.",
            code="ambiguous_slug",
        )
    return found[0]


def _missing() -> NotFound:
    return NotFound("There is no such event.", code="event_not_found")


def cities(parts: Parts, beginning: str) -> bytes:
    """The cities whose folded names begin so, with the number of events to be found there."""

    def load() -> bytes:
        with parts.database.glancing() as session:
            found = queries.cities(session, beginning, limit=SUGGESTED, now=parts.clock())
        return orjson.dumps({"items": [{"city": city.name, "events": city.events} for city in found]})

    return parts.cache.fetch(cache.public("cities", f"suggestions:{beginning}"), cache.CITIES, load)
