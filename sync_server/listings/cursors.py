"""Opaque cursors of the feed, with a checksum against damage and against use with other criteria."""

from __future__ import annotations

import base64
import binascii
import struct
from dataclasses import dataclass
from hashlib import blake2b

from shared.clock import Millis
from shared.errors import InvalidRequest

_FORMAT = struct.Struct(">BqIiqq")
_VERSION = 1
_CHECKSUM_BYTES = 6


@dataclass(frozen=True, slots=True)
class Position:
    """The last event that a reader has received."""

    began: Millis  # when the first page was read
    generation: int = 0  # of the trending ranking; 0: none
    place: int = 0  # in that ranking; UNRANKED: among the events that follow it
    starts_at: Millis = 0
    number: int = 0


UNRANKED = -1


def encode(position: Position, criteria: str) -> str:
    """The cursor that continues these criteria after this position."""
    body = _FORMAT.pack(
        _VERSION, position.began, position.generation, position.place, position.starts_at, position.number
    )
    return base64.urlsafe_b64encode(body + _checksum(body, criteria)).decode().rstrip("=")


def decode(cursor: str, criteria: str) -> Position:
    """The position that `encode` was given; InvalidRequest `bad_cursor` for anything else."""
    try:
        raw = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        raise _bad() from None
    body, checksum = raw[: _FORMAT.size], raw[_FORMAT.size :]
    if len(body) != _FORMAT.size or checksum != _checksum(body, criteria) or body[0] != _VERSION:
        raise _bad()
    _, began, generation, place, starts_at, number = _FORMAT.unpack(body)
    return Position(began, generation, place, starts_at, number)


def _checksum(body: bytes, criteria: str) -> bytes:
    return blake2b(body + criteria.encode(), digest_size=_CHECKSUM_BYTES).digest()


def _bad() -> InvalidRequest:
    return InvalidRequest(
        "`after` is not a cursor of this list: use `next` from the previous page, with the same sort and filters.",
        code="bad_cursor",
    )
