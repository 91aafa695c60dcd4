"""When measured events take place: on one event day, whatever the hour of the measurement."""

from __future__ import annotations

from typing import Final

HOUR: Final = 3_600_000
DAY: Final = 24 * HOUR


def evening(now: int) -> tuple[int, int]:
    """Start and end of six hours in the evening, in two days.

    Six hours counted from now would often reach past the cut-over, and places of two event days cost more.
    """
    start = (now // DAY + 2) * DAY + 17 * HOUR
    return start, start + 6 * HOUR
