"""Refuses JSON that a database column, a page or a log line cannot hold."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any, Final

from shared.errors import InvalidRequest

# Only suspicious bodies are searched value by value: layouts have hundreds of thousands of values.
_SUSPICIOUS: Final = re.compile(
    rb"\\u00[01]|\\u00[89]|\\u202[89]|\xc2[\x80-\x9f]|\xe2\x80[\xa8\xa9]|\\u007[fF]|\\u[dD][89a-fA-F]|\xed[\xa0-\xbf]|\x7f|[0-9]{17}|NaN|Infinity|[eE]\+?[0-9]{3}"
)
_INVISIBLE: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_SMALLEST, _LARGEST = -(2**63), 2**63 - 1


def visible(text: str) -> str:
    """The text without characters that cannot be displayed or stored."""
    return _INVISIBLE.sub("", text)


def read_json(text: str | bytes) -> Any:
    """What the text says; InvalidRequest where an object has a key twice: readers would disagree which counts."""
    return _DECODER.decode(text if isinstance(text, str) else _decoded(text))


def _decoded(text: bytes) -> str:
    if text.isascii() and b"\x00" not in text:  # most bodies: there is nothing to detect
        return text.decode()
    return text.decode(json.detect_encoding(text), "surrogatepass")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        counts = Counter(name for name, _ in pairs)
        field = _INVISIBLE.sub("?", max(counts, key=counts.__getitem__))[:200]
        raise InvalidRequest(f"{field}: is in the same object more than once. Send it once.", field=field)
    return found


_DECODER: Final = json.JSONDecoder(object_pairs_hook=_object)
"""`json.loads` would make one for each body."""


def check_utf8(data: bytes) -> None:
    """InvalidRequest for JSON in another encoding: in UTF-8 no byte of it is 0."""
    if b"\x00" in data:
        raise InvalidRequest("Send the body in UTF-8.")


def check_storable(data: bytes, body: Any) -> None:
    """InvalidRequest that names the first value that cannot be stored."""
    if not _SUSPICIOUS.search(data):
        return
    for path, problem in _problems(body, ()):
        field = _INVISIBLE.sub("?", ".".join(path))[:200]
        raise InvalidRequest(f"{field}: {problem}." if field else f"The body {problem}.", field=field)


def _problems(value: Any, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], str]]:
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from _problems(name, (*path, name))
            yield from _problems(inner, (*path, name))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _problems(inner, (*path, str(index)))
    elif isinstance(value, str):
        if _INVISIBLE.search(value):
            yield path, "contains a character that cannot be displayed or stored"
    elif isinstance(value, float) and not math.isfinite(value):
        yield path, "is not a number"
    elif isinstance(value, int) and not _SMALLEST <= value <= _LARGEST:
        yield path, "is a number that is too large"
