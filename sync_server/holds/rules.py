"""Whether a seat may be held: decided from what the database says of event, seat and bearer at one moment."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from shared.backoff import delays
from shared.clock import Millis
from shared.errors import Conflict, GatehouseError, InvalidRequest, NotSignedIn, TooMany
from shared.lifecycle import EventStatus, sells
from sync_server.seating.rules import being_moved

RATE: Final = 10
RATE_MS: Final = 5 * 60 * 1000
"""So many seats may one bearer take within so long; those given up count too."""
TRIES: Final = 3
FIRST_PAUSE_MS: Final = 10
EXTENSIONS: Final = 1
"""How often a hold may be made to last longer."""
SWEPT_AFTER_MS: Final = 10_000
"""Clocks of several machines differ a little: nobody ends another's hold before this is over, too."""

FREE, HELD, SOLD = 0, 1, 2
STATE_WORDS: Final = {HELD: "held", SOLD: "sold"}


def pause_ms(retry: int) -> int:
    """How long to wait before the next try: 10, 20, 40 milliseconds."""
    return delays(retry, base_ms=FIRST_PAUSE_MS, cap_ms=FIRST_PAUSE_MS << TRIES, jitter=1.0)


def ttl_ms(minutes: int) -> Millis:
    """How long a hold lasts."""
    return minutes * 60_000


@dataclass(frozen=True, slots=True)
class Sale:
    """What decides whether an event sells at all; and, with it, what must be unchanged when a hold is written."""

    turn: int  # of the event's desk
    status: EventStatus
    rescheduled_at: Millis | None
    sale_start_at: Millis | None
    sale_end_at: Millis
    capacity: int
    revision: int  # of the event's layout; 0: it has none
    policy_at: Millis | None
    moving: bool = False  # its guests are on their way to other seats


def check_sale(sale: Sale, now: Millis) -> None:
    """InvalidRequest in the words of the documents for an event that sells nothing now."""
    if sale.status in {EventStatus.CANCELLED, EventStatus.ARCHIVED}:
        raise InvalidRequest("This event does not take place. Nothing of it is sold.", code="event_unavailable")
    undated = sale.status is EventStatus.POSTPONED and sale.rescheduled_at is None
    if undated or sale.status in {EventStatus.DRAFT, EventStatus.ENDED}:
        raise InvalidRequest(f"The event is {sale.status}: its seats are not on sale.", code="event_not_available")
    if not sells(sale.status, sale.rescheduled_at, sale.sale_start_at, sale.sale_end_at, now):
        early = sale.sale_start_at is not None and now < sale.sale_start_at
        words = "Sales have not begun yet." if early else "Sales are over."
        raise InvalidRequest(
            words, code="event_sales_closed", sale_start_at=sale.sale_start_at, sale_end_at=sale.sale_end_at
        )
    if sale.moving:
        raise being_moved()


@dataclass(frozen=True, slots=True)
class Bounds:
    """How much one bearer may hold; None: no bound."""

    per_booking: int | None
    per_user: int | None
    per_address: int | None
    rate: int | None = RATE  # within five minutes


class Outcome(StrEnum):
    """What to do now, where nothing is refused."""

    HELD = "held"
    MINE_ALREADY = "mine already"
    LOOK_ANEW = "look anew"  # what was known of the event is no longer so
    OPEN_TALLY = "open tally"  # the bearer's first hold ever
    AT_ONCE = "at once"  # the same bearer was quicker in another request
    OVERDUE = "overdue"  # somebody's time is over, but nobody has ended the hold
    CONSIDER = "consider"  # it would leave a single seat: the whole house must be looked at
    LOST = "lost"  # somebody was quicker, and the seat may be free again


@dataclass(frozen=True, slots=True)
class Evidence:
    """What one statement saw. Nothing was written unless `done`."""

    fresh: bool
    known: bool  # the guest is there, and may still come in
    tally: int | None  # the bearer's turn, as it is now that we hold it
    tally_seen: int | None  # and as it was when the statement began
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


def judge(seen: Evidence, bounds: Bounds, now: Millis) -> Outcome | GatehouseError:
    """What became of a try, or why it is refused; the first reason counts."""
    if seen.done:
        return Outcome.HELD
    for holds, answer in _REASONS:
        if holds(seen, bounds, now):
            return answer(seen, bounds, now) if callable(answer) else answer
    return Outcome.LOST


def _another_has_it(seen: Evidence, _bounds: Bounds, now: Millis) -> bool:
    return seen.state == HELD and (seen.held_until or 0) > now


