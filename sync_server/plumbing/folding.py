"""Folds words so that they are found however they are written: case, accents and blanks make no difference."""

from __future__ import annotations

import unicodedata

# Letters of their own, which no normal form takes apart, and what people type instead of them.
_PLAIN = str.maketrans(
    {"ø": "o", "đ": "d", "ð": "d", "ł": "l", "ħ": "h", "\u0131": "i", "æ": "ae", "œ": "oe", "þ": "th", "\u2019": "'"}
)


def fold(text: str) -> str:
    """The same for Zürich, ZURICH and zu\u0308rich, with one blank between words and none around them."""
    apart = unicodedata.normalize("NFKD", unicodedata.normalize("NFKC", text).casefold())
    bare = "".join(letter for letter in apart if not unicodedata.combining(letter))
    return " ".join(unicodedata.normalize("NFC", bare).translate(_PLAIN).split())
