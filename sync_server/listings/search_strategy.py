"""Chooses how to run a search: through the index by its rare words, or along the feed if all are common."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import BigInteger, TextClause, select, text
from sqlalchemy.orm import Session

from shared.clock import Millis
from sync_server.listings.models import Listing
from sync_server.listings.search_words import for_postgresql, for_sqlite
from sync_server.plumbing.database import database_of
from sync_server.plumbing.sql.prepared import Prepared, placeholder

LONG_SEARCH: Final = 16
"""Searches with this many words use the index for all of them: comparing them one by one takes longer."""
SAMPLE: Final = 200
"""How many of the next events decide which words are common."""
COMMON: Final = 0.02
"""A word in this share of them turns up soon, wherever one reads."""
SCAN_FACTOR: Final = 100
"""How many events are scanned per wanted one, before a search for common words uses the index after all."""

_SQLITE_HITS: Final = "listings.number IN (SELECT rowid FROM listing_words WHERE listing_words MATCH :hits)"
_POSTGRESQL_HITS: Final = "listings.words @@ CAST(:hits AS tsquery)"
_NEXT_WORDS: Final = Prepared(
    select(Listing.words)
    .where(Listing.listed_until > placeholder("now"))
    .order_by(Listing.starts_at, Listing.number)
    .limit(placeholder("most", BigInteger()))
)


@dataclass(frozen=True, slots=True)
class Search:
    """The words to find: whole ones, and the prefix of one."""

    whole: tuple[str, ...]
    prefix: str

    @property
    def is_long(self) -> bool:
        """Whether there are too many words to compare them one by one."""
        return len(self.whole) >= LONG_SEARCH

    def rare(self, session: Session, now: Millis) -> Search | None:
        """Those of its words that few events have; None if all are common."""
        rows = _NEXT_WORDS.rows(session, now=now, most=SAMPLE)
        # PostgreSQL quotes each word; words themselves have no quotes.
        texts = [f" {row.words} ".replace("'", "") for row in rows]
        many = COMMON * len(texts)
        whole = tuple(word for word in self.whole if _count(f" {word} ", texts) < many)
        return Search(whole, self.prefix if _count(f" {self.prefix}", texts) < many else "").or_none()

    def or_none(self) -> Search | None:
        """None if no word is left."""
        return self if self.whole or self.prefix else None


def _count(word: str, texts: list[str]) -> int:
    return sum(word in text for text in texts)


def search(words: tuple[str, ...]) -> Search:
    """All of these words, the last one as a prefix."""
    return Search(words[:-1], words[-1])


def comparison_values(session: Session, search: Search) -> dict[str, Any]:
    """Values to compare with each event that is read, whatever index is used."""
    if not database_of(session).embedded:
        return {"tested": for_postgresql(search.whole, search.prefix)}
    spaced = [f" {word} " for word in search.whole] + ([f" {search.prefix}"] if search.prefix else [])
    return {f"word_{index}": word for index, word in enumerate(spaced)}


def index_values(session: Session, search: Search) -> dict[str, Any]:
    """Values to look up in the search index."""
    to_query = for_sqlite if database_of(session).embedded else for_postgresql
    return {"hits": to_query(search.whole, search.prefix)}


def conditions(names: frozenset[str], *, embedded: bool) -> list[TextClause]:
    """The conditions for the values above."""
    found = [text(f"instr(' ' || listings.words || ' ', :{name}) > 0") for name in sorted(names) if "word_" in name]
    if "tested" in names:  # inside a function call, so that the index is not used
        found.append(text("coalesce(listings.words, '') @@ CAST(:tested AS tsquery)"))
    if "hits" in names:
        found.append(text(_SQLITE_HITS if embedded else _POSTGRESQL_HITS))
    return found
