"""The movements of a ticket that count, as its row of presence keeps them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

import msgspec
from msgspec import Struct

from shared.admission import Direction, Passage


class Step(Struct, frozen=True):
    """One counted movement of one ticket; a duplicate is another person with the same ticket."""

    ticket_id: int
    passage: Passage
    duplicate: bool = False


class _Packed(NamedTuple):
    at: int
    device: int
    branch: int
    seq: int
    entry: bool
    gate: int
    zone: int
    duplicate: bool


NO_STEPS: Final = b""
_WRITER: Final = msgspec.msgpack.Encoder()
_READER: Final = msgspec.msgpack.Decoder(list[_Packed])


def pack(steps: Sequence[Step]) -> bytes:
    """The steps as they are stored."""
    return _WRITER.encode([_packed(step) for step in steps]) if steps else NO_STEPS


def unpack(ticket: int, stored: bytes) -> list[Step]:
    """The steps of a ticket."""
    return [_step(ticket, one) for one in _READER.decode(stored)] if stored else []


def in_order(steps: Iterable[Step]) -> list[Step]:
    """By time, then device, branch and number."""
    return sorted(steps, key=_order)


def _order(step: Step) -> tuple[int, int, int, int]:
    one = step.passage
    return one.at, one.device, one.branch, one.seq


def _packed(step: Step) -> _Packed:
    one = step.passage
    entry = one.direction is Direction.ENTRY
    return _Packed(one.at, one.device, one.branch, one.seq, entry, one.gate, one.zone, step.duplicate)


def _step(ticket: int, one: _Packed) -> Step:
    direction = Direction.ENTRY if one.entry else Direction.EXIT
    return Step(ticket, Passage(one.at, one.device, one.branch, one.seq, direction, one.gate, one.zone), one.duplicate)
