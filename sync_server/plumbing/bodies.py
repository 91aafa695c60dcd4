"""What the JSON of a request may hold: nothing that a database, a page or a line of a log could not hold again."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from typing import Annotated, Any, Final

from pydantic import AfterValidator, Field

from shared.errors import InvalidRequest

MOST_LETTERS: Final = 16_000
MOST_LEVELS: Final = 16

# Only bodies that may hold such a thing are looked through: layouts have hundreds of thousands of values.
_SUSPICIOUS: Final = re.compile(
    rb"\\u00[01]|\\u007[fF]|\\u[dD][89a-fA-F]|\xed[\xa0-\xbf]|\x7f|[0-9]{17}|NaN|Infinity|[eE]\+?[0-9]{3}"
)
_UNSEEN: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")
_SMALLEST, _LARGEST = -(2**63), 2**63 - 1


def visible(words: str) -> str:
    """These words without what nobody can see or keep."""
    return _UNSEEN.sub("", words)


def check_utf8(data: bytes) -> None:
    """InvalidRequest for JSON in another coding: in this one no byte is 0."""
    if b"\x00" in data:
        raise InvalidRequest("Send the body in UTF-8.")


def check_keepable(data: bytes, body: Any) -> None:
    """InvalidRequest that names the first value which cannot be kept."""
    if not _SUSPICIOUS.search(data):
        return
    for path, problem in _problems(body, ()):
        field = _UNSEEN.sub("?", ".".join(path))[:200]
        raise InvalidRequest(f"{field}: {problem}." if field else f"The body {problem}.", field=field)


def _problems(value: Any, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], str]]:
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from _problems(name, (*path, name))
            yield from _problems(inner, (*path, name))
    elif isinstance(value, list):
        for place, inner in enumerate(value):
            yield from _problems(inner, (*path, str(place)))
    elif isinstance(value, str):
        if _UNSEEN.search(value):
            yield path, "holds a character that nobody can see or keep"
    elif isinstance(value, float) and not math.isfinite(value):
        yield path, "is no number"
    elif isinstance(value, int) and not _SMALLEST <= value <= _LARGEST:
        yield path, "is too large a number"


def _shallow(value: dict[str, Any]) -> dict[str, Any]:
    if _levels(value) > MOST_LEVELS:
        raise ValueError(f"may be {MOST_LEVELS} levels deep, no more")
    return value


def _short(value: dict[str, Any]) -> dict[str, Any]:
    if len(json.dumps(value, ensure_ascii=False)) > MOST_LETTERS:
        raise ValueError(f"may be {MOST_LETTERS} characters long as JSON, no more")
    return value


def _levels(value: Any) -> int:
    """How deep it is, without falling into what has no bottom."""
    level, now = 0, [value]
    while now and level <= MOST_LEVELS:
        level += 1
        now = [inner for one in now for inner in _inside(one)]
    return level


def _inside(value: Any) -> Any:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return (one for one in inner if isinstance(one, dict | list))


Free = Annotated[dict[str, Any], Field(max_length=100), AfterValidator(_shallow)]
"""What programs of organisers keep beside a thing; this server only hands it back."""
Settings = Annotated[Free, AfterValidator(_short)]
"""The same beside what is shown in lists."""
