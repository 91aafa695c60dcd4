"""Encodes a column of values compactly: a constant once, numbers and texts in suitable forms."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import accumulate, chain, pairwise, repeat
from struct import pack, unpack
from typing import Any

import msgspec

from shared.strictly import NONSENSE, unreadable
from shared.wire.compression import Allowance, compressed

CONSTANT, PLAIN, NUMBERS, NUMBERED, EVEN_TEXT, UNEVEN_TEXT = range(6)
LONGEST_TEXT = 255

_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder().decode


def shrink(values: Sequence[Any]) -> list[Any]:
    """Encodes a column in the form that suits its values; decoding gives exactly the same values."""
    packed, first = _encode(values), _encode(values[0])
    if _repeats(packed, first, len(values)):
        return [CONSTANT, values[0]]
    kinds = set(map(type, values))
    if kinds == {int} and min(values) >= 0:
        return _numbers(values)
    if kinds == {str}:
        return _texts(values) or [PLAIN, compressed(packed)]
    return [PLAIN, compressed(packed)]


def _repeats(packed: bytes, first: bytes, count: int) -> bool:
    # Compared as bytes, because equal values can differ: True == 1, and 1 == 1.0.
    head = 1 if count < 16 else 3 if count < 65_536 else 5
    return len(packed) == head + len(first) * count and packed.endswith(first * count)


def _numbers(values: Sequence[int]) -> list[Any]:
    """The differences from the lowest number, byte by byte in planes, which compresses best."""
    base = min(values)
    width = max(1, (max(values) - base).bit_length() + 7 >> 3)
    packed = pack(f">{len(values)}Q", *[value - base for value in values])
    return [NUMBERS, base, width, compressed(b"".join(packed[place::8] for place in range(8 - width, 8)))]


def _texts(texts: Sequence[str]) -> list[Any] | None:
    prefix = _common_prefix(min(texts), max(texts))
    return _numbered(texts, prefix.rstrip("0123456789")) or _joined(texts, prefix)


def _common_prefix(low: str, high: str) -> str:
    """The common prefix of the lowest and highest text, and so of all texts between them."""
    for place, letter in enumerate(low):
        if letter != high[place]:
            return low[:place]
    return low


def _numbered(texts: Sequence[str], prefix: str) -> list[Any] | None:
    """Texts that differ only in a number at their end."""
    rest = [text[len(prefix) :] for text in texts]
    if not rest[0].isdecimal() or max(map(len, rest)) > 18:
        return None
    try:
        numbers = list(map(int, rest))
    except ValueError:
        return None
    # Only canonical numbers: no leading zero, no sign, no non-ASCII digits.
    return [NUMBERED, prefix, _numbers(numbers)] if min(numbers) >= 0 and list(map(str, numbers)) == rest else None


def _joined(texts: Sequence[str], prefix: str) -> list[Any] | None:
    rest = [text[len(prefix) :] for text in texts] if prefix else texts
    lengths = list(map(len, rest))
    if max(lengths) > LONGEST_TEXT:
        return None
    text = compressed("".join(rest).encode())
    if min(lengths) == max(lengths):
        return [EVEN_TEXT, prefix, lengths[0], text]
    return [UNEVEN_TEXT, prefix, compressed(bytes(lengths)), text]


def expand(column: Any, count: int, allowance: Allowance) -> Iterable[Any]:
    """Decodes a column of `count` values. Raises Unreadable if it has more or fewer, or is not a column."""
    try:
        values = _expand(column, count, allowance)
    except NONSENSE as problem:
        raise unreadable(allowance.what, problem) from problem
    if values is None:
        raise unreadable(allowance.what, "a column is not as long as its block, or of no known form")
    return values


def _expand(column: Any, count: int, allowance: Allowance) -> Iterable[Any] | None:
    match column:
        case [0, value]:
            return repeat(value, count)
        case [1, bytes() as packed]:
            return _of_length(_decode(allowance.expanded(packed)), count)
        case [2, int() as base, int() as width, bytes() as planes] if 1 <= width <= 8:
            return _read_numbers(base, width, allowance.expanded(planes), count)
        case [3, str() as prefix, [2, _, _, _] as inner]:
            return (f"{prefix}{number}" for number in expand(inner, count, allowance))
        case [4, str() as prefix, int() as width, bytes() as text]:
            return _read_text(prefix, bytes([width]) * count, allowance.expanded(text).decode(), count)
        case [5, str() as prefix, bytes() as lengths, bytes() as text]:
            return _read_text(prefix, allowance.expanded(lengths), allowance.expanded(text).decode(), count)
    return None


def _of_length(values: Any, count: int) -> Iterable[Any] | None:
    return values if isinstance(values, list) and len(values) == count else None


def _read_numbers(base: int, width: int, planes: bytes, count: int) -> Iterable[int] | None:
    if len(planes) != width * count:
        return None
    packed = bytearray(8 * count)
    for place in range(width):
        packed[8 - width + place :: 8] = planes[place * count : (place + 1) * count]
    above = unpack(f">{count}Q", packed)
    return [base + number for number in above] if base else above


def _read_text(prefix: str, lengths: bytes, text: str, count: int) -> Iterable[str] | None:
    if len(lengths) != count or sum(lengths) != len(text):
        return None
    return (prefix + text[start:end] for start, end in pairwise(chain((0,), accumulate(lengths))))
