"""Walks events through their statuses, by hand or by plan, and tells gates and higher floors."""

from __future__ import annotations

from typing import Any, Final

from sqlalchemy.orm import Session

from shared.clock import Millis
from shared.errors import Conflict, InvalidRequest
from shared.lifecycle import EventStatus, require_transition
from sync_server.events import queries, showing
from sync_server.events.models import EventRecord
from sync_server.events.rows import own_rows
from sync_server.events.rules import check_times
from sync_server.events.service import put, tell, times_of
from sync_server.plumbing.database import announce
from sync_server.plumbing.principals import Deed

#: They belong to the evening itself: left behind, they would open or close the house on the old date.
_PLANS: Final = ("doors_at", "go_live_at", "end_at_auto")
_SALES: Final = ("sale_start_at", "sale_end_at")
#: What a step may change besides the status; whoever reads the log must see that the new date became the date.
_WALKS_ALONG: Final = ("start_at", "end_at", "rescheduled_at", "go_live_at", "end_at_auto", "counts_from")
_FACTS: Final = {
    EventStatus.DRAFT: "event_unpublished",
    EventStatus.PUBLISHED: "event_published",
    EventStatus.LIVE: "event_went_live",
    EventStatus.ENDED: "event_ended",
    EventStatus.CANCELLED: "event_cancelled",
    EventStatus.POSTPONED: "event_postponed",
    EventStatus.ARCHIVED: "event_archived",
}


def walk(
    session: Session, organisation_id: str, event_id: str, target: EventStatus, deed: Deed, *, reason: str = ""
) -> EventRecord:
    """Bring an event into another status; Conflict `invalid_transition` where the table has no such way."""
    row = queries.event(session, organisation_id, event_id, lock=True)
    was = _dates(row)
    _forget_overtaken_plans(row, target, deed.now)
    _step(session, row, target, deed, reason=reason, was=was)
    return row


def _dates(row: EventRecord) -> dict[str, Millis | None]:
    return {name: getattr(row, name) for name in _WALKS_ALONG}


def _forget_overtaken_plans(row: EventRecord, target: EventStatus, now: Millis) -> None:
    """Whoever acts by hand means it: no plan whose hour has passed may open or close the house a moment later."""
    back_without_date = row.status == EventStatus.POSTPONED.value and row.rescheduled_at is None
    if back_without_date and target is EventStatus.PUBLISHED and row.go_live_at is not None and row.go_live_at <= now:
        row.go_live_at = None
    goes_on = target is EventStatus.LIVE or (back_without_date and target is EventStatus.PUBLISHED)
    if goes_on and row.end_at_auto is not None and row.end_at_auto <= now:
        row.end_at_auto = None


def _step(
    session: Session, row: EventRecord, target: EventStatus, deed: Deed, *, reason: str, was: dict[str, Millis | None]
) -> None:
    old = EventStatus(row.status)
    require_transition(old, target)
    if target is EventStatus.DRAFT and row.tickets_issued:
        raise Conflict(
            f"{row.tickets_issued} tickets are issued: an event goes back to draft only while nothing is sold. "
            "Cancel or postpone it instead.",
            code="event_has_tickets",
        )
    if old is EventStatus.DRAFT and target is EventStatus.PUBLISHED:
        showing.make_ready(session, row, deed.now)
    row.status, row.updated_at = target.value, deed.now
    _mark(row, old, target, deed.now, reason)
    session.flush()
    put(session, row, own_rows(row))
    moved = {name: at for name, at in _dates(row).items() if at != was[name]}
    before = {"status": old.value, **{name: was[name] for name in moved}}
    after = {"status": target.value, "rescheduled_at": row.rescheduled_at, **moved}
    tell(session, row, _FACTS[target], deed, before=before, after=after, reason=reason)
    announce(session, _FACTS[target], (row.organisation_id, row.id, row.number), deed.now)


