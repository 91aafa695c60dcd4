"""Event statuses, their transitions, and what each status allows: selling, scanning, showing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType

from shared.errors import Conflict
from shared.reasons import Reason
from shared.wire.snapshot import EventRow


class EventStatus(StrEnum):
    """The stored states; being on sale is derived, never stored."""

    DRAFT = "draft"
    PUBLISHED = "published"
    LIVE = "live"
    ENDED = "ended"
    CANCELLED = "cancelled"
    POSTPONED = "postponed"
    ARCHIVED = "archived"


_S = EventStatus

TRANSITIONS: Mapping[EventStatus, frozenset[EventStatus]] = MappingProxyType(
    {
        _S.DRAFT: frozenset({_S.PUBLISHED, _S.CANCELLED, _S.ARCHIVED}),
        _S.PUBLISHED: frozenset({_S.DRAFT, _S.LIVE, _S.POSTPONED, _S.CANCELLED}),
        _S.LIVE: frozenset({_S.ENDED, _S.POSTPONED, _S.CANCELLED}),
        _S.POSTPONED: frozenset({_S.PUBLISHED, _S.LIVE, _S.ENDED, _S.CANCELLED}),
        _S.ENDED: frozenset({_S.ARCHIVED}),
        _S.CANCELLED: frozenset({_S.ARCHIVED}),
        _S.ARCHIVED: frozenset(),
    }
)


class Scanning(StrEnum):
    """What scanning a status allows."""

    NONE = "none"
    TEST = "test only"
    WINDOW = "test; for real in the rescheduled window"
    REAL = "yes"


@dataclass(frozen=True, slots=True)
class Allowance:
    """What one status allows."""

    sell: bool  # inside the sale window; postponed: only with a new date
    scan: Scanning
    show: bool  # on the storefront


ALLOWS: Mapping[EventStatus, Allowance] = MappingProxyType(
    {
        _S.DRAFT: Allowance(sell=False, scan=Scanning.TEST, show=False),
        _S.PUBLISHED: Allowance(sell=True, scan=Scanning.TEST, show=True),
        _S.LIVE: Allowance(sell=True, scan=Scanning.REAL, show=True),
        _S.ENDED: Allowance(sell=False, scan=Scanning.NONE, show=False),
        _S.CANCELLED: Allowance(sell=False, scan=Scanning.NONE, show=False),
        _S.POSTPONED: Allowance(sell=True, scan=Scanning.WINDOW, show=True),
        _S.ARCHIVED: Allowance(sell=False, scan=Scanning.NONE, show=False),
    }
)


OVER = frozenset(status.value for status in EventStatus if ALLOWS[status].scan is Scanning.NONE)
"""Statuses in which nobody comes any more."""


def may_become(old: EventStatus, new: EventStatus) -> bool:
    """Whether the table has this transition."""
    return new in TRANSITIONS[old]


def require_transition(old: EventStatus, new: EventStatus) -> None:
    """Raises Conflict `invalid_transition` unless the table has this transition."""
    if not may_become(old, new):
        ways = ", ".join(status for status in EventStatus if status in TRANSITIONS[old])
        raise Conflict(
            f"An event that is {old} cannot become {new}. "
            + (f"It can become: {ways}." if ways else "This status is final."),
            code="invalid_transition",
            old=str(old),
            new=str(new),
        )


def sells(
    status: EventStatus,
    rescheduled_at: int | None,
    sale_start_at: int | None,
    sale_end_at: int | None,
    now: int,
) -> bool:
    """Whether tickets are on sale now. Both ends belong to the window; None means unlimited."""
    if not ALLOWS[status].sell or (status is _S.POSTPONED and rescheduled_at is None):
        return False
    return (sale_start_at is None or sale_start_at <= now) and (sale_end_at is None or now <= sale_end_at)


_STATUSES: Mapping[str, EventStatus] = MappingProxyType({status.value: status for status in EventStatus})


def status_at(event: EventRow, now: int) -> EventStatus:
    """The status after planned transitions: gates and server follow the plan even if it has not been recorded yet.

    An unknown status admits nobody, like a draft.
    """
    status = _STATUSES.get(event.status, _S.DRAFT)
    planned = status is _S.PUBLISHED or (status is _S.POSTPONED and event.rescheduled_at is not None)
    if planned and event.go_live_at is not None and event.go_live_at <= now:
        status = _S.LIVE
    if status is _S.LIVE and event.end_at_auto is not None and event.end_at_auto <= now:
        return _S.ENDED
    return status


def rescheduled_window(event: EventRow) -> tuple[int, int] | None:
    """First and last millisecond of the new date, both included; None: no new date."""
    if event.rescheduled_at is None:
        return None
    return event.rescheduled_at, event.rescheduled_at + (event.ends_at - event.starts_at)


_REFUSES: Mapping[EventStatus, Reason] = MappingProxyType(
    {
        _S.DRAFT: Reason.EVENT_NOT_LIVE,
        _S.PUBLISHED: Reason.EVENT_NOT_LIVE,
        _S.ENDED: Reason.EVENT_ENDED,
        _S.ARCHIVED: Reason.EVENT_ENDED,
        _S.CANCELLED: Reason.EVENT_CANCELLED,
    }
)


def scanning(event: EventRow, now: int) -> Reason | None:
    """The reason to refuse real scans now, planned transitions included; None if they are allowed."""
    status = status_at(event, now)
    return _postponed(event, now) if status is _S.POSTPONED else _REFUSES.get(status)


def rehearsing(event: EventRow, now: int) -> Reason | None:
    """The reason to refuse test scans, which are allowed in draft, published, live and postponed; otherwise None."""
    status = status_at(event, now)
    return _REFUSES.get(status) if ALLOWS[status].scan is Scanning.NONE else None


def _postponed(event: EventRow, now: int) -> Reason | None:
    window = rescheduled_window(event)
    if window is None or now < window[0]:
        return Reason.EVENT_POSTPONED
    return Reason.EVENT_ENDED if now > window[1] else None


def scanning_limits(event: EventRow) -> tuple[int, ...]:
    """All moments at which the result of `scanning` or `rehearsing` may change."""
    window = rescheduled_window(event) or ()
    ends = (window[0], window[1] + 1) if window else ()
    return tuple([one for one in (event.go_live_at, event.end_at_auto, *ends) if one is not None])


def diagram() -> str:
    """The transition table as Mermaid text, for the documentation."""
    steps = [f"    {old} --> {new}" for old in EventStatus for new in EventStatus if new in TRANSITIONS[old]]
    return "\n".join(["stateDiagram-v2", f"    [*] --> {_S.DRAFT}", *steps, f"    {_S.ARCHIVED} --> [*]"])
