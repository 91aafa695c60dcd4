"""Field types for free JSON in requests, limited in depth and length."""

from __future__ import annotations

import json
from typing import Annotated, Any, Final

from pydantic import AfterValidator, Field

MAX_CHARACTERS: Final = 16_000
MAX_DEPTH: Final = 16


def _check_depth(value: dict[str, Any]) -> dict[str, Any]:
    if _depth(value) > MAX_DEPTH:
        raise ValueError(f"must not be more than {MAX_DEPTH} levels deep")
    return value


def _check_length(value: dict[str, Any]) -> dict[str, Any]:
    if len(json.dumps(value, ensure_ascii=False)) > MAX_CHARACTERS:
        raise ValueError(f"must not be more than {MAX_CHARACTERS} characters as JSON")
    return value


def _depth(value: Any) -> int:
    """The nesting depth, counted no further than the limit."""
    level, now = 0, [value]
    while now and level <= MAX_DEPTH:
        level += 1
        now = [inner for one in now for inner in _containers(one)]
    return level


def _containers(value: Any) -> Any:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return (one for one in inner if isinstance(one, dict | list))


FreeJson = Annotated[dict[str, Any], Field(max_length=100), AfterValidator(_check_depth)]
"""JSON that organisers' programs store with a record; the server only returns it."""
Settings = Annotated[FreeJson, AfterValidator(_check_length)]
"""FreeJson of limited length, for records that are shown in lists."""
