"""Decides whether seats and places may be held, from what is known of event, seats and bearer at one moment."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from msgspec import Struct

from shared.backoff import delays
from shared.clock import Millis
from shared.errors import Conflict, GatehouseError, InvalidRequest, NotSignedIn, TooMany
from shared.lifecycle import EventStatus, sells
from sync_server.holds.taken_seat import TakenSeat
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


class Limits(Struct, frozen=True):
    """How much one bearer may hold; None for no limit."""

    per_booking: int | None
    per_user: int | None
    per_address: int | None
    per_card: int | None
    rate: int | None = RATE  # within five minutes


UNLIMITED: Final = Limits(None, None, None, None, None)


class Outcome(StrEnum):
    """What to do next, where nothing is refused."""

    MINE_ALREADY = "mine already"
    RELOAD = "reload"  # the sale state of the event is out of date
    CREATE_COUNTER = "create counter"  # the bearer's first hold ever
    RETRY_NOW = "retry now"  # another request of the same bearer was quicker
    OVERDUE = "overdue"  # held by a hold that ran out but is not ended yet
    CHECK_CHOICE = "check choice"  # it would leave a single seat: check against all seats of the event


class Asked(Struct, frozen=True):
    """A request, and what is known of it before a table is read."""

    sale: Sale
    now: Millis
    limits: Limits = UNLIMITED
    several: bool = False  # more than one seat is asked for, so that a refusal must name those it means
    blocked: Mapping[str, str] | None = None  # of the seats asked for, those that are not for sale: {id: name}
    closed: GatehouseError | None = None  # why a zone is closed to this bearer
    early: bool = False  # a code opens the sale before it begins


class Evidence(Struct, frozen=True):
    """What was read at one moment; the defaults refuse nothing."""

    fresh: bool = True  # the sale state is still current
    more: int = 1  # seats and places that the bearer does not hold yet
    taken: Sequence[TakenSeat] = ()  # in the order asked for
    partly_mine: Sequence[TakenSeat] = ()  # held by the bearer already, but not for all of the days asked for
    guest_active: bool = True  # the guest exists and their visit has not ended
    counter: int | None = 0  # the version of the bearer's counter, now that it is locked
    counter_before: int | None = 0  # and when the statement began
    recent: int = 0
    oldest: Millis | None = None
    mine: int = 0
    from_address: int = 0
    with_card: int = 0
    members: int = 0  # guests that the card admits already to zones for its members
    more_members: int = 0  # and how many more are asked for
    room: int | None = None  # what is left in the zone and at the event; None where each seat is its own limit
    choice: GatehouseError | None = None  # why the choice breaks the seating rules, where that was checked
    overdue: bool = False
    tidy: bool = True


UNREAD: Final = Evidence()

Condition = Callable[[Asked, Evidence], bool]
Answer = Outcome | Callable[[Asked, Evidence], GatehouseError]


@dataclass(frozen=True, slots=True)
class Reason:
    """One reason not to hold, or not yet."""

    name: str
    applies: Condition
    answer: Answer
    passed: str = ""  # the same for the statement that reads and writes: SQL, true where this does not apply


def judge(asked: Asked, seen: Evidence = UNREAD) -> Outcome | GatehouseError | None:
    """The first reason that applies; None where nothing stands against the hold."""
    for reason in _UNREAD_REASONS if seen is UNREAD else REASONS:
        if reason.applies(asked, seen):
            answer = reason.answer
            return answer if isinstance(answer, Outcome) else answer(asked, seen)
    return None


def require(asked: Asked, seen: Evidence = UNREAD) -> Outcome | None:
    """The same, with a refusal raised."""
    answer = judge(asked, seen)
    if isinstance(answer, GatehouseError):
        raise answer
    return answer


def exceeds(present: int, more: int, limit: int | None) -> bool:
    """Whether `more` would go beyond the limit."""
    return limit is not None and present + more > limit


def _in_time(asked: Asked) -> bool:
    sale = asked.sale
    start = None if asked.early else sale.sale_start_at
    return sells(sale.status, sale.rescheduled_at, start, sale.sale_end_at, asked.now)


def _undated(sale: Sale) -> bool:
    return sale.status is EventStatus.POSTPONED and sale.rescheduled_at is None


def _first_taken(seen: Evidence) -> int:
    return seen.taken[0].state if seen.taken else FREE


def _required(refusal: GatehouseError | None) -> GatehouseError:
    assert refusal is not None  # noqa: S101 - its reason applies
    return refusal


def _not_on_sale(sale: Sale) -> GatehouseError:
    return InvalidRequest(f"The event is {sale.status}: its seats are not on sale.", code="event_not_available")


def _sales_closed(sale: Sale, now: Millis) -> GatehouseError:
    early = sale.sale_start_at is not None and now < sale.sale_start_at
    message = "Sales have not begun yet." if early else "Sales are over."
    window = {"sale_start_at": sale.sale_start_at, "sale_end_at": sale.sale_end_at}
    return InvalidRequest(message, code="event_sales_closed", **window)


def _session_over() -> GatehouseError:
    return NotSignedIn("Your visit has ended. Load the page again.", code="unauthorized")


def _too_fast(asked: Asked, seen: Evidence) -> GatehouseError:
    if exceeds(0, seen.more, asked.limits.per_booking):  # no waiting would help
        return _too_many_seats(asked.limits)
    oldest = asked.now if seen.oldest is None else seen.oldest
    return TooMany(
        f"You may take {asked.limits.rate} seats within five minutes. Wait a little before you take another.",
        retry_after=max(1, seconds_left(oldest + RATE_MS, asked.now)),
    )


def _not_available(state: str, dates: Sequence[str] = ()) -> GatehouseError:
    on = f" on {', '.join(dates)}" if dates else ""
    message = f"This seat is not available{on}. Choose another{', or other days' if dates else ''}."
    return Conflict(message, code="seat_not_available", current_status=state)


def _blocked(asked: Asked, _seen: Evidence) -> GatehouseError:
    return _naming(_not_available("blocked"), asked, {id: (name, name) for id, name in (asked.blocked or {}).items()})


def _sold(asked: Asked, seen: Evidence) -> GatehouseError:
    return _naming_taken(_not_available("sold", seen.taken[0].dates), asked, seen.taken)


def _held_by_another(asked: Asked, seen: Evidence) -> GatehouseError:
    """Someone else holds it; who is not disclosed."""
    until, dates = seen.taken[0].until, seen.taken[0].dates
    on = f" on {', '.join(dates)}" if dates else ""
    refusal = Conflict(
        f"Someone else is holding this seat{on}. Choose another, or try again later.",
        code="seat_held_by_another_user",
        expires_at=until,
        expires_in=seconds_left(until, asked.now),
    )
    return _naming_taken(refusal, asked, seen.taken)


def _partly_mine(asked: Asked, seen: Evidence) -> GatehouseError:
    """The bearer's own hold is for other days: two holds of one seat for the same day cannot be."""
    refusal = Conflict(
        f"You already hold this seat on {', '.join(seen.partly_mine[0].dates)}. Ask for the other days only, or "
        "release that hold first.",
        code="seat_held_for_other_days",
    )
    return _naming_taken(refusal, asked, seen.partly_mine)


