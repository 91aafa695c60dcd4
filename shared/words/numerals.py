"""Reads whole numbers that somebody typed or sent."""

from __future__ import annotations


def whole(text: str, most: int) -> int | None:
    """The number, from 0 to `most`; None for any other text. `int` alone fails on very long ones."""
    if not (text.isascii() and text.isdigit() and len(text) <= len(str(most))):
        return None
    return number if (number := int(text)) <= most else None
