"""Frames: many rows encoded compactly by column, each frame independent of the others."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from struct import pack, unpack
from typing import Annotated, Any

import msgspec

from shared.strictly import NONSENSE, strictly, unreadable
from shared.wire.columns import expand, shrink
from shared.wire.compression import Allowance, compressed
from shared.wire.rows import Row, RowKind

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
_BATCH = 256
"""Rows that are encoded together."""

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
    return _encode(_Frame(1, [_block(run) for run in _runs(rows)]))


@dataclass(slots=True)
class _Run:
    """Consecutive rows of the same kind and width, which is the number of columns.

    The width is 0 if columns would not reproduce the exact bytes, and -1 for rows without a body.
    """

    kind: RowKind
    width: int
    rows: list[Row]
    columns: list[list[Any]]

    def add(self, rows: Sequence[Row], values: Sequence[Sequence[Any]]) -> None:
        self.rows += rows
        for column, more in zip(self.columns, zip(*values, strict=True), strict=True):
            column.extend(more)


def _runs(rows: Sequence[Row]) -> Iterator[_Run]:
    run: _Run | None = None
    for kind, width, members, values in _pieces(rows):
        if run is None or (run.kind, run.width) != (kind, width):
            if run is not None:
                yield run
            run = _Run(kind, width, [], [[] for _ in range(width)])
        run.add(members, values)
    if run is not None:
        yield run


_Piece = tuple[RowKind, int, Sequence[Row], Sequence[Sequence[Any]]]
"""Kind, width, rows and their values, which are empty if there are no columns."""


def _pieces(rows: Sequence[Row]) -> Iterator[_Piece]:
    # In small batches: thousands of short-lived lists at once would trigger the garbage collector repeatedly.
    for start in range(0, len(rows), _BATCH):
        batch = rows[start : start + _BATCH]
        piece = _alike(batch)
        if piece is not None:
            yield piece
        else:
            yield from map(_single, batch)


def _alike(rows: Sequence[Row]) -> _Piece | None:
    """All these rows as one piece, if they are of one kind and width."""
    bodies = [row.body for row in rows if row.body is not None]
    if len(bodies) < len(rows) or len({row.kind for row in rows}) > 1:
        return None
    try:
        values = list(map(_decode, bodies))
    except NONSENSE:
        return None
    if {type(each) for each in values} != {list} or len({len(each) for each in values}) > 1 or not values[0]:
        return None
    # No value's bytes begin those of another, so where all of them are the same, each of them is.
    exact = _encode(values)[1 if len(values) < 16 else 3 :] == b"".join(bodies)
    return (rows[0].kind, len(values[0]), rows, values) if exact else None


def _single(row: Row) -> _Piece:
    if row.body is None:
        return row.kind, -1, [row], ()
    return _alike([row]) or (row.kind, 0, [row], ())


def _block(run: _Run) -> _Block:
    keys = pack(f">{len(run.rows)}Q", *[row.key for row in run.rows])
    if run.width < 0:
        return _Block(run.kind, keys, GONE)
    if not run.width or len(run.rows) < FEW:
        return _Block(run.kind, keys, BODIES, compressed(_encode([row.body or b"" for row in run.rows])))
    return _Block(run.kind, keys, COLUMNS, [shrink(column) for column in run.columns])


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
        bodies = _within(memory, _bodies(block, len(keys), expansion))
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


def _within(memory: Allowance, bodies: Iterable[bytes]) -> list[bytes]:
    """The bodies, limited in total to what fits in a gate's memory."""
    kept: list[bytes] = []
    rest = iter(bodies)
    while some := list(islice(rest, _BATCH)):
        memory.spend(sum(map(len, some)))
        kept += some
    return kept
