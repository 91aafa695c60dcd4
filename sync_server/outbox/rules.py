"""The streams that keep the order of facts, and when to retry or give up: pure."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Final

from shared.backoff import delays
from shared.clock import Millis

DEAD_AFTER: Final = 18
"""Failed deliveries after which a fact is given up, a good two hours after the first."""
FIRST_PAUSE_MS: Final = 500
LONGEST_PAUSE_MS: Final = 30 * 60_000
OUTAGE_PAUSE_MS: Final = 1_000


class State(StrEnum):
    """Where a fact is on its way."""

    WAITING = "waiting"
    DEAD = "dead"
    UNROUTED = "unrouted"
    SENT = "sent"


def stream_of(subjects: Mapping[str, Any], organisation_id: str) -> str:
    """The stream within which facts keep their order: an event, or else the first subject that is named."""
    event = subjects.get("event_number") or subjects.get("event")
    if event:
        return f"event:{event}"
    kind, subject = next(iter(subjects.items()), ("organisation", organisation_id))
    return f"{kind}:{subject}"


def is_dead(attempts: int) -> bool:
    """Whether a delivery that has failed so often is given up until somebody replays it."""
    return attempts >= DEAD_AFTER


def pause(attempts: int, jitter: float) -> Millis:
    """How long to wait before the next attempt, after `attempts` failures."""
    return delays(attempts - 1, base_ms=FIRST_PAUSE_MS, cap_ms=LONGEST_PAUSE_MS, jitter=jitter)
