"""What must hold of an event's times and numbers, and what may be changed when."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from shared.clock import Millis
from shared.errors import Conflict, InvalidRequest
from shared.lifecycle import EventStatus, sells
from sync_server.plumbing.principals import Action

SHORTEST_MS: Final = 60_000
CLOSE_MS: Final = 24 * 3_600_000
"""A change of times nearer to the start than this is one at short notice, unless the settings say otherwise."""
OVER: Final = frozenset({EventStatus.ENDED, EventStatus.CANCELLED, EventStatus.ARCHIVED})


@dataclass(frozen=True, slots=True)
class Times:
    """The times of an event that must fit together."""

    start_at: Millis
    end_at: Millis
    doors_at: Millis | None = None
    sale_start_at: Millis | None = None
    sale_end_at: Millis | None = None
    go_live_at: Millis | None = None
    end_at_auto: Millis | None = None


def check_times(times: Times) -> None:
    """InvalidRequest that names the first time that cannot be."""
    for field, wrong, words in _time_rules(times):
        if wrong:
            raise InvalidRequest(f"{field}: {words}", field=field, code="invalid_times")


def _time_rules(times: Times) -> tuple[tuple[str, bool, str], ...]:
    sale_end = times.start_at if times.sale_end_at is None else times.sale_end_at
    return (
        (
            "end_at",
            times.end_at < times.start_at + SHORTEST_MS,
            "the event must end at least a minute after it starts.",
        ),
        ("doors_at", (times.doors_at or 0) > times.start_at, "the doors open before the start."),
        ("sale_end_at", sale_end > times.end_at, "sales end when the event ends, or before."),
        ("sale_end_at", (times.sale_start_at or 0) >= sale_end, "sales must end after they start."),
        ("go_live_at", (times.go_live_at or 0) >= times.end_at, "the event goes live before it ends."),
        ("end_at_auto", _ends_before_live(times), "the event ends by itself only after it went live and started."),
    )


def _ends_before_live(times: Times) -> bool:
    return times.end_at_auto is not None and times.end_at_auto <= max(times.start_at, times.go_live_at or 0)


def check_future(start_at: Millis, now: Millis) -> None:
    """InvalidRequest for an event that would have begun already."""
    if start_at <= now:
        raise InvalidRequest("start_at: the event must start in the future.", field="start_at", code="invalid_times")


def check_moved(status: EventStatus, start_at: Millis, now: Millis) -> None:
    """What must hold of a start that is changed: a date to come, and no way round a postponement."""
    if status is EventStatus.POSTPONED:
        raise Conflict(
            "The event is postponed: its start is the date that was given up. Give it its new one: "
            "POST /api/events/{id}/reschedule.",
            code="event_postponed",
        )
    if status in {EventStatus.DRAFT, EventStatus.PUBLISHED}:
        check_future(start_at, now)


def moved_along(times: Mapping[str, Millis | None], distance: int) -> dict[str, Millis]:
    """Those of the times that are set, later by this distance."""
    return {name: at + distance for name, at in times.items() if at is not None}


def at_short_notice(status: EventStatus, starts: Iterable[Millis], now: Millis, close_ms: int) -> bool:
    """Whether people may be on their way already, to what was or to what is to be."""
    shown = status in {EventStatus.PUBLISHED, EventStatus.LIVE, EventStatus.POSTPONED}
    return shown and any(start - now < close_ms for start in starts)


def bound(capacity: int, venue_capacity: int, layout_room: int = 0) -> int:
    """How many there may be: as the event says or else as its venue holds, and no more than its zones; 0: no bound."""
    return min((most for most in (capacity or venue_capacity, layout_room) if most), default=0)


def check_capacity(capacity: int, issued: int, venue_capacity: int) -> None:
    """Conflict where the house, or what is issued already, does not allow that many."""
    if venue_capacity and capacity > venue_capacity:
        raise Conflict(f"The venue holds {venue_capacity}. Choose a smaller capacity.", code="venue_capacity_exceeded")
    if bound(capacity, venue_capacity) and issued > bound(capacity, venue_capacity):
        raise Conflict(f"{issued} tickets are issued already. Choose a larger capacity.", code="capacity_below_issued")


def action_for(target: EventStatus) -> Action:
    """What somebody must be allowed to do, to bring an event into this status."""
    called_off = target in {EventStatus.CANCELLED, EventStatus.POSTPONED}
    return Action.CALL_OFF if called_off else Action.CHANGE_STATUS


def check_described(description: str) -> None:
    """Conflict for an event of which visitors would not know what it is."""
    if not description:
        raise Conflict(
            "Visitors must know what takes place. Give the event a description.",
            code="event_incomplete",
            missing=["description"],
        )


def changed_status(status: EventStatus) -> None:
    """Conflict for an event whose words stand for good."""
    if status in OVER:
        raise Conflict(f"An event that is {status.value} is not changed any more.", code="event_closed")


def check_movable(status: EventStatus) -> None:
    """Conflict for an event that takes place nowhere any more."""
    if status in OVER:
        raise Conflict(f"An event that is {status.value} does not move any more.", code="event_closed")


def check_replaceable(status: EventStatus) -> None:
    """Conflict unless something else can take the event's place."""
    if status not in {EventStatus.POSTPONED, EventStatus.CANCELLED}:
        raise Conflict(
            "Only an event that is postponed or cancelled is replaced by another. Postpone or cancel it first.",
            code="event_not_called_off",
        )


@dataclass(frozen=True, slots=True)
class Selling:
    """What the derived sale status depends on."""

    status: EventStatus
    rescheduled_at: Millis | None
    sale_start_at: Millis | None
    sale_end_at: Millis
    capacity: int  # 0: no bound at all
    issued: int


def sale_status(event: Selling, now: Millis) -> str:
    """upcoming, on_sale, sold_out, cancelled or closed; never stored."""
    if event.status is EventStatus.CANCELLED:
        return "cancelled"
    if event.status in OVER or now > event.sale_end_at:
        return "closed"
    if event.capacity and event.issued >= event.capacity:
        return "sold_out"
    on_sale = sells(event.status, event.rescheduled_at, event.sale_start_at, event.sale_end_at, now)
    return "on_sale" if on_sale else "upcoming"
