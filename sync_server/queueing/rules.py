"""Decides who may join a queue, who is admitted next, and what a pass opens: pure functions of what was read."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from shared.clock import Millis
from shared.errors import Conflict, Forbidden, GatehouseError, InvalidRequest, TooMany
from shared.lifecycle import ALLOWS, EventStatus

EXPIRY_MS: Final = 30 * 60_000
"""A place is kept so long after its page last asked; before the opening, after the opening."""
COOLDOWN_MS: Final = 60 * 60_000
"""Whoever leaves may not rejoin for so long."""
REFRESH_MS: Final = 60_000
"""How often asking renews a place."""
RATE_MS: Final = 5 * 60_000
"""Admissions of so long are the rate by which waits are estimated."""
FOUR_IN_FIVE: Final = 1.28
"""Standard deviations on each side of the middle that have four in five of the cases."""
MINUTE_MS: Final = 60_000
NO_SHOW_MS: Final = 2 * 60_000
"""Whoever has not taken the pass for so long keeps the turn, but no slot; browsers wake a hidden page every minute."""
ASK_AGAIN_S: Final = 5


@dataclass(frozen=True, slots=True)
class Opening:
    """When the queue of an event does what."""

    room_at: Millis  # the waiting room opens
    draw_at: Millis  # it closes, and its order is drawn
    ends_at: Millis  # sales are over

    @classmethod
    def of(cls, sale_start_at: Millis | None, sale_end_at: Millis, made_at: Millis, room_minutes: int) -> Opening:
        """The times of a queue that was made at `made_at`; one made during the sale has no waiting room."""
        draw_at = max(made_at, sale_start_at or 0)
        return cls(max(made_at, draw_at - room_minutes * MINUTE_MS), draw_at, sale_end_at)


def require_open(status: EventStatus, opening: Opening, now: Millis) -> None:
    """InvalidRequest unless people may join now."""
    if not ALLOWS[status].sell:
        raise InvalidRequest(f"The event is {status}: there is nothing to queue for.", code="event_not_available")
    if now < opening.room_at:
        raise InvalidRequest("The queue has not opened yet.", code="queue_not_open", opens_at=opening.room_at)
    if now > opening.ends_at:
        raise InvalidRequest("Sales are over.", code="event_sales_closed", sale_end_at=opening.ends_at)


def require_no_cooldown(cooldown_until: Millis | None, now: Millis) -> None:
    """TooMany for whoever left the queue shortly before."""
    if cooldown_until is not None and now < cooldown_until:
        seconds = -(-(cooldown_until - now) // 1000)
        raise TooMany(
            f"You left the queue. You may join again in {-(-seconds // 60)} minutes.",
            code="queue_cooldown",
            retry_after=seconds,
            cooldown_until=cooldown_until,
        )


def expires_at(opening: Opening, now: Millis) -> Millis:
    """Until when a place is kept whose page asks now."""
    return max(now, opening.draw_at) + EXPIRY_MS


def renews(expires: Millis, opening: Opening, now: Millis) -> bool:
    """Whether it is worth a write to keep the place longer."""
    return expires_at(opening, now) - expires >= REFRESH_MS


def admitted_now(free: int, per_minute: int, admitted_in_last_minute: int) -> int:
    """How many to admit: as many as slots of the checkout are free, no more in a minute than wished."""
    return free if not per_minute else min(free, max(0, per_minute - admitted_in_last_minute))


def position(waiting: Sequence[int], seq: int) -> int:
    """The place of a number among those who wait, in order: 1 is next."""
    return bisect_left(waiting, seq) + 1


def estimated_wait_s(position: int, admitted: int) -> int | None:
    """How long somebody at this position waits at the rate of the last minutes; None while nobody is admitted."""
    return None if not admitted else -(-position * RATE_MS // (admitted * 1000))


def wait_between_s(position: int, admitted: int) -> tuple[int, int] | None:
    """Between which times the wait will most likely be: few admissions, or few still ahead, say little of the pace.

    Counts of admissions scatter like Poisson's; the bounds have four in five of the cases.
    """
    estimate = estimated_wait_s(position, admitted)
    if estimate is None:
        return None
    doubt = 1 + FOUR_IN_FIVE * math.sqrt(1 / admitted + 1 / position)
    return int(estimate / doubt), math.ceil(estimate * doubt)


@dataclass(frozen=True, slots=True)
class Pass:
    """What is known of the latest entry of whoever wants to hold seats."""

    state: str
    expires_at: Millis
    tab_hash: bytes | None


def refusal(found: Pass | None, tab_hash: bytes | None, now: Millis) -> GatehouseError | None:
    """Why somebody may not hold seats of an event with a queue."""
    if found is None or found.state == "left":
        return Forbidden("Many people want tickets for this event. Join the queue first.", code="queue_required")
    if found.state == "spent":
        return Forbidden("Your turn ended with your purchase. Join the queue again for more.", code="pass_spent")
    if found.state == "waiting" and now < found.expires_at:
        return Forbidden("It is not your turn yet. Keep the page of the queue open.", code="queue_not_your_turn")
    if found.state != "admitted" or now >= found.expires_at:
        return Forbidden("Your turn has run out. Join the queue again.", code="pass_expired")
    if found.tab_hash is None or found.tab_hash != tab_hash:
        return Forbidden(
            "Your turn belongs to another tab. Go on in the tab where you waited.", code="pass_of_another_tab"
        )
    return None


def require_beacon_expected(source: str, closed_at: Millis | None, drawn_at: Millis | None) -> None:
    """Conflict unless the draw waits for the value of a public random round."""
    if not source:
        raise Conflict("The queue names no public random round: its draw needs no value.", code="no_beacon")
    if closed_at is None:
        raise Conflict("The waiting room is still open. A value known before it closes could be used to bend the draw.")
    if drawn_at is not None:
        raise Conflict("The order has been drawn already.", code="already_drawn")
