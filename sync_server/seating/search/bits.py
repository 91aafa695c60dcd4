"""Bit arithmetic on a row of seats: a bit is set where a seat is free, clear where it is taken or missing."""

from __future__ import annotations

from collections.abc import Iterator


def places(mask: int) -> Iterator[int]:
    """The positions of the set bits, lowest first."""
    text = bin(mask)[:1:-1]
    at = text.find("1")
    while at >= 0:
        yield at
        at = text.find("1", at + 1)


def runs(mask: int) -> Iterator[tuple[int, int]]:
    """Each unbroken run of free seats: where it starts and how long it is."""
    while mask:
        start = (mask & -mask).bit_length() - 1
        rest = (mask >> start) + 1
        length = (rest & -rest).bit_length() - 1
        yield start, length
        mask &= ~(((1 << length) - 1) << start)


def lone(mask: int) -> int:
    """The free seats that have no free neighbour."""
    return mask & ~(mask << 1) & ~(mask >> 1)


def starts(mask: int, count: int) -> int:
    """The positions where `count` neighbours fit."""
    found, width = mask, 1
    while width < count and found:
        step = min(width, count - width)
        found &= found >> step
        width += step
    return found


def tidy_starts(mask: int, count: int, exempt: int = 0) -> int:
    """The positions where `count` neighbours fit without leaving a single free seat beside them, but an exempt one."""
    left = (mask << 1) & ~(mask << 2) & ~(exempt << 1)
    right = (mask >> count) & ~(mask >> (count + 1)) & ~(exempt >> count)
    return starts(mask, count) & ~left & ~right


def stretch(start: int, count: int) -> int:
    """The bits of `count` neighbours from `start`."""
    return ((1 << count) - 1) << start


def orphaned(before: int, after: int) -> int:
    """The free seats that became single between the two masks."""
    return lone(after) & ~lone(before)


def beside(mask: int, start: int, count: int) -> tuple[int, int]:
    """How many consecutive seats are free directly to the left and to the right of `count` seats from `start`."""
    below = ~mask & ((1 << start) - 1)
    above = (mask >> (start + count)) + 1
    return start - below.bit_length(), (above & -above).bit_length() - 1
