"""Frames: many rows encoded compactly by column, each frame independent of the others."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from struct import pack, unpack
from typing import Annotated, Any

import msgspec

from shared.columns import expand, shrink
from shared.compression import Allowance, compressed
from shared.rows import Row, RowKind
from shared.strictly import NONSENSE, strictly, unreadable

FRAME_ROWS = 5_000
"""Rows in one frame of a snapshot."""
MAX_FRAME_ROWS = 20_000
"""The most rows in a frame."""
MAX_FRAME_BYTES = 32 * 1024 * 1024
"""The largest size of a frame, of its expanded content, and of all its bodies together."""

GONE, BODIES, COLUMNS = range(3)
"""How a block stores its bodies: not at all, one by one, by columns."""
FEW = 16
"""Fewer rows than this are stored one by one, because columns would not save space."""

_WHAT = "A frame of rows"


class _Block(msgspec.Struct, array_like=True, frozen=True):
    """Consecutive rows of the same kind and shape."""

    kind: RowKind
    keys: bytes  # eight bytes each
    form: int
    content: Any = None  # nothing, compressed bodies, or columns


class _Frame(msgspec.Struct, array_like=True, frozen=True):
    version: Annotated[int, msgspec.Meta(ge=1, le=1)]
    blocks: Annotated[list[_Block], msgspec.Meta(max_length=MAX_FRAME_ROWS)]


_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder().decode
_frame_decoder = msgspec.msgpack.Decoder(_Frame)
_bodies_decoder = msgspec.msgpack.Decoder(list[bytes])


def to_frame(rows: Sequence[Row]) -> bytes:
    """Encodes rows in order; decoding returns every body unchanged."""
    if len(rows) > MAX_FRAME_ROWS:
        raise ValueError(f"a frame holds at most {MAX_FRAME_ROWS} rows, not {len(rows)}")
    return _encode(_Frame(1, [_block(kind, width, members) for kind, width, members in _runs(rows)]))


def _runs(rows: Sequence[Row]) -> Iterator[tuple[RowKind, int, Sequence[Row]]]:
    """Groups consecutive rows of the same kind and width."""
    start = 0
    for (kind, width), group in groupby([(row.kind, _width(row.body)) for row in rows]):
        end = start + sum(1 for _ in group)
        yield kind, width, rows[start:end]
        start = end


def _width(body: bytes | None) -> int:
    """The number of columns; 0 if they would not reproduce the exact bytes; -1 for no body."""
    if body is None:
        return -1
    try:
        columns = _decode(body)
    except NONSENSE:
        return 0
    return len(columns) if type(columns) is list and _encode(columns) == body else 0


def _block(kind: RowKind, width: int, rows: Sequence[Row]) -> _Block:
    keys = pack(f">{len(rows)}Q", *[row.key for row in rows])
    if width < 0:
        return _Block(kind, keys, GONE)
    bodies = [row.body or b"" for row in rows]
    if not width or len(rows) < FEW:
        return _Block(kind, keys, BODIES, compressed(_encode(bodies)))
    return _Block(kind, keys, COLUMNS, [shrink(column) for column in _columns(bodies, width)])


def _columns(bodies: Sequence[bytes], width: int) -> list[list[Any]]:
    columns: list[list[Any]] = [[] for _ in range(width)]
    # In small batches: thousands of short-lived lists at once would trigger the garbage collector repeatedly.
    for start in range(0, len(bodies), 256):
        for column, values in zip(columns, zip(*map(_decode, bodies[start : start + 256]), strict=True), strict=True):
            column.extend(values)
    return columns


def from_frame(frame: bytes) -> list[Row]:
    """Decodes a frame. Raises Unreadable for anything else, before expanding a decompression bomb."""
    blocks = strictly(_frame_decoder, frame, _WHAT, MAX_FRAME_BYTES).blocks
    if sum(len(block.keys) for block in blocks) > 8 * MAX_FRAME_ROWS:
        raise unreadable(_WHAT, "too many rows")
    expansion, memory = Allowance(MAX_FRAME_BYTES, _WHAT), Allowance(MAX_FRAME_BYTES, _WHAT)
    return [row for block in blocks for row in _rows(block, expansion, memory)]


def _rows(block: _Block, expansion: Allowance, memory: Allowance) -> Iterable[Row]:
    keys = _keys(block.keys)
    if block.form == GONE:
        return [Row(block.kind, key, None) for key in keys]
    try:
        bodies = list(_within(memory, _bodies(block, len(keys), expansion)))
    except NONSENSE as problem:  # values that can be read but not written: a number beyond 64 bits, a list as a key
        raise unreadable(_WHAT, problem) from problem
    if len(bodies) != len(keys):
        raise unreadable(_WHAT, "keys and bodies do not match")
    return [Row(block.kind, key, body) for key, body in zip(keys, bodies, strict=True)]


def _keys(packed: bytes) -> tuple[int, ...]:
    if len(packed) % 8 or not packed:
        raise unreadable(_WHAT, "keys are cut")
    return unpack(f">{len(packed) // 8}Q", packed)


def _bodies(block: _Block, count: int, expansion: Allowance) -> Iterable[bytes]:
    match block.form, block.content:
        case 1, bytes() as packed:
            return strictly(_bodies_decoder, expansion.expanded(packed), _WHAT, MAX_FRAME_BYTES)
        case 2, [_, *_] as columns:
            return map(_encode, zip(*[expand(column, count, expansion) for column in columns], strict=True))
    raise unreadable(_WHAT, "a form that is not known")


def _within(memory: Allowance, bodies: Iterable[bytes]) -> Iterator[bytes]:
    """The bodies, limited in total to what fits in a gate's memory."""
    for body in bodies:
        memory.spend(len(body))
        yield body
