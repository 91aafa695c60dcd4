"""Decides whether a seat may be held, from what the database says of event, seat and bearer at one moment."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from shared.backoff import delays
from shared.clock import Millis
from shared.errors import Conflict, GatehouseError, InvalidRequest, NotSignedIn, TooMany
from shared.lifecycle import EventStatus, sells
from sync_server.seating.rules import guests_being_moved

RATE: Final = 10
RATE_MS: Final = 5 * 60 * 1000
"""How many seats one bearer may take in this time; released ones count too."""
TRIES: Final = 3
FIRST_PAUSE_MS: Final = 10
EXTENSIONS: Final = 1
"""How often a hold may be extended."""
SWEPT_AFTER_MS: Final = 10_000
"""The sweep waits this long, because clocks of several machines differ a little."""

FREE, HELD, SOLD = 0, 1, 2
STATE_NAMES: Final = {HELD: "held", SOLD: "sold"}


def pause_ms(retry: int) -> int:
    """How long to wait before the next try: 10, 20, 40 milliseconds."""
    return delays(retry, base_ms=FIRST_PAUSE_MS, cap_ms=FIRST_PAUSE_MS << TRIES, jitter=1.0)


def ttl_ms(minutes: int) -> Millis:
    """How long a hold lasts."""
    return minutes * 60_000


@dataclass(frozen=True, slots=True)
class Sale:
    """What decides whether an event is on sale; all of it must be unchanged when a hold is written."""

    version: int  # of the event's sale lock
    status: EventStatus
    rescheduled_at: Millis | None
    sale_start_at: Millis | None
    sale_end_at: Millis
    capacity: int
    revision: int  # of the event's layout; 0: it has none
    policy_at: Millis | None
    moving: bool = False  # its guests are being moved to other seats


def check_sale(sale: Sale, now: Millis) -> None:
    """InvalidRequest, with the codes of the requirements, for an event that is not on sale."""
    if sale.status in {EventStatus.CANCELLED, EventStatus.ARCHIVED}:
        raise InvalidRequest("This event does not take place. It is not on sale.", code="event_unavailable")
    undated = sale.status is EventStatus.POSTPONED and sale.rescheduled_at is None
    if undated or sale.status in {EventStatus.DRAFT, EventStatus.ENDED}:
        raise InvalidRequest(f"The event is {sale.status}: its seats are not on sale.", code="event_not_available")
    if not sells(sale.status, sale.rescheduled_at, sale.sale_start_at, sale.sale_end_at, now):
        early = sale.sale_start_at is not None and now < sale.sale_start_at
        message = "Sales have not begun yet." if early else "Sales are over."
        raise InvalidRequest(
            message, code="event_sales_closed", sale_start_at=sale.sale_start_at, sale_end_at=sale.sale_end_at
        )
    if sale.moving:
        raise guests_being_moved()


@dataclass(frozen=True, slots=True)
class Limits:
    """How much one bearer may hold; None for no limit."""

    per_booking: int | None
    per_user: int | None
    per_address: int | None
    rate: int | None = RATE  # within five minutes


class Outcome(StrEnum):
    """What to do next, where nothing is refused."""

    HELD = "held"
    MINE_ALREADY = "mine already"
    RELOAD = "reload"  # the sale state of the event is out of date
    CREATE_COUNTER = "create counter"  # the bearer's first hold ever
    RETRY_NOW = "retry now"  # another request of the same bearer was quicker
    OVERDUE = "overdue"  # held by a hold that ran out but is not ended yet
    CHECK_CHOICE = "check choice"  # it would leave a single seat: check against all seats of the event
    LOST = "lost"  # someone else was quicker, and the seat may be free again


@dataclass(frozen=True, slots=True)
class Evidence:
    """What one statement read. Nothing was written unless `done`."""

    fresh: bool
    guest_active: bool  # the guest exists and their visit has not ended
    counter: int | None  # the version of the bearer's counter, now that it is locked
    counter_before: int | None  # and when the statement began
    recent: int
    oldest: Millis | None
    mine: int
    my_hold: str | None
    my_until: Millis | None
    state: int
    held_until: Millis | None
    from_address: int
    pattern: int
    tidy: bool
    done: bool


def judge(seen: Evidence, limits: Limits, now: Millis) -> Outcome | GatehouseError:
    """The outcome of an attempt, or its refusal; the first reason counts."""
    if seen.done:
        return Outcome.HELD
    for applies, result in _REASONS:
        if applies(seen, limits, now):
            return result(seen, limits, now) if callable(result) else result
    return Outcome.LOST


def _held_by_another(seen: Evidence, _bounds: Limits, now: Millis) -> bool:
    return seen.state == HELD and (seen.held_until or 0) > now


Condition = Callable[[Evidence, Limits, Millis], bool]
Result = Outcome | Callable[[Evidence, Limits, Millis], GatehouseError]

_REASONS: Final[tuple[tuple[Condition, Result], ...]] = (
    (lambda seen, *_: not seen.fresh, Outcome.RELOAD),
    (lambda seen, *_: not seen.guest_active, lambda *_: session_expired()),
    (lambda seen, *_: seen.counter is None, Outcome.CREATE_COUNTER),
    (lambda seen, *_: seen.counter != seen.counter_before, Outcome.RETRY_NOW),
    (lambda seen, *_: seen.my_hold is not None, Outcome.MINE_ALREADY),
    (lambda seen, limits, _: exceeds_rate(seen.recent, 1, limits), lambda seen, *rest: too_fast(seen.oldest, *rest)),
    (lambda seen, *_: seen.state == SOLD, lambda *_: not_available("sold")),
    (_held_by_another, lambda seen, _, now: held_by_another(seen.held_until or 0, now)),
    (lambda seen, limits, _: exceeds(seen.mine, 1, limits.per_booking), lambda _, limits, __: too_many_seats(limits)),
    (lambda seen, limits, _: exceeds(seen.mine, 1, limits.per_user), lambda _, limits, __: too_many_holds(limits)),
    (lambda seen, limits, _: exceeds(seen.from_address, 1, limits.per_address), lambda *_: too_many_from_address()),
    (lambda seen, *_: seen.state == HELD, Outcome.OVERDUE),
    (lambda seen, *_: not seen.tidy, Outcome.CHECK_CHOICE),
)


def exceeds(present: int, more: int, limit: int | None) -> bool:
    """Whether `more` would go beyond the limit."""
    return limit is not None and present + more > limit


def exceeds_rate(recent: int, more: int, limits: Limits) -> bool:
    """Whether `more` would go beyond the rate."""
    return exceeds(recent, more, limits.rate)


def session_expired() -> GatehouseError:
    """The guest's visit has ended."""
    return NotSignedIn("Your visit has ended. Load the page again.", code="unauthorized")


