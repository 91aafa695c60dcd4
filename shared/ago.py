"""How long ago something was, in the words of staff at a door, where seconds may matter."""

from __future__ import annotations

SECOND, MINUTE, HOUR, DAY = 1_000, 60_000, 3_600_000, 86_400_000


def ago(span_ms: int) -> str:
    """Such as "40 seconds ago", "18 minutes ago"; rounded down."""
    span = max(0, span_ms)
    if span < MINUTE:
        return _count(span // SECOND, "second")
    if span < 2 * HOUR:
        return _count(span // MINUTE, "minute")
    return _count(span // HOUR, "hour") if span < 2 * DAY else _count(span // DAY, "day")


def _count(number: int, unit: str) -> str:
    return f"{number} {unit}{'' if number == 1 else 's'} ago"
