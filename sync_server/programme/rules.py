"""Until when an event is listed and where it stands, and how much it trends."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from shared.clock import Millis
from shared.lifecycle import ALLOWS, EventStatus

HOUR: Final = 3_600_000
DAY: Final = 24 * HOUR
UNDATED_FOR: Final = 30 * DAY
"""So long after its old end a postponed event without a date is still listed."""
EVER: Final = 1 << 62
NEVER: Final = 0

WEIGHTS: Final[Mapping[str, int]] = {"ticket_sold": 3, "joined": 2, "seat_held": 1}
INTEREST_HOURS: Final = 72
HALF_LIFE_HOURS: Final = 24
NEAR_DAYS: Final = 7


@dataclass(frozen=True, slots=True)
class Plan:
    """What listing an event depends on."""

    status: EventStatus
    start_at: Millis
    end_at: Millis
    rescheduled_at: Millis | None = None
    end_at_auto: Millis | None = None


def is_visible(status: EventStatus) -> bool:
    """Whether visitors may see an event of this status at all."""
    return ALLOWS[status].show


def starts_at(plan: Plan) -> Millis:
    """Where an event stands in the feed: at its new date, where it has one."""
    return plan.start_at if plan.rescheduled_at is None else plan.rescheduled_at


def listed_until(plan: Plan) -> Millis:
    """The moment from which an event is not listed; NEVER while visitors may not see it.

    A live event is going on, whatever its times say, until somebody or its plan ends it.
    """
    if not is_visible(plan.status):
        return NEVER
    if plan.status is EventStatus.LIVE:
        return EVER if plan.end_at_auto is None else plan.end_at_auto
    if plan.status is EventStatus.POSTPONED and plan.rescheduled_at is None:
        return plan.end_at + UNDATED_FOR
    return starts_at(plan) + plan.end_at - plan.start_at


def score(met: Iterable[tuple[int, int]], start: Millis, now: Millis) -> float:
    """How much an event trends, from (hour, weight) of the interest it met with and the moment of its start."""
    present = now // HOUR
    interest: float = sum(weight * 2.0 ** (-max(0, present - hour) / HALF_LIFE_HOURS) for hour, weight in met)
    return interest / (1 + max(0, start - now) / (NEAR_DAYS * DAY))
