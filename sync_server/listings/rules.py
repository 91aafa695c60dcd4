"""How long an event is listed, where it stands in the feed, and its trending score."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from shared.clock import Millis
from shared.lifecycle import ALLOWS, EventStatus

HOUR: Final = 3_600_000
DAY: Final = 24 * HOUR
UNDATED_LISTED_MS: Final = 30 * DAY
"""How long after its old end a postponed event without a new date is listed."""
FOREVER: Final = 1 << 62
NEVER: Final = 0

JOIN_WEIGHT: Final = 2
"""What somebody who joins elsewhere adds to the interest in an event; what facts add is in their catalogue."""
INTEREST_HOURS: Final = 72
HALF_LIFE_HOURS: Final = 24
NEAR_DAYS: Final = 7


@dataclass(frozen=True, slots=True)
class ListingTimes:
    """What the listing of an event depends on."""

    status: EventStatus
    start_at: Millis
    end_at: Millis
    rescheduled_at: Millis | None = None
    end_at_auto: Millis | None = None


def starts_at(event: ListingTimes) -> Millis:
    """The start by which an event is listed: its new date, if it has one."""
    return event.start_at if event.rescheduled_at is None else event.rescheduled_at


def listed_until(event: ListingTimes) -> Millis:
    """When an event leaves the feed; NEVER if visitors may not see it.

    A live event stays, whatever its times say, until it is ended by hand or as planned.
    """
    if not ALLOWS[event.status].show:
        return NEVER
    if event.status is EventStatus.LIVE:
        return FOREVER if event.end_at_auto is None else event.end_at_auto
    if event.status is EventStatus.POSTPONED and event.rescheduled_at is None:
        return event.end_at + UNDATED_LISTED_MS
    return starts_at(event) + event.end_at - event.start_at


def score(weights: Iterable[tuple[int, int]], start: Millis, now: Millis) -> float:
    """The trending score of an event, from its interest by (hour, weight) and its start."""
    present = now // HOUR
    interest: float = sum(weight * 2.0 ** (-max(0, present - hour) / HALF_LIFE_HOURS) for hour, weight in weights)
    return interest / (1 + max(0, start - now) / (NEAR_DAYS * DAY))
