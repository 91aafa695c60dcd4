"""Rules about the times and capacity of events, and about what may change in which status."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final, Literal

from shared.clock import Millis
from shared.errors import Conflict, InvalidRequest
from shared.lifecycle import EventStatus, sells
from sync_server.plumbing.requests.principals import Action

MIN_DURATION_MS: Final = 60_000
SHORT_NOTICE_MS: Final = 24 * 3_600_000
"""A change of times closer to the start than this is at short notice; a setting overrides it."""
CLOSED_STATUSES: Final = frozenset({EventStatus.ENDED, EventStatus.CANCELLED, EventStatus.ARCHIVED})


@dataclass(frozen=True, slots=True)
class Times:
    """The times of an event that must be consistent."""

    start_at: Millis
    end_at: Millis
    doors_at: Millis | None = None
    sale_start_at: Millis | None = None
    sale_end_at: Millis | None = None
    go_live_at: Millis | None = None
    end_at_auto: Millis | None = None


def require_in_tables(put_away_at: Millis | None) -> None:
    """Conflict `event_put_away` for an event whose tickets and scans are in its archive."""
    if put_away_at is not None:
        raise Conflict(
            "The event is put away: its tickets and scans are in its archive. GET /api/events/{id}/archive has the "
            "figures; restore the archive to see or change the rest.",
            code="event_put_away",
        )


def check_times(times: Times) -> None:
    """InvalidRequest for the first inconsistent time."""
    for field, wrong, message in _time_rules(times):
        if wrong:
            raise InvalidRequest(f"{field}: {message}", field=field, code="invalid_times")


def _time_rules(times: Times) -> tuple[tuple[str, bool, str], ...]:
    sale_end = times.start_at if times.sale_end_at is None else times.sale_end_at
    return (
        (
            "end_at",
            times.end_at < times.start_at + MIN_DURATION_MS,
            "the event must end at least a minute after it starts.",
        ),
        ("doors_at", (times.doors_at or 0) > times.start_at, "the doors must open no later than the event starts."),
        ("sale_end_at", sale_end > times.end_at, "sales must end no later than the event."),
        ("sale_end_at", (times.sale_start_at or 0) >= sale_end, "sales must end after they start."),
        ("go_live_at", (times.go_live_at or 0) >= times.end_at, "the event must go live before it ends."),
        (
            "end_at_auto",
            _ends_before_live(times),
            "the event can end automatically only after it starts and goes live.",
        ),
    )


def _ends_before_live(times: Times) -> bool:
    return times.end_at_auto is not None and times.end_at_auto <= max(times.start_at, times.go_live_at or 0)


def check_future(start_at: Millis, now: Millis) -> None:
    """InvalidRequest for a start in the past."""
    if start_at <= now:
        raise InvalidRequest("start_at: the event must start in the future.", field="start_at", code="invalid_times")


def check_new_start(status: EventStatus, start_at: Millis, now: Millis) -> None:
    """Conflict for a postponed event, which is rescheduled instead; InvalidRequest for a start in the past."""
    if status is EventStatus.POSTPONED:
        raise Conflict(
            "The event is postponed. Give it a new date with POST /api/events/{id}/reschedule.", code="event_postponed"
        )
    if status in {EventStatus.DRAFT, EventStatus.PUBLISHED}:
        check_future(start_at, now)


def at_short_notice(status: EventStatus, starts: Iterable[Millis], now: Millis, short_notice_ms: int) -> bool:
    """Whether guests may already be on their way, to the old start or to the new one."""
    visible = status in {EventStatus.PUBLISHED, EventStatus.LIVE, EventStatus.POSTPONED}
    return visible and any(start - now < short_notice_ms for start in starts)


def effective_capacity(capacity: int, venue_capacity: int, layout_capacity: int = 0) -> int:
    """The event's own capacity or else its venue's, and no more than its layout holds; 0 means no limit."""
    return min((limit for limit in (capacity or venue_capacity, layout_capacity) if limit), default=0)


def check_capacity(capacity: int, issued: int, venue_capacity: int) -> None:
    """Conflict for more than the venue holds, or fewer than the tickets issued."""
    if venue_capacity and capacity > venue_capacity:
        raise Conflict(
            f"The venue holds only {venue_capacity}. Choose a smaller capacity.", code="venue_capacity_exceeded"
        )
    if effective_capacity(capacity, venue_capacity) and issued > effective_capacity(capacity, venue_capacity):
        raise Conflict(
            f"{issued} tickets have already been issued. Choose a larger capacity.", code="capacity_below_issued"
        )


def action_for(target: EventStatus) -> Action:
    """The permission needed to move an event to this status."""
    called_off = target in {EventStatus.CANCELLED, EventStatus.POSTPONED}
    return Action.CALL_OFF if called_off else Action.CHANGE_STATUS


def check_description(description: str) -> None:
    """Conflict for an event without a description."""
    if not description:
        raise Conflict(
            "The event needs a description before it is shown.", code="event_incomplete", missing=["description"]
        )


def check_changeable(status: EventStatus, change: str = "changed") -> None:
    """Conflict for an event that is over or called off."""
    if status in CLOSED_STATUSES:
        raise Conflict(f"This event is {status.value} and can no longer be {change}.", code="event_closed")


def check_replaceable(status: EventStatus) -> None:
    """Conflict unless the event is postponed or cancelled."""
    if status not in {EventStatus.POSTPONED, EventStatus.CANCELLED}:
        raise Conflict(
            "Only a postponed or cancelled event can be replaced. Postpone or cancel it first.",
            code="event_not_called_off",
        )


Mark = Literal["cancelled", "postponed", "rescheduled"]


def mark(event: Any) -> Mark | None:
    """What every list, figure and export says beside an event that does not take place as it was announced.

    Of a row with `status` and `rescheduled_at`: `postponed` has no new date yet, `rescheduled` has one. A row that may
    be archived has `cancelled_at`, too: what was cancelled stays so.
    """
    archived = event.status == EventStatus.ARCHIVED
    if event.status == EventStatus.CANCELLED or (archived and event.cancelled_at is not None):
        return "cancelled"
    if event.rescheduled_at is not None:
        return "rescheduled"
    return "postponed" if event.status == EventStatus.POSTPONED else None


@dataclass(frozen=True, slots=True)
class ForSale:
    """What the ticket types of an event offer: those whose own sale is not over."""

    left: bool
    begins_at: Millis | None  # when the first of them is sold; None: as soon as the event is on sale


def sale_status(event: Any, for_sale: ForSale | None, now: Millis) -> str:
    """upcoming, on_sale, sold_out, cancelled or closed, of a row with the columns of an event; never stored.

    Where there are no tickets (`for_sale` is None), nothing is on sale, nor will be at a known time: unless joining
    happens elsewhere.
    """
    status = EventStatus(event.status)
    if status is EventStatus.CANCELLED:
        return "cancelled"
    if status in CLOSED_STATUSES or now > event.sale_end_at:
        return "closed"
    if event.participants_elsewhere:
        for_sale = ForSale(left=True, begins_at=None)
    capacity = effective_capacity(event.capacity, event.venue_capacity, event.layout_capacity)
    if (capacity and event.least_issued >= capacity) or (for_sale is not None and not for_sale.left):
        return "sold_out"
    if for_sale is None:
        return "upcoming" if status is EventStatus.DRAFT else "closed"
    begun = for_sale.begins_at is None or for_sale.begins_at <= now
    on_sale = begun and sells(status, event.rescheduled_at, event.sale_start_at, event.sale_end_at, now)
    return "on_sale" if on_sale else "upcoming"


@dataclass(frozen=True, slots=True)
class AlertCandidate:
    """An event whose status, times and tickets should be checked together."""

    id: str
    organisation_id: str
    venue_id: str
    name: str
    status: EventStatus
    starts_at: Millis  # on its new date, if it has one
    ends_at: Millis
    doors_at: Millis | None
    go_live_at: Millis | None
    end_at_auto: Millis | None
    called_off_at: Millis | None
    times_fit: bool
    changed_at: Millis
    called_off: bool = False  # cancelled, or postponed without a new date
    mark: Mark | None = None
    tickets: int = 0  # for whoever checks it, to count
    holds: int = 0
