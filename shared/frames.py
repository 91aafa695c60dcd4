"""Frames: many rows in few bytes, columns beside columns, each frame independent of every other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from struct import pack, unpack
from typing import Annotated, Any

import msgspec

from shared.columns import expand, shrink
from shared.compression import compressed, expanded
from shared.errors import Unreadable
from shared.rows import Row, RowKind
from shared.strictly import NONSENSE, strictly, unreadable

FRAME_ROWS = 5_000
"""As many rows as one frame of a snapshot carries."""
MAX_FRAME_ROWS = 20_000
"""No frame holds more."""
MAX_FRAME_BYTES = 32 * 1024 * 1024
"""No frame expands to more, nor do the bodies in it together."""

GONE, BODIES, COLUMNS = 0, 1, 2
"""The ways in which a block tells its bodies: not at all, one by one, by columns."""

_WHAT = "A frame of rows"


class _Block(msgspec.Struct, array_like=True, frozen=True):
    """Neighbouring rows of one kind and one shape."""

    kind: RowKind
    keys: bytes  # eight bytes each
    form: int
    content: Any = None


class _Frame(msgspec.Struct, array_like=True, frozen=True):
    version: Annotated[int, msgspec.Meta(ge=1, le=1)]
    blocks: list[_Block]


_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder().decode
_decoder = msgspec.msgpack.Decoder(_Frame)


def to_frame(rows: Sequence[Row]) -> bytes:
    """The rows in their order, every body the same to the byte when it is read back."""
    if len(rows) > MAX_FRAME_ROWS:
        raise ValueError(f"a frame holds at most {MAX_FRAME_ROWS} rows, not {len(rows)}")
    return compressed(frame_content(rows))


def frame_content(rows: Sequence[Row]) -> bytes:
    """What a frame holds before it is compressed."""
    shaped = [(row.kind, *_shape(row.body), row.key) for row in rows]
    groups = groupby(shaped, key=itemgetter(0, 1, 2))
    return _encode(_Frame(1, [_block(kind, form, list(group)) for (kind, form, _), group in groups]))


def _shape(body: bytes | None) -> tuple[int, int, Any]:
    """Form, width and content: columns only where they give back the very same bytes."""
    if body is None:
        return GONE, 0, None
    try:
        columns = _decode(body)
    except NONSENSE:
        return BODIES, 0, body
    if type(columns) is list and columns and _encode(columns) == body:
        return COLUMNS, len(columns), columns
    return BODIES, 0, body


def _block(kind: RowKind, form: int, rows: list[tuple[Any, ...]]) -> _Block:
    _, _, _, contents, keys = zip(*rows, strict=True)
    content: Any = None
    if form == BODIES:
        content = contents
    elif form == COLUMNS:
        content = [shrink(column) for column in zip(*contents, strict=True)]
    return _Block(kind, pack(f">{len(keys)}Q", *keys), form, content)


def from_frame(frame: bytes) -> list[Row]:
    """The rows of a frame; Unreadable for anything else, and before a bomb has gone off."""
    content = expanded(frame, MAX_FRAME_BYTES, _WHAT)
    blocks = strictly(_decoder, content, _WHAT, MAX_FRAME_BYTES).blocks
    if sum(len(block.keys) for block in blocks) > 8 * MAX_FRAME_ROWS:
        raise unreadable(_WHAT, "too many rows")
    rows: list[Row] = []
    room = MAX_FRAME_BYTES
    for block in blocks:
        members = _rows(block, room)
        room -= sum(len(row.body or b"") for row in members)
        rows += members
    return rows


def _rows(block: _Block, room: int) -> list[Row]:
    keys = _keys(block.keys)
    if block.form == GONE:
        return [Row(block.kind, key, None) for key in keys]
    bodies = list(_within(_bodies(block, len(keys)), room))
    if len(bodies) != len(keys):
        raise unreadable(_WHAT, "keys and bodies do not match")
    return [Row(block.kind, key, body) for key, body in zip(keys, bodies, strict=True)]


def _keys(packed: bytes) -> tuple[int, ...]:
    if len(packed) % 8 or not packed:
        raise unreadable(_WHAT, "keys are cut")
    return unpack(f">{len(packed) // 8}Q", packed)


def _bodies(block: _Block, count: int) -> Iterable[bytes]:
    match block.form, block.content:
        case 1, [*bodies] if all(type(body) is bytes for body in bodies):
            return bodies
        case 2, [_, *_] as columns:
            return map(_encode, zip(*(expand(column, count) for column in columns), strict=True))
    raise Unreadable(f"{_WHAT} tells its rows in a form that is not known. Nothing of it was used.")


def _within(bodies: Iterable[bytes], room: int) -> Iterator[bytes]:
    """The bodies, as long as all of them together stay small enough for a gate's memory."""
    for body in bodies:
        room -= len(body)
        if room < 0:
            raise unreadable(_WHAT, "it grows without end")
        yield body
