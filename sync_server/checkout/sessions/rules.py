"""States of checkout sessions, how long they last, and what to say when all are taken: pure."""

from __future__ import annotations

from collections.abc import Collection
from enum import StrEnum
from typing import Final

from shared.clock import Millis
from shared.errors import TooMany

DEFAULT_LIMIT: Final = 5
"""Sessions of an event at once, unless its organiser says otherwise."""
MAX_LIMIT: Final = 100_000
SESSION_MS: Final = 10 * 60_000
ASK_AGAIN_S: Final = 5
BOX_OFFICE: Final = frozenset({"user", "token"})
"""Staff and API tokens need no session, as they need no place in the queue."""


class SessionState(StrEnum):
    """What became of a session; each but an open one has freed its slot."""

    OPEN = "open"
    PAID = "paid"  # or ordered on invoice
    LEFT = "left"
    EXPIRED = "expired"


def lowest_free(taken: Collection[int], limit: int) -> int | None:
    """The lowest slot that nobody has; None where all are taken, as after the limit was lowered."""
    if len(taken) >= limit:
        return None
    return next(slot for slot in range(1, len(taken) + 2) if slot not in taken)


def full(limit: int, free_at: Millis, now: Millis) -> TooMany:
    """What to tell somebody for whom there is no slot: how long it takes at most until one is free."""
    seconds = max(1, -(-(free_at - now) // 1000))
    wait = f"{seconds} seconds" if seconds < 120 else f"{-(-seconds // 60)} minutes"
    return TooMany(
        f"{limit} people are paying for this event now, the most that can at once. A place comes free within {wait},"
        f" often sooner. Ask again every {ASK_AGAIN_S} seconds; what you hold stays yours meanwhile.",
        code="checkout_full",
        retry_after=ASK_AGAIN_S,
        limit=limit,
        wait_seconds=seconds,
        free_at=free_at,
    )