def too_fast(oldest: Millis | None, limits: Limits, now: Millis) -> GatehouseError:
    """Too many seats within five minutes."""
    wait = max(1, -(-((oldest if oldest is not None else now) + RATE_MS - now) // 1000))
    return TooMany(
        f"You may take {limits.rate} seats within five minutes. Wait a little before you take another.",
        retry_after=wait,
    )


def not_available(state: str) -> GatehouseError:
    """Sold, or not for sale."""
    return Conflict("This seat is not available. Choose another.", code="seat_not_available", current_status=state)


def naming_seats(refusal: GatehouseError, gone: Mapping[str, str]) -> GatehouseError:
    """Name the seats, {id: name}, that are not available to a group, which gets all of its seats or none."""
    names = list(gone.values())
    refusal.message = f"Not available: {', '.join(names[:20])}. Nothing was held. Choose others, or try again later."
    refusal.details |= {"seat_id": next(iter(gone)), "seats": names}
    return refusal


def held_by_another(until: Millis, now: Millis) -> GatehouseError:
    """Someone else holds it; who is not disclosed."""
    return Conflict(
        "Someone else is holding this seat. Choose another, or try again later.",
        code="seat_held_by_another_user",
        expires_at=until,
        expires_in=seconds_left(until, now),
    )


def no_longer_available() -> GatehouseError:
    """Lost to others several times in a row."""
    return Conflict(
        "Someone else was quicker. Look at the seat map again and choose another seat.", code="seat_no_longer_available"
    )


def too_many_seats(limits: Limits) -> GatehouseError:
    """More than one booking may hold."""
    return InvalidRequest(
        f"A booking holds {limits.per_booking} seats at most. Ask the box office for a larger group.",
        code="too_many_seats",
    )


def too_many_holds(limits: Limits) -> GatehouseError:
    """More than the policy lets one bearer hold."""
    return Conflict(
        f"You may hold {limits.per_user} seats at a time. Buy or release what you hold first.", code="too_many_holds"
    )


def too_many_from_address() -> GatehouseError:
    """More than the policy lets one address hold."""
    return TooMany(
        "Too many seats are held from your address. Try again when some are bought or released.", retry_after=60
    )


def at_capacity() -> GatehouseError:
    """Nothing left in a zone, or at the event as a whole."""
    return Conflict("No places left here.", code="block_at_capacity")


def seconds_left(until: Millis, now: Millis) -> int:
    """Whole seconds, as a countdown shows them."""
    return max(0, -(-(until - now) // 1000))
