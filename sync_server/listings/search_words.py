"""Writes the words of a search in each database's syntax."""

from __future__ import annotations

from collections.abc import Sequence


def for_sqlite(whole: Sequence[str], prefix: str) -> str:
    """An FTS5 query for all of these words, and a prefix if one is given."""
    return " ".join([*(f'"{word}"' for word in whole), *([f'"{prefix}"*'] if prefix else [])])


def for_postgresql(whole: Sequence[str], prefix: str) -> str:
    """The query as a tsquery; words contain neither quotes nor operators."""
    return " & ".join([*(f"'{word}'" for word in whole), *([f"'{prefix}':*"] if prefix else [])])
