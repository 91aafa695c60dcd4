"""The messages that gates and server have in common, in the folder `texts`."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from shared.words.wording import Said

TEXTS: Final = Path(__file__).parents[1] / "texts"


def say(key: str, /, **values: Any) -> Said:
    """The message of this key with these values."""
    return Said(TEXTS, key, values)
