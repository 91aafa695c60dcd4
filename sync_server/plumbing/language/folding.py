"""Folds text for search: case, accents and spaces make no difference."""

from __future__ import annotations

import unicodedata

# Letters that no Unicode normal form decomposes, and what people type instead.
_PLAIN = str.maketrans(
    {"ø": "o", "đ": "d", "ð": "d", "ł": "l", "ħ": "h", "\u0131": "i", "æ": "ae", "œ": "oe", "þ": "th", "\u2019": "'"}
)


def fold(text: str) -> str:
    """The same for Zürich, ZURICH and zu\u0308rich, with single spaces between words and none around them."""
    decomposed = unicodedata.normalize("NFKD", unicodedata.normalize("NFKC", text).casefold())
    bare = "".join(letter for letter in decomposed if not unicodedata.combining(letter))
    return " ".join(unicodedata.normalize("NFC", bare).translate(_PLAIN).split())