def _naming_taken(refusal: GatehouseError, asked: Asked, taken: Sequence[TakenSeat]) -> GatehouseError:
    """The refusal with the seats, and at an event of several days with the days on which one of them is taken."""
    if dates := sorted({date for seat in taken for date in seat.dates}):
        refusal.details["days"] = dates
    return _naming(refusal, asked, {seat.id: (seat.name, seat.label) for seat in taken})


def _naming(refusal: GatehouseError, asked: Asked, gone: Mapping[str, tuple[str, str]]) -> GatehouseError:
    """The refusal with the names of the seats it means, for a group, which gets all of its seats or none."""
    if asked.several:
        labels = [label for _, label in gone.values()]
        refusal.message = (
            f"Not available: {', '.join(labels[:20])}. Nothing was held. Choose others, or try again later."
        )
        refusal.details |= {"seat_id": next(iter(gone)), "seats": [name for name, _ in gone.values()]}
    return refusal


def _too_many_seats(limits: Limits) -> GatehouseError:
    return InvalidRequest(
        f"A booking can hold at most {limits.per_booking} seats. Ask the box office for a larger group.",
        code="too_many_seats",
    )


def _too_many_holds(limits: Limits) -> GatehouseError:
    return Conflict(
        f"You may hold {limits.per_user} seats at a time. Buy or release what you hold first.", code="too_many_holds"
    )


def _too_many_with_card(limits: Limits) -> GatehouseError:
    return Conflict(
        f"One membership card may hold {limits.per_card} seats at a time at an event. Buy or release what is held with "
        "it first, or ask the box office.",
        code="too_many_holds_with_card",
        limit=limits.per_card,
    )


def _membership_in_use() -> GatehouseError:
    return Conflict(
        "A membership admits one guest, and this one is already in use. Friends need their own memberships, or a place "
        "on the zone's list.",
        code="membership_in_use",
    )


def _too_many_from_address(limits: Limits) -> GatehouseError:
    return TooMany(
        f"From one internet address at most {limits.per_address} seats of an event may be held at a time; yours has no "
        "more left. Try again when some are bought or released, or from another network, or ask the box office.",
        retry_after=60,
        limit=limits.per_address,
    )


def no_longer_available() -> GatehouseError:
    """Lost to others several times in a row."""
    return Conflict(
        "Someone else was quicker. Look at the seat map again and choose another seat.", code="seat_no_longer_available"
    )


