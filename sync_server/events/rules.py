"""What must hold of an event's times and numbers, and what may be changed when."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from shared.clock import Millis
from shared.errors import Conflict, Forbidden, InvalidRequest
from shared.lifecycle import EventStatus, sells
from sync_server.plumbing.principals import Principal

SHORTEST_MS: Final = 60_000
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


def check_not_over(end_at: Millis, now: Millis) -> None:
    """InvalidRequest for a new event that is over already."""
    if end_at <= now:
        raise InvalidRequest("end_at: the event would be over already.", field="end_at", code="invalid_times")


def check_capacity(capacity: int, issued: int, venue_capacity: int) -> None:
    """Conflict where the house, or what is issued already, does not allow that many."""
    if venue_capacity and capacity > venue_capacity:
        raise Conflict(f"The venue holds {venue_capacity}. Choose a smaller capacity.", code="venue_capacity_exceeded")
    if capacity and issued > capacity:
        raise Conflict(f"{issued} tickets are issued already. Choose a larger capacity.", code="capacity_below_issued")


def require_approval(who: Principal, approval: str, target: EventStatus) -> None:
    """The platform's managers act only where the tenant agreed, and only to cancel or postpone."""
    if who.platform_role != "tenant_manager" or who.role in {"owner", "admin"}:
        return
    if target not in {EventStatus.CANCELLED, EventStatus.POSTPONED}:
        raise Forbidden("A tenant manager may cancel or postpone, and nothing else.")
    if not approval:
        raise Forbidden("Name the tenant's approval in the header X-Tenant-Approval.", code="tenant_approval_required")


def changed_status(status: EventStatus) -> None:
    """Conflict for an event whose words stand for good."""
    if status in {EventStatus.ARCHIVED, EventStatus.CANCELLED}:
        raise Conflict(f"An event that is {status.value} is not changed any more.", code="event_closed")


@dataclass(frozen=True, slots=True)
class Selling:
    """What the derived sale status depends on."""

    status: EventStatus
    rescheduled_at: Millis | None
    sale_start_at: Millis | None
    sale_end_at: Millis
    capacity: int
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
