"""Responses to visitors as cached bytes."""

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
from sync_server.listings import cursors, event_json, queries
from sync_server.listings.queries import Filter
from sync_server.plumbing.caching import cache
from sync_server.plumbing.language.folding import fold
from sync_server.plumbing.parts import Parts

QUERIES: Final = {"latest": queries.latest, "trending": queries.trending}
MAX_SUGGESTIONS: Final = 20
MAX_SIMILAR: Final = 6
SIMILAR_READ: Final = 100
"""Of one city and category within the time; the nearest of those on sale are shown."""
SIMILAR_WITHIN_MS: Final = 30 * 24 * 3_600_000
_ID: Final = re.compile("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


@dataclass(frozen=True, slots=True)
class FeedCriteria:
    """Order and filters of the feed; `organisation` is a slug, `city`, `category` and `words` are folded."""

    sort: str = "latest"
    organisation: str | None = None
    city: str | None = None
    category: str | None = None
    starts_from: Millis | None = None
    starts_before: Millis | None = None
    words: tuple[str, ...] | None = None

    @property
    def text(self) -> str:
        """Equal for equal criteria."""
        return repr(astuple(self))


def feed(parts: Parts, criteria: FeedCriteria, after: str | None, limit: int) -> bytes:
    """A page of the feed; InvalidRequest for a cursor that is damaged, expired, or from other criteria."""
    text = criteria.text
    position = None if after is None else cursors.decode(after, text)
    digest = blake2b(f"{text}{limit} {after}".encode(), digest_size=16).hexdigest()

    def load() -> bytes:
        now = parts.clock()
        with parts.database.autocommit_reading() as session:
            wanted = _filter(session, criteria)
            if wanted is None:
                return orjson.dumps({"audience": "public", "items": [], "next": None})
            found = QUERIES[criteria.sort](session, wanted, position, limit=limit, now=now)
            cards = events.cards(session, found.numbers)
            following = None if found.last is None else cursors.encode(found.last, text)
            return orjson.dumps(
                {"audience": "public", "items": event_json.card_payloads(session, cards, now), "next": following}
            )

    return parts.cache.fetch(cache.public_key("feed", f"{criteria.city or '*'}:{digest}"), cache.FEED, load)


def _filter(session: Session, criteria: FeedCriteria) -> Filter | None:
    """None if there is no such organisation."""
    owner = None
    if criteria.organisation is not None:
        row = accounts.organisation_by_slug(session, criteria.organisation)
        if row is None:
            return None
        owner = row.id
    when = criteria.starts_from, criteria.starts_before
    return Filter(criteria.city, criteria.category, *when, organisation_id=owner, words=criteria.words)


def cities_of(parts: Parts, organisation_id: str) -> bytes:
    """The cities where an organisation has listed events."""

    def load() -> bytes:
        with parts.database.autocommit_reading() as session:
            return orjson.dumps([*queries.cities_of(session, organisation_id, parts.clock())])

    return parts.cache.fetch(cache.public_key("cities", f"of:{organisation_id}"), cache.FEED, load)


def page(parts: Parts, name: str, organisation: str | None) -> bytes:
    """The page of one event, by its id or slug; several organisers may use one slug."""
    event_id = name if organisation is None and _ID.fullmatch(name) else _by_slug(parts, name, organisation)

    def load() -> bytes:
        with parts.database.autocommit_reading() as session:
            card = events.page(session, event_id)
            if card is None:
                raise _missing()
            return orjson.dumps(event_json.page_payload(session, card, parts.clock()))

    return parts.cache.fetch(cache.public_key("event", event_id), cache.EVENT, load)


def similar(parts: Parts, event_id: str) -> bytes:
    """Events of the same city and category that are on sale, the nearest in time first: for what is sold out."""

    def load() -> bytes:
        now = parts.clock()
        with parts.database.autocommit_reading() as session:
            card = events.page(session, event_id)
            if card is None:
                raise _missing()
            near = max(now, card.start_at - SIMILAR_WITHIN_MS), card.start_at + SIMILAR_WITHIN_MS
            wanted = Filter(fold(card.city), fold(card.category), *near)
            numbers = queries.latest(session, wanted, None, limit=SIMILAR_READ, now=now).numbers
            found = [each for each in events.cards(session, numbers) if each.id != card.id]
            nearest = sorted(found, key=lambda each: (abs(each.start_at - card.start_at), each.number))
            items = event_json.card_payloads(session, nearest, now)
            on_sale = [each for each in items if each["sale_status"] == "on_sale"]
            return orjson.dumps({"audience": "public", "items": on_sale[:MAX_SIMILAR], "next": None})

    return parts.cache.fetch(cache.public_key("event", f"{event_id}:similar"), cache.FEED, load)


def _by_slug(parts: Parts, slug: str, organisation: str | None) -> str:
    with parts.database.autocommit_reading() as session:
        owner = accounts.organisation_by_slug(session, organisation) if organisation else None
        if organisation and owner is None:
            raise _missing()
        found = events.ids_of_slug(session, slug, owner.id if owner else None)
    if not found:
        raise _missing()
    if len(found) > 1:
        raise InvalidRequest(
            "Several organisers have an event with this slug. Add ?organisation=<slug>, or use the id.",
            code="ambiguous_slug",
        )
    return found[0]


def _missing() -> NotFound:
    return NotFound("There is no such event.", code="event_not_found")


def cities(parts: Parts, prefix: str) -> bytes:
    """The cities whose folded names start with the prefix, with the number of events in each."""

    def load() -> bytes:
        with parts.database.autocommit_reading() as session:
            found = queries.cities(session, prefix, limit=MAX_SUGGESTIONS, now=parts.clock())
        return orjson.dumps({"items": [{"city": city.name, "events": city.events} for city in found], "next": None})

    return parts.cache.fetch(cache.public_key("cities", f"suggestions:{prefix}"), cache.CITIES, load)
