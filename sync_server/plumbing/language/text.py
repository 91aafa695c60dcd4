"""Text as people see it: composed (NFC), without invisible characters, and empty if nothing of it shows."""

from __future__ import annotations

import re
import unicodedata
from typing import Any, Final

VERBATIM: Final = ("password", "settings", "metadata", "drawing")
"""Ends of names of fields that are stored as sent: secrets, and what only organisers' programs read."""

# Format characters turn text round, or make two texts look like one. Joiners stay in the scripts that need them, and
# tags in the flags that consist of them.
_INVISIBLE: Final = re.compile(
    "(\U0001f3f4[\U000e0020-\U000e007f]+)|(?<=[^\x00-\x7f\u200c\u200d])([\u200c\u200d])|"
    "[\xad\u061c\u115f\u1160\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb"
    "\U000e0000-\U000e007f]"
)
_BLANK: Final = frozenset("\u2800\u200c\u200d")


def as_shown(text: str) -> str:
    """The text as it is stored."""
    if text.isascii():
        return text
    text = _INVISIBLE.sub(lambda found: found[1] or found[2] or "", unicodedata.normalize("NFC", text))
    return text if any(map(_shows, text)) else ""


def _shows(character: str) -> bool:
    return not character.isspace() and character not in _BLANK and unicodedata.category(character)[0] != "M"


def all_as_shown(body: Any) -> Any:
    """JSON with every text in it as it is stored, but for what belongs to the organisers' programs."""
    if isinstance(body, str):
        return as_shown(body)
    if isinstance(body, list):
        return [all_as_shown(value) for value in body]
    if isinstance(body, dict):
        return {key: value if key.endswith(VERBATIM) else all_as_shown(value) for key, value in body.items()}
    return body