def seconds_left(until: Millis, now: Millis) -> int:
    """Whole seconds, as a countdown shows them."""
    return max(0, -(-(until - now) // 1000))


REASONS: Final = (
    Reason("reload", lambda _, seen: not seen.fresh, Outcome.RELOAD, "fresh"),
    # The event.
    Reason(
        "event_unavailable",
        lambda asked, _: asked.sale.status in {EventStatus.CANCELLED, EventStatus.ARCHIVED},
        lambda *_: InvalidRequest("This event does not take place. It is not on sale.", code="event_unavailable"),
    ),
    Reason(
        "event_not_available",
        lambda asked, _: asked.sale.status in {EventStatus.DRAFT, EventStatus.ENDED} or _undated(asked.sale),
        lambda asked, _: _not_on_sale(asked.sale),
    ),
    Reason(
        "event_sales_closed",
        lambda asked, _: not _in_time(asked),
        lambda asked, _: _sales_closed(asked.sale, asked.now),
    ),
    Reason("guests_being_moved", lambda asked, _: asked.sale.moving, lambda *_: guests_being_moved()),
    # The seats: what anybody would hear.
    Reason("blocked", lambda asked, _: bool(asked.blocked), _blocked),
    Reason("closed_zone", lambda asked, _: asked.closed is not None, lambda asked, _: _required(asked.closed)),
    Reason("mine_already", lambda _, seen: not seen.more, Outcome.MINE_ALREADY, "my_hold IS NULL"),
    Reason("sold", lambda _, seen: _first_taken(seen) == SOLD, _sold, "state <> 2"),
    Reason(
        "held_by_another",
        lambda _, seen: _first_taken(seen) == HELD,
        _held_by_another,
        "NOT (state = 1 AND held_until > :now)",
    ),
    Reason("partly_mine", lambda _, seen: bool(seen.partly_mine), _partly_mine),
    # The bearer.
    Reason("session_over", lambda _, seen: not seen.guest_active, lambda *_: _session_over(), "guest_active"),
    Reason("first_hold", lambda _, seen: seen.counter is None, Outcome.CREATE_COUNTER, "counter IS NOT NULL"),
    Reason(
        "at_the_same_time",
        lambda _, seen: seen.counter != seen.counter_before,
        Outcome.RETRY_NOW,
        "counter = counter_before",
    ),
    Reason(
        "rate",
        lambda asked, seen: exceeds(seen.recent, seen.more, asked.limits.rate),
        _too_fast,
        "(:rate < 0 OR recent < :rate)",
    ),
    Reason(
        "per_booking",
        lambda asked, seen: exceeds(seen.mine, seen.more, asked.limits.per_booking),
        lambda asked, _: _too_many_seats(asked.limits),
        "(:per_booking < 0 OR mine < :per_booking)",
    ),
    Reason(
        "per_user",
        lambda asked, seen: exceeds(seen.mine, seen.more, asked.limits.per_user),
        lambda asked, _: _too_many_holds(asked.limits),
        "(:per_user < 0 OR mine < :per_user)",
    ),
    Reason(
        "per_card",
        lambda asked, seen: exceeds(seen.with_card, seen.more, asked.limits.per_card),
        lambda asked, _: _too_many_with_card(asked.limits),
        "(:per_card < 0 OR with_card < :per_card)",
    ),
    # Only found out in a session, because tickets count too: see `gather`.
    Reason(
        "membership_in_use",
        lambda _, seen: seen.more_members > 0 and seen.members + seen.more_members > 1,
        lambda *_: _membership_in_use(),
    ),
    Reason(
        "per_address",
        lambda asked, seen: exceeds(seen.from_address, seen.more, asked.limits.per_address),
        lambda asked, _: _too_many_from_address(asked.limits),
        "(:per_address < 0 OR from_address < :per_address)",
    ),
    # The room, and last what is dearest to find out.
    Reason(
        "at_capacity",
        lambda _, seen: exceeds(0, seen.more, seen.room),
        lambda *_: Conflict("No places left here.", code="block_at_capacity"),
    ),
    Reason("choice", lambda _, seen: seen.choice is not None, lambda _, seen: _required(seen.choice)),
    Reason("overdue", lambda _, seen: seen.overdue, Outcome.OVERDUE, "state <> 1"),
    Reason("untidy", lambda _, seen: not seen.tidy, Outcome.CHECK_CHOICE, "tidy"),
)
"""Why a hold is refused, or must wait for something; the first that applies counts.

The event comes first, then the seats, then the bearer: a guest at the limit who asks for a sold seat hears that it is
sold, as a latecomer does whom a cache refuses. All paths ask here; the statement has each condition beside it as SQL.
"""
_UNREAD_REASONS: Final = tuple(reason for reason in REASONS if not reason.passed)
"""Those that can apply before a table is read."""
