"""Chooses how a search is looked for: by the rare among its words in the index, or along the feed by what is common."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import BigInteger, TextClause, select, text
from sqlalchemy.orm import Session

from shared.clock import Millis
from sync_server.plumbing.database import of
from sync_server.plumbing.prepared import Prepared, place
from sync_server.programme.models import Listing
from sync_server.programme.words import for_postgresql, for_sqlite

MANY: Final = 16
"""From more words on the index is asked for all of them: to compare so many one by one takes longer."""
SAMPLE: Final = 200
"""So many of the next events say which words are common."""
COMMON: Final = 0.02
"""A word that so large a share of them has is met with soon, wherever one walks."""
STRETCH: Final = 100
"""So many events are looked at for each that is wanted, before a search of common words asks the index after all."""

_HITS_OF_SQLITE: Final = "listings.number IN (SELECT rowid FROM listing_words WHERE listing_words MATCH :hits)"
_HITS_OF_POSTGRESQL: Final = "listings.words @@ CAST(:hits AS tsquery)"
_WORDS_OF_NEXT: Final = Prepared(
    select(Listing.words)
    .where(Listing.listed_until > place("now"))
    .order_by(Listing.starts_at, Listing.number)
    .limit(place("most", BigInteger()))
)


@dataclass(frozen=True, slots=True)
class Search:
    """What is looked for: whole words, and the beginning of one."""

    whole: tuple[str, ...]
    beginning: str

    @property
    def is_long(self) -> bool:
        """Too many words to be compared one by one."""
        return len(self.whole) >= MANY

    def rare(self, session: Session, now: Millis) -> Search | None:
        """Those of its words that few events have; None where all are common."""
        rows = _WORDS_OF_NEXT.rows(session, now=now, most=SAMPLE)
        # PostgreSQL puts each word into quotes, which no word has inside.
        told = [f" {row.words} ".replace("'", "") for row in rows]
        many = COMMON * len(told)
        whole = tuple(word for word in self.whole if _met(f" {word} ", told) < many)
        return Search(whole, self.beginning if _met(f" {self.beginning}", told) < many else "").or_none()

    def or_none(self) -> Search | None:
        """None where nothing is left of it."""
        return self if self.whole or self.beginning else None


def _met(word: str, told: list[str]) -> int:
    return sum(word in words for words in told)


def search(words: tuple[str, ...]) -> Search:
    """All of these words, the last one as the beginning of a word."""
    return Search(words[:-1], words[-1])


def compared(session: Session, wanted: Search) -> dict[str, Any]:
    """Values with which each event that is met is compared, whichever way led to it."""
    if not of(session).embedded:
        return {"tested": for_postgresql(wanted.whole, wanted.beginning)}
    spaced = [f" {word} " for word in wanted.whole] + ([f" {wanted.beginning}"] if wanted.beginning else [])
    return {f"word_{place}": word for place, word in enumerate(spaced)}


def found_by_index(session: Session, wanted: Search) -> dict[str, Any]:
    """Values for which the index is asked."""
    say = for_sqlite if of(session).embedded else for_postgresql
    return {"hits": say(wanted.whole, wanted.beginning)}


def conditions(places: frozenset[str], *, embedded: bool) -> list[TextClause]:
    """What the values above stand for in a statement."""
    found = [text(f"instr(' ' || listings.words || ' ', :{name}) > 0") for name in sorted(places) if "word_" in name]
    if "tested" in places:  # words in brackets: no reason for the index to come into it
        found.append(text("coalesce(listings.words, '') @@ CAST(:tested AS tsquery)"))
    if "hits" in places:
        found.append(text(_HITS_OF_SQLITE if embedded else _HITS_OF_POSTGRESQL))
    return found
