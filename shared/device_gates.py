"""At which gates of an event a device may be used, and where it stands: without a list of gates, at any of them."""

from __future__ import annotations

from collections.abc import Collection, Iterable


def usable(assigned: int | None, allowed: Collection[int], gates: Iterable[int]) -> tuple[int, ...]:
    """The gates of the event at which a device may be used."""
    named = {*allowed} if assigned is None else {assigned, *allowed}
    return tuple(number for number in gates if not named or number in named)


def standing(assigned: int | None, allowed: Collection[int], gates: Iterable[int]) -> int | None:
    """Where a device stands as long as nobody there chooses: at its assigned gate, else at the only usable one."""
    numbers = usable(assigned, allowed, gates)
    if assigned is not None:
        return assigned if assigned in numbers else None
    return numbers[0] if len(numbers) == 1 else None