def _mark(row: EventRecord, old: EventStatus, target: EventStatus, now: Millis, reason: str) -> None:
    if target is EventStatus.PUBLISHED:
        row.published_at = row.published_at or now
    if target is EventStatus.CANCELLED:
        row.cancelled_at = now
    if target is EventStatus.ARCHIVED:
        row.archived_at = now
    if target is EventStatus.POSTPONED:
        row.postponement_reason = reason
    if old is EventStatus.LIVE and target is EventStatus.POSTPONED:
        row.counts_from = now  # who was let in tonight comes again on the new date
    if old is EventStatus.POSTPONED and target in {EventStatus.PUBLISHED, EventStatus.LIVE}:
        _take_new_date(row)


def _take_new_date(row: EventRecord) -> None:
    """The new date becomes the date."""
    if row.rescheduled_at is not None:
        length = row.end_at - row.start_at
        row.start_at, row.end_at = row.rescheduled_at, row.rescheduled_at + length
        row.rescheduled_at, row.postponement_reason = None, ""


def reschedule(
    session: Session, organisation_id: str, event_id: str, at: Millis, deed: Deed, *, move_times: bool, reason: str
) -> EventRecord:
    """Give a postponed event its new date.

    What is planned for the evening moves along; sale windows and ticket times do so too, unless told otherwise.
    """
    row = queries.event(session, organisation_id, event_id, lock=True)
    if row.status != EventStatus.POSTPONED.value:
        raise Conflict("Postpone the event first, then give it a new date.", code="event_not_postponed")
    if at <= deed.now:
        raise InvalidRequest("rescheduled_at: the new date lies in the past.", field="rescheduled_at")
    distance = at - (row.start_at if row.rescheduled_at is None else row.rescheduled_at)
    before = {"rescheduled_at": row.rescheduled_at}
    row.rescheduled_at, row.updated_at = at, deed.now
    _move(row, distance, _PLANS + _SALES if move_times else _PLANS)
    check_times(times_of(row))
    if move_times:
        announce(session, "event_times_moved", (row.organisation_id, row.id, distance), deed.now)
    session.flush()
    put(session, row, own_rows(row))
    after = {"rescheduled_at": at, "times_moved_by_ms": distance if move_times else 0}
    tell(session, row, "event_rescheduled", deed, before=before, after=after, reason=reason)
    return row


def _move(row: EventRecord, distance: int, names: tuple[str, ...]) -> None:
    for name in names:  # not counts_from: what was counted stays where it happened
        value: Any = getattr(row, name)
        if value is not None:
            setattr(row, name, value + distance)


def empty_house(session: Session, organisation_id: str, event_id: str, deed: Deed, *, reason: str) -> EventRecord:
    """Let nothing count that happened before now: nobody is inside, no entry is spent."""
    row = queries.event(session, organisation_id, event_id, lock=True)
    if row.status not in {EventStatus.LIVE.value, EventStatus.POSTPONED.value}:
        raise Conflict("Only the house of an event that goes on can be emptied.", code="event_not_live")
    before = {"counts_from": row.counts_from}
    row.counts_from = row.updated_at = deed.now
    session.flush()
    put(session, row, own_rows(row))
    tell(session, row, "house_emptied", deed, before=before, after={"counts_from": deed.now}, reason=reason)
    return row


def walk_planned(session: Session, deed: Deed) -> int:
    """Write the planned transitions that are due, as gates have held to them already; how many there were."""
    due = queries.planned(session, deed.now)
    for row in due:
        for target in _planned_steps(row, deed.now):
            _step(session, row, target, deed, reason="as planned", was=_dates(row))
    return len(due)


def _planned_steps(row: EventRecord, now: Millis) -> list[EventStatus]:
    live = row.status == EventStatus.LIVE.value
    unknown_date = row.status == EventStatus.POSTPONED.value and row.rescheduled_at is None
    steps = []
    if not live and not unknown_date and row.go_live_at is not None and row.go_live_at <= now:
        steps.append(EventStatus.LIVE)
    if (live or steps) and row.end_at_auto is not None and row.end_at_auto <= now:
        steps.append(EventStatus.ENDED)
    return steps
