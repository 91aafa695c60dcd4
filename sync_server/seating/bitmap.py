"""How it stands with every seat of a house, two bits a seat: the form in which pages and machines get it."""

from __future__ import annotations

from enum import IntEnum


class Shown(IntEnum):
    """What a map says of a seat."""

    FREE = 0
    HELD = 1  # told only to organisers; everybody else sees it as taken
    TAKEN = 2
    CLOSED = 3  # not for sale at this event, or kept for a guest in a wheelchair


PUBLICLY = bytes([Shown.FREE, Shown.TAKEN, Shown.TAKEN, Shown.CLOSED]) + bytes(range(4, 256))
"""`bytes.translate` table: what everybody may see of what organisers see."""


def pack(shown: bytes) -> bytes:
    """Two bits a seat, the first seat in the lowest bits of the first byte; the last byte is filled with zeros."""
    padded = shown + bytes(-len(shown) % 4)
    # As four long numbers, because sixty thousand short ones take a hundred times as long.
    lanes = (int.from_bytes(padded[lane::4], "little") << 2 * lane for lane in range(4))
    return sum(lanes).to_bytes(len(padded) // 4, "little")


def unpack(packed: bytes, count: int) -> bytes:
    """What `pack` packed."""
    return bytes(packed[seat >> 2] >> 2 * (seat & 3) & 3 for seat in range(count))
