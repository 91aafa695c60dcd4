"""Alerts: when they are raised, what they mean, and what to do about them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from shared.clock import Millis
from shared.lifecycle import EventStatus
from sync_server.events.rules import AlertCandidate, Mark

MAX_FACTS_WAITING: Final = 100
"""With more facts waiting for delivery, the worker is behind or down."""
PLAN_TOLERANCE_MS: Final = 60_000


class AlertKind(StrEnum):
    """The kinds of alerts; their values are part of the API."""

    TICKETS_CALLED_OFF = "tickets_on_called_off_event"
    HOLDS_CALLED_OFF = "holds_on_called_off_event"
    TIMES_IN_WRONG_ORDER = "times_in_wrong_order"
    LIVE_PAST_END = "live_past_end"
    DOORS_NOT_PLANNED = "doors_not_planned"
    NOT_OPEN_PAST_START = "not_open_past_start"
    PLAN_OVERDUE = "plan_not_carried_out"
    FACTS_WAITING = "facts_waiting"
    FACTS_DEAD = "facts_laid_aside"
    TENANT_MISMATCHES = "rows_point_abroad"
    SUMS_DIFFER = "sums_differ"
    SEATING_OUT_OF_BOUNDS = "house_out_of_bounds"
    WEBHOOK_PAUSED = "webhook_paused"
    PAYMENTS_DISPUTED = "payments_disputed"


PLATFORM_KINDS: Final = frozenset(
    {AlertKind.FACTS_WAITING, AlertKind.FACTS_DEAD, AlertKind.TENANT_MISMATCHES, AlertKind.SUMS_DIFFER}
)
"""These concern the whole installation; organisations do not see them."""

ALERT_TEXTS: Final[Mapping[AlertKind, tuple[str, str]]] = {
    AlertKind.TICKETS_CALLED_OFF: (
        "Guests hold tickets for an event that will not take place as announced.",
        "Inform and refund them, or give the postponed event its new date.",
    ),
    AlertKind.HOLDS_CALLED_OFF: (
        "Seats are held for an event that is called off. A postponed event keeps its holds until it has a new date.",
        "Give the event its new date, or cancel it to end its holds at once.",
    ),
    AlertKind.TIMES_IN_WRONG_ORDER: (
        "The planned times contradict each other: the event may open or end at an unexpected time.",
        "Correct the order of start, end, doors, and the planned opening and end (go_live_at, end_at_auto).",
    ),
    AlertKind.LIVE_PAST_END: (
        "The event should be over, but gates still admit guests.",
        "End it, or plan its end (end_at_auto); if it is still running, move its end.",
    ),
    AlertKind.DOORS_NOT_PLANNED: (
        "The doors should be open by now, but gates admit nobody and no opening is planned.",
        "Open the doors (go-live), or plan their opening (go_live_at).",
    ),
    AlertKind.NOT_OPEN_PAST_START: (
        "The event should have started, but gates admit nobody and no opening is planned.",
        "Open the doors (go-live), or postpone or cancel the event.",
    ),
    AlertKind.PLAN_OVERDUE: (
        "A planned opening or end was not recorded in time. Gates follow the plan regardless.",
        "Make sure that a worker is running: `gatehouse-server worker`.",
    ),
    AlertKind.FACTS_WAITING: (
        "Facts are delivered more slowly than they occur: partners and pages are behind. Nothing is lost.",
        "Make sure that a worker is running and the broker is up; see `gatehouse-server outbox list --state waiting`.",
    ),
    AlertKind.FACTS_DEAD: (
        "Facts could not be delivered and were set aside.",
        "`gatehouse-server outbox list --state dead` shows why; fix the cause, then replay them.",
    ),
    AlertKind.SEATING_OUT_OF_BOUNDS: (
        "Seating figures are out of bounds: single seats, VIP zones, wheelchair places, or the outcomes of holds.",
        "`GET /api/events/{id}/seating/metrics` shows which, and what to check.",
    ),
    AlertKind.WEBHOOK_PAUSED: (
        "A receiver of facts is gone, or has failed for days: nothing is sent there any more, and waits.",
        "Repair the receiver and resume the webhook (`active`), or delete it: `GET /api/webhooks` shows which it is.",
    ),
    AlertKind.PAYMENTS_DISPUTED: (
        "Buyers dispute payments with their banks, which decide against you unless you answer in time.",
        "Answer in the dashboard of the payment service: `GET /api/orders?dispute=open` lists the orders.",
    ),
    AlertKind.TENANT_MISMATCHES: (
        "Rows of one organisation reference another's. Nobody is shown them, but something has written them.",
        "`gatehouse-server doctor` lists them. Stop whatever writes them, and report it to the developers.",
    ),
    AlertKind.SUMS_DIFFER: (
        "Sums that pages show were not those of the rows. They are put right; pages may have shown wrong numbers.",
        "Find `sums_differ` in the log, and report it to the developers.",
    ),
}


@dataclass(frozen=True, slots=True)
class Alert:
    """Something that needs attention."""

    kind: AlertKind
    since: Millis
    count: int = 1
    organisation_id: str = ""
    venue_id: str = ""
    event_id: str = ""
    event_name: str = ""
    mark: Mark | None = None  # of the event


def event_alerts(event: AlertCandidate, now: Millis) -> Iterator[Alert]:
    """The alerts of one event."""
    for kind, since, count in (*_called_off_alerts(event), *_time_alerts(event, now)):
        yield Alert(kind, since, count, event.organisation_id, event.venue_id, event.id, event.name, event.mark)


def _called_off_alerts(event: AlertCandidate) -> Iterator[tuple[AlertKind, Millis, int]]:
    if event.called_off:
        since = event.changed_at if event.called_off_at is None else event.called_off_at
        if event.tickets:
            yield AlertKind.TICKETS_CALLED_OFF, since, event.tickets
        if event.holds:
            yield AlertKind.HOLDS_CALLED_OFF, since, event.holds


def _time_alerts(event: AlertCandidate, now: Millis) -> Iterator[tuple[AlertKind, Millis, int]]:
    if not event.times_fit:
        yield AlertKind.TIMES_IN_WRONG_ORDER, event.changed_at, 1
    if event.status is EventStatus.LIVE:
        if _overdue(event.end_at_auto, now):
            yield AlertKind.PLAN_OVERDUE, event.end_at_auto or now, 1
        elif event.end_at_auto is None and event.ends_at < now:
            yield AlertKind.LIVE_PAST_END, event.ends_at, 1
    if event.status is EventStatus.PUBLISHED:
        if _overdue(event.go_live_at, now):
            yield AlertKind.PLAN_OVERDUE, event.go_live_at or now, 1
        elif event.go_live_at is None and event.starts_at <= now:
            yield AlertKind.NOT_OPEN_PAST_START, event.starts_at, 1
        elif event.go_live_at is None and event.doors_at is not None and event.doors_at <= now:
            yield AlertKind.DOORS_NOT_PLANNED, event.doors_at, 1


def _overdue(plan: Millis | None, now: Millis) -> bool:
    return plan is not None and plan + PLAN_TOLERANCE_MS < now
