"""Splits texts into the words that a search compares, and writes searches in each database's syntax."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence

from sync_server.plumbing.language.folding import fold

MAX_WORD_LETTERS = 60
"""Longer words are cut, and found by their beginning."""


def split_words(text: str) -> list[str]:
    """The distinct words of a text, folded, in order; an emoji is a word of its own."""
    return [*dict.fromkeys(word[:MAX_WORD_LETTERS] for word in "".join(_spaced(fold(text))).split())]


def _spaced(text: str) -> Iterator[str]:
    for letter in text:
        kind = unicodedata.category(letter)
        if kind == "So":
            yield f" {letter} "
        elif "\ufe00" <= letter <= "\ufe0f":
            continue  # a variation selector: only changes how the emoji before it looks
        else:
            yield letter if kind[0] in "LMN" else " "


def for_sqlite(whole: Sequence[str], prefix: str) -> str:
    """An FTS5 query for all of these words, and a prefix if one is given."""
    return " ".join([*(f'"{word}"' for word in whole), *([f'"{prefix}"*'] if prefix else [])])


def for_postgresql(whole: Sequence[str], prefix: str) -> str:
    """The query as a tsquery; words contain neither quotes nor operators."""
    return " & ".join([*(f"'{word}'" for word in whole), *([f"'{prefix}':*"] if prefix else [])])
