"""What somebody must look at: when, what it means, and what to do about it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from shared.clock import Millis
from shared.lifecycle import EventStatus

FACTS_MAY_WAIT: Final = 100
"""More facts than this waiting for delivery: the worker is behind, or away."""
PLAN_MAY_WAIT_MS: Final = 60_000


class Kind(StrEnum):
    """What is the matter."""

    TICKETS_CALLED_OFF = "tickets_on_called_off_event"
    HOLDS_CALLED_OFF = "holds_on_called_off_event"
    TIMES_IN_WRONG_ORDER = "times_in_wrong_order"
    LIVE_PAST_END = "live_past_end"
    DOORS_NOT_PLANNED = "doors_not_planned"
    NOT_OPEN_PAST_START = "not_open_past_start"
    PLAN_NOT_CARRIED_OUT = "plan_not_carried_out"
    FACTS_WAITING = "facts_waiting"
    FACTS_LAID_ASIDE = "facts_laid_aside"
    ROWS_POINT_ABROAD = "rows_point_abroad"
    HOUSE_OUT_OF_BOUNDS = "house_out_of_bounds"


OF_THE_PLATFORM: Final = frozenset({Kind.FACTS_WAITING, Kind.FACTS_LAID_ASIDE, Kind.ROWS_POINT_ABROAD})
"""These concern the whole installation; organisations are not told of them."""

WORDS: Final[Mapping[Kind, tuple[str, str]]] = {
    Kind.TICKETS_CALLED_OFF: (
        "People hold tickets for an event that does not take place as they believe.",
        "Tell them and refund them; or give the postponed event its new date.",
    ),
    Kind.HOLDS_CALLED_OFF: (
        "Seats are held for an event that is called off. A postponed event keeps holds until its new date is known.",
        "Give the event its new date, or cancel it: then its holds end at once.",
    ),
    Kind.TIMES_IN_WRONG_ORDER: (
        "The planned times contradict each other: the house may open or close when nobody expects it.",
        "Put start, end, doors, and the planned opening and end (go_live_at, end_at_auto) in their order.",
    ),
    Kind.LIVE_PAST_END: (
        "The event is over by its times, and gates still admit.",
        "End it, or plan when it ends by itself (end_at_auto); if it goes on, move its end.",
    ),
    Kind.DOORS_NOT_PLANNED: (
        "The doors should be open by now; gates admit nobody, and no opening is planned.",
        "Open the doors (go-live), or plan when they open (go_live_at).",
    ),
    Kind.NOT_OPEN_PAST_START: (
        "The event should have begun; gates admit nobody and no opening is planned.",
        "Open the doors (go-live), postpone or cancel it.",
    ),
    Kind.PLAN_NOT_CARRIED_OUT: (
        "A planned opening or end was not written down in time. Gates hold to the plan all the same.",
        "See that a worker runs: `gatehouse-server worker`.",
    ),
    Kind.FACTS_WAITING: (
        "Facts are not delivered as fast as they happen: partners and pages hear late. Nothing is lost.",
        "See that a worker runs and that the broker answers; `gatehouse-server outbox list --state waiting`.",
    ),
    Kind.FACTS_LAID_ASIDE: (
        "Facts could not be delivered and were laid aside.",
        "`gatehouse-server outbox list --state dead` says why; mend it, then replay them.",
    ),
    Kind.HOUSE_OUT_OF_BOUNDS: (
        "Figures of the house are out of bounds: single seats, VIP zones, wheelchair places, or what becomes of holds.",
        "`GET /api/events/{id}/seating/metrics` says which of them, and what to look at.",
    ),
    Kind.ROWS_POINT_ABROAD: (
        "Rows of one organisation point to another's. Nobody is shown them, but something has written them.",
        "`gatehouse-server doctor` lists them. Stop what writes them, and tell the makers.",
    ),
}


@dataclass(frozen=True, slots=True)
class EventState:
    """What alerts depend on, of one event."""

    id: str
    organisation_id: str
    venue_id: str
    name: str
    status: EventStatus
    starts_at: Millis  # on its new date, where there is one
    ends_at: Millis
    doors_at: Millis | None
    go_live_at: Millis | None
    end_at_auto: Millis | None
    called_off_at: Millis | None
    times_fit: bool
    changed_at: Millis
    tickets: int = 0
    holds: int = 0


@dataclass(frozen=True, slots=True)
class Alert:
    """One thing to look at."""

    kind: Kind
    since: Millis
    count: int = 1
    organisation_id: str = ""
    venue_id: str = ""
    event_id: str = ""
    event_name: str = ""


def of_event(event: EventState, now: Millis) -> Iterator[Alert]:
    """Everything that is the matter with an event."""
    for kind, since, count in (*_called_off(event), *_of_times(event, now)):
        yield Alert(kind, since, count, event.organisation_id, event.venue_id, event.id, event.name)


def _called_off(event: EventState) -> Iterator[tuple[Kind, Millis, int]]:
    if event.status in {EventStatus.CANCELLED, EventStatus.POSTPONED}:
        since = event.changed_at if event.called_off_at is None else event.called_off_at
        if event.tickets:
            yield Kind.TICKETS_CALLED_OFF, since, event.tickets
        if event.holds:
            yield Kind.HOLDS_CALLED_OFF, since, event.holds


def _of_times(event: EventState, now: Millis) -> Iterator[tuple[Kind, Millis, int]]:
    if not event.times_fit:
        yield Kind.TIMES_IN_WRONG_ORDER, event.changed_at, 1
    if event.status is EventStatus.LIVE:
        if _overdue(event.end_at_auto, now):
            yield Kind.PLAN_NOT_CARRIED_OUT, event.end_at_auto or now, 1
        elif event.end_at_auto is None and event.ends_at < now:
            yield Kind.LIVE_PAST_END, event.ends_at, 1
    if event.status is EventStatus.PUBLISHED:
        if _overdue(event.go_live_at, now):
            yield Kind.PLAN_NOT_CARRIED_OUT, event.go_live_at or now, 1
        elif event.go_live_at is None and event.starts_at <= now:
            yield Kind.NOT_OPEN_PAST_START, event.starts_at, 1
        elif event.go_live_at is None and event.doors_at is not None and event.doors_at <= now:
            yield Kind.DOORS_NOT_PLANNED, event.doors_at, 1


def _overdue(plan: Millis | None, now: Millis) -> bool:
    return plan is not None and plan + PLAN_MAY_WAIT_MS < now
