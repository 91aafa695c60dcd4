"""The words of the gate, in the folder `texts` of the gate."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from shared.words.wording import DEFAULT, Said, joined, wording

TEXTS: Final = Path(__file__).with_name("texts")


def say(key: str, /, **values: Any) -> Said:
    """The words of this key with these values."""
    return Said(TEXTS, key, values)


def known(key: str) -> str:
    """The words of a key that names a code; empty for a code that is newer than this gate."""
    return say(key) if key in wording(TEXTS, DEFAULT) else ""


def listed(names: Sequence[str], word: str) -> str:
    """Names with "or", "and" between them."""
    return joined(*names, by=say(f"list.{word}"))
