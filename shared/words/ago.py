"""How long ago something was, in the words of staff at a door, where seconds may matter."""

from __future__ import annotations

from shared.words.messages import say

SECOND, MINUTE, HOUR, DAY = 1_000, 60_000, 3_600_000, 86_400_000


def ago(span_ms: int) -> str:
    """Such as "40 seconds ago", "18 minutes ago"; rounded down."""
    span = max(0, span_ms)
    if span < MINUTE:
        return say("ago.seconds", n=span // SECOND)
    if span < 2 * HOUR:
        return say("ago.minutes", n=span // MINUTE)
    return say("ago.hours", n=span // HOUR) if span < 2 * DAY else say("ago.days", n=span // DAY)
