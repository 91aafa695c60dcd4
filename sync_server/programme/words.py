"""Takes texts apart into the words that a search compares, and says a search the way each database wants it."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence

from sync_server.plumbing.folding import fold

LONGEST = 60
"""Letters of a word; what is longer is found by its beginning."""


def words(text: str) -> list[str]:
    """The different words of a text, folded, in their order; a picture sign is a word of its own."""
    return [*dict.fromkeys(word[:LONGEST] for word in "".join(_spaced(fold(text))).split())]


def _spaced(text: str) -> Iterator[str]:
    for letter in text:
        kind = unicodedata.category(letter)
        if kind == "So":
            yield f" {letter} "
        elif "\ufe00" <= letter <= "\ufe0f":
            continue  # only says how the sign before it is drawn
        else:
            yield letter if kind[0] in "LMN" else " "


def for_sqlite(whole: Sequence[str], beginning: str) -> str:
    """All of these words, and one that begins so where a beginning is given, as FTS5 reads it."""
    return " ".join([*(f'"{word}"' for word in whole), *([f'"{beginning}"*'] if beginning else [])])


def for_postgresql(whole: Sequence[str], beginning: str) -> str:
    """The same as a tsquery; words hold neither quotes nor operators."""
    return " & ".join([*(f"'{word}'" for word in whole), *([f"'{beginning}':*"] if beginning else [])])