Condition = Callable[[Evidence, Bounds, Millis], bool]
Answer = Outcome | Callable[[Evidence, Bounds, Millis], GatehouseError]

_REASONS: Final[tuple[tuple[Condition, Answer], ...]] = (
    (lambda seen, *_: not seen.fresh, Outcome.LOOK_ANEW),
    (lambda seen, *_: not seen.known, lambda *_: session_over()),
    (lambda seen, *_: seen.tally is None, Outcome.OPEN_TALLY),
    (lambda seen, *_: seen.tally != seen.tally_seen, Outcome.AT_ONCE),
    (lambda seen, *_: seen.my_hold is not None, Outcome.MINE_ALREADY),
    (lambda seen, bounds, _: over_rate(seen.recent, 1, bounds), lambda seen, *rest: too_fast(seen.oldest, *rest)),
    (lambda seen, *_: seen.state == SOLD, lambda *_: not_available("sold")),
    (_another_has_it, lambda seen, _, now: held_by_another(seen.held_until or 0, now)),
    (lambda seen, bounds, _: over(seen.mine, 1, bounds.per_booking), lambda _, bounds, __: too_many_seats(bounds)),
    (lambda seen, bounds, _: over(seen.mine, 1, bounds.per_user), lambda _, bounds, __: too_many_holds(bounds)),
    (lambda seen, bounds, _: over(seen.from_address, 1, bounds.per_address), lambda *_: too_many_from_address()),
    (lambda seen, *_: seen.state == HELD, Outcome.OVERDUE),
    (lambda seen, *_: not seen.tidy, Outcome.CONSIDER),
)


def over(present: int, more: int, bound: int | None) -> bool:
    """Whether that would be too many."""
    return bound is not None and present + more > bound


def over_rate(recent: int, more: int, bounds: Bounds) -> bool:
    """Whether that would be too many in too short a time."""
    return over(recent, more, bounds.rate)


def session_over() -> GatehouseError:
    """The guest's time is over."""
    return NotSignedIn("Your visit has ended. Load the page again.", code="unauthorized")


def too_fast(oldest: Millis | None, bounds: Bounds, now: Millis) -> GatehouseError:
    """Too many in five minutes."""
    wait = max(1, -(-((oldest if oldest is not None else now) + RATE_MS - now) // 1000))
    return TooMany(
        f"You may take {bounds.rate} seats within five minutes. Wait a little before you take another.",
        retry_after=wait,
    )


def not_available(state: str) -> GatehouseError:
    """Sold, or not for sale."""
    return Conflict("This seat is not available. Choose another.", code="seat_not_available", current_status=state)


def naming(refusal: GatehouseError, gone: Mapping[str, str]) -> GatehouseError:
    """The same for a party, which gets all of its seats or none: it is told which are not to be had, names by id."""
    names = list(gone.values())
    refusal.message = f"Not to be had: {', '.join(names[:20])}. Nothing was held. Choose others, or try again later."
    refusal.details |= {"seat_id": next(iter(gone)), "seats": names}
    return refusal


def held_by_another(until: Millis, now: Millis) -> GatehouseError:
    """Somebody else has it for now; who, is nobody's business."""
    return Conflict(
        "Somebody else holds this seat for the moment. Choose another, or try again later.",
        code="seat_held_by_another_user",
        expires_at=until,
        expires_in=seconds_left(until, now),
    )


def no_longer_available() -> GatehouseError:
    """Lost to others, again and again."""
    return Conflict(
        "Others were quicker. Look at the plan again and choose another seat.", code="seat_no_longer_available"
    )


def too_many_seats(bounds: Bounds) -> GatehouseError:
    """More than one booking holds."""
    return InvalidRequest(
        f"A booking holds {bounds.per_booking} seats at most. Ask the box office for larger parties.",
        code="too_many_seats",
    )


def too_many_holds(bounds: Bounds) -> GatehouseError:
    """More than the policy lets one person hold."""
    return Conflict(
        f"You may hold {bounds.per_user} at a time. Buy or give up what you hold first.", code="too_many_holds"
    )


def too_many_from_address() -> GatehouseError:
    """More than the policy lets one address hold."""
    return TooMany(
        "Too much is held from your address. Try again when some of it is bought or given up.", retry_after=60
    )


def at_capacity() -> GatehouseError:
    """Nothing left, of a zone or of the event as a whole."""
    return Conflict("There is no room left here.", code="block_at_capacity")


def seconds_left(until: Millis, now: Millis) -> int:
    """Whole seconds, as a clock that counts down shows them."""
    return max(0, -(-(until - now) // 1000))
