"""Keyboard-layout probe: what the wedge scanner typed becomes what was printed."""

from __future__ import annotations

MARK = "MAY"
"""Every code begins with these letters and the digit of its version: the keys by which layouts can be told apart."""
LONGEST = 1024
"""Characters of a text that are looked at; the longest code of this version has fewer."""


def normalise(text: str) -> str:
    """What was printed, as far as can be told; any other text comes back as it is, cut after LONGEST + 1."""
    return text[: LONGEST + 1].strip().upper()
