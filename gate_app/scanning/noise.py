"""Limits journal entries for unreadable texts, so that a poster in front of a camera does not fill the disk."""

from __future__ import annotations

from dataclasses import dataclass, field

MINUTE_MS = 60_000
MOST_A_MINUTE = 20


@dataclass(slots=True)
class Noise:
    """One minute's unreadable texts."""

    since: int = -MINUTE_MS  # monotonic ms
    written: set[int] = field(default_factory=set)
    counted: int = 0

    def over(self, now: int) -> int:
        """How many texts were only counted in the minute that has ended; returned once."""
        if now - self.since < MINUTE_MS:
            return 0
        counted, self.counted = self.counted, 0
        self.since = now
        self.written.clear()
        return counted

    def writes(self, text: str) -> bool:
        """Whether this text gets an entry of its own: each text once a minute, at most twenty a minute."""
        key = hash(text)
        if key in self.written or len(self.written) >= MOST_A_MINUTE:
            self.counted += 1
            return False
        self.written.add(key)
        return True
