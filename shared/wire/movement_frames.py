"""Encodes movements as columns of a compressed MessagePack array; decoding is bounded."""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter
from typing import Annotated, Any

import msgspec

from shared.strictly import strictly, unreadable
from shared.wire.columns import expand, shrink
from shared.wire.compression import Allowance
from shared.wire.rows import Movement, MovementKind

MAX_MOVEMENTS = 20_000
"""The most movements in one message."""
MAX_MOVEMENT_BYTES = 8 * 1024 * 1024

_WHAT = "A list of movements"
_COLUMNS = ("device", "branch", "seq", "kind", "ticket_id", "issue", "code_hash", "at", "gate", "zone", "annuls")
_columns = attrgetter(*_COLUMNS)

_Count = Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)]
_Identity = tuple[_Count, _Count, _Count]


class _Line(msgspec.Struct, array_like=True, frozen=True, gc=False):
    """The valid values of each column of a movement."""

    device: _Count
    branch: _Count
    seq: _Count
    kind: MovementKind
    ticket_id: Annotated[int, msgspec.Meta(ge=0)]
    issue: _Count
    code_hash: Annotated[bytes, msgspec.Meta(max_length=16)]
    at: Annotated[int, msgspec.Meta(ge=-(2**53), le=2**53)]
    gate: _Count
    zone: _Count
    annuls: _Identity | None


class _Movements(msgspec.Struct, array_like=True, frozen=True):
    version: Annotated[int, msgspec.Meta(ge=1, le=1)]
    count: Annotated[int, msgspec.Meta(ge=0, le=MAX_MOVEMENTS)]
    columns: list[Any]


_encode = msgspec.msgpack.Encoder().encode
_decoder = msgspec.msgpack.Decoder(_Movements)


def movements_to_bytes(movements: Sequence[Movement]) -> bytes:
    """Encodes movements in order; b"" for none."""
    if len(movements) > MAX_MOVEMENTS:
        raise ValueError(f"one message carries at most {MAX_MOVEMENTS} movements, not {len(movements)}")
    if not movements:
        return b""
    columns = [shrink(column) for column in zip(*map(_columns, movements), strict=True)]
    return _encode(_Movements(1, len(movements), columns))


def movements_from_bytes(data: bytes) -> list[Movement]:
    """Decodes movements. Raises Unreadable."""
    if not data:
        return []
    message = strictly(_decoder, data, _WHAT, MAX_MOVEMENT_BYTES)
    if len(message.columns) < len(_COLUMNS):
        raise unreadable(_WHAT, "columns are missing")
    allowance = Allowance(MAX_MOVEMENT_BYTES, _WHAT)
    columns = [expand(column, message.count, allowance) for column in message.columns[: len(_COLUMNS)]]
    return [_movement(line) for line in zip(*columns, strict=True)]


def _movement(line: tuple[Any, ...]) -> Movement:
    try:
        return Movement(*msgspec.structs.astuple(msgspec.convert(line, _Line)))
    except msgspec.ValidationError as problem:
        raise unreadable(_WHAT, problem) from problem
