"""Solves small venues exactly: the most seats that could be sold if all groups were known in advance."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache


def most_seats(runs: Iterable[int], groups: Iterable[int]) -> int:
    """The most people of these groups that fit into runs of these lengths.

    A group sits together or in parts of two or more; where all rows are close enough for a split, these are the only
    rules. Single seats may be left, so this is the optimum without orphan avoidance.
    """
    lengths = tuple(sorted(runs, reverse=True))
    sizes = Counter(groups)
    counts = tuple(sorted(sizes.items(), reverse=True))
    room = sum(lengths)
    people = sum(size * count for size, count in counts)
    waste = max(0, room - people)
    while not _fits(lengths, counts, (), waste):
        waste += 1
    return room - waste


@cache
def _fits(runs: tuple[int, ...], counts: tuple[tuple[int, int], ...], owed: tuple[int, ...], waste: int) -> bool:
    """Whether the runs can be filled but for `waste` seats; `owed` are the remainders of groups already split."""
    if waste < 0 or sum(owed) > sum(runs):
        return False
    if not runs:
        return not owed
    first, rest = runs[0], runs[1:]
    seated = (_fits(_with(rest, first - piece), left, due, waste) for piece, left, due in _pieces(first, counts, owed))
    return any(seated) or _fits(rest, counts, owed, waste - first)


def _with(runs: tuple[int, ...], length: int) -> tuple[int, ...]:
    return (length, *runs) if length else runs


def _pieces(
    room: int, counts: tuple[tuple[int, int], ...], owed: tuple[int, ...]
) -> Iterator[tuple[int, tuple[tuple[int, int], ...], tuple[int, ...]]]:
    """What may be seated at the front of a run: a group, a part of one, or the remainder of a split one."""
    for at, rest in enumerate(owed):
        others = owed[:at] + owed[at + 1 :]
        for piece, still in _parts(rest, room):
            yield piece, counts, _owing(others, still)
    for at, (size, count) in enumerate(counts):
        fewer = ((size, count - 1),) if count > 1 else ()
        for piece, still in _parts(size, room):
            yield piece, counts[:at] + fewer + counts[at + 1 :], _owing(owed, still)


def _parts(size: int, room: int) -> Iterator[tuple[int, int]]:
    if size <= room:
        yield size, 0
    for piece in range(min(room, size - 2), 1, -1):
        yield piece, size - piece


def _owing(owed: tuple[int, ...], still: int) -> tuple[int, ...]:
    return tuple(sorted((*owed, still), reverse=True)) if still else owed
