"""One column of a block: told once where it is constant, joined where it is text, plain otherwise."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import accumulate, chain, pairwise, repeat
from typing import Any

from shared.errors import Unreadable

CONSTANT, PLAIN, EVEN_TEXT, UNEVEN_TEXT = 0, 1, 2, 3
LONGEST_TEXT = 255
_SIMPLE = (int, bool, str, type(None))


def shrink(values: Sequence[Any]) -> list[Any]:
    """The column in the shortest of its four forms."""
    kinds = set(map(type, values))
    kind = next(iter(kinds))
    # Equal is not the same: True == 1, and a list may hide either; so only simple values of one type are told once.
    if len(kinds) > 1 or kind not in _SIMPLE:
        return [PLAIN, values]
    if values.count(values[0]) == len(values):
        return [CONSTANT, values[0]]
    return _shrink_texts(values) if kind is str else [PLAIN, values]


def _shrink_texts(texts: Sequence[str]) -> list[Any]:
    prefix = _common_prefix(min(texts), max(texts))
    rest = [text[len(prefix) :] for text in texts] if prefix else texts
    lengths = list(map(len, rest))
    if max(lengths) > LONGEST_TEXT:
        return [PLAIN, texts]
    if min(lengths) == max(lengths):
        return [EVEN_TEXT, prefix, lengths[0], "".join(rest)]
    return [UNEVEN_TEXT, prefix, bytes(lengths), "".join(rest)]


def _common_prefix(low: str, high: str) -> str:
    """What the lowest and the highest text begin with, and so every text between them."""
    for place, letter in enumerate(low):
        if letter != high[place]:
            return low[:place]
    return low


def expand(column: Any, count: int) -> Iterable[Any]:
    """The `count` values of a column; Unreadable where it holds more or fewer, or is no column."""
    match column:
        case [0, value]:
            return repeat(value, count)
        case [1, list() as values] if len(values) == count:
            return values
        case [2, str() as prefix, int() as width, str() as text] if width > 0 and len(text) == width * count:
            return (prefix + text[start : start + width] for start in range(0, len(text), width))
        case [3, str() as prefix, bytes() as lengths, str() as text] if _fits(lengths, text, count):
            ends = pairwise(chain((0,), accumulate(lengths)))
            return (prefix + text[start:end] for start, end in ends)
    raise Unreadable("A column of a frame is damaged. Nothing of the frame was used.")


def _fits(lengths: bytes, text: str, count: int) -> bool:
    return len(lengths) == count and sum(lengths) == len(text)
