"""Splits texts into the words that a search compares."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator

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
