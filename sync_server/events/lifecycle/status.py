"""Changes the status of events, by hand or as planned, and passes the change on to gates and listeners."""

from __future__ import annotations

from typing import Final

from sqlalchemy.orm import Session

from shared.clock import Millis
from shared.errors import Conflict, InvalidRequest
from shared.lifecycle import EventStatus, require_transition
from sync_server.events import queries
from sync_server.events.days import changed_days
from sync_server.events.lifecycle import emptying, planned_transitions, publishing
from sync_server.events.models import EventRecord
from sync_server.events.rules import check_times, mark
from sync_server.events.service import put_rows, record_change, times_of
from sync_server.events.signals import EventStatusChanged, EventTimesMoved
from sync_server.events.snapshot_rows import days, own_rows, window
from sync_server.events.time_shift import TimeShift
from sync_server.plumbing.requests.principals import ActionContext
from sync_server.plumbing.signals import send
from sync_server.plumbing.sql import writes

#: Must move with the date: otherwise they would open or close the doors on the old one.
_PLANNED_TIMES: Final = ("doors_at", "go_live_at", "end_at_auto")
_SALE_TIMES: Final = ("sale_start_at", "sale_end_at")
#: Times that a transition may change too; the audit line shows them.
_TRACKED_TIMES: Final = ("start_at", "end_at", "rescheduled_at", "go_live_at", "end_at_auto", "counts_from")
_FACTS: Final = {
    EventStatus.DRAFT: "event_unpublished",
    EventStatus.PUBLISHED: "event_published",
    EventStatus.LIVE: "event_went_live",
    EventStatus.ENDED: "event_ended",
    EventStatus.CANCELLED: "event_cancelled",
    EventStatus.POSTPONED: "event_postponed",
    EventStatus.ARCHIVED: "event_archived",
}


def change_status(
    session: Session,
    organisation_id: str,
    event_id: str,
    target: EventStatus,
    context: ActionContext,
    *,
    reason: str = "",
) -> EventRecord:
    """Move an event to another status; Conflict `invalid_transition` where the transition table does not allow it."""
    row = queries.event(session, organisation_id, event_id, lock=True)
    before = _tracked_times(row)
    _drop_overdue_plans(row, target, context.now)
    _transition(session, row, target, context, reason=reason, times_before=before)
    return row


def _tracked_times(row: EventRecord) -> dict[str, Millis | None]:
    return {name: getattr(row, name) for name in _TRACKED_TIMES}


def _drop_overdue_plans(row: EventRecord, target: EventStatus, now: Millis) -> None:
    """A manual change wins: a planned time that has already passed must not reverse it a moment later."""
    reinstated = row.status == EventStatus.POSTPONED.value and row.rescheduled_at is None
    if reinstated and target is EventStatus.PUBLISHED and row.go_live_at is not None and row.go_live_at <= now:
        row.go_live_at = None
    stays_open = target is EventStatus.LIVE or (reinstated and target is EventStatus.PUBLISHED)
    if stays_open and row.end_at_auto is not None and row.end_at_auto <= now:
        row.end_at_auto = None


def _transition(
    session: Session,
    row: EventRecord,
    target: EventStatus,
    context: ActionContext,
    *,
    reason: str,
    times_before: dict[str, Millis | None],
) -> None:
    old = EventStatus(row.status)
    require_transition(old, target)
    if target is EventStatus.DRAFT and row.tickets_issued:
        raise Conflict(
            f"{row.tickets_issued} tickets have been issued. An event can return to draft only while none have. "
            "Cancel or postpone it instead.",
            code="event_has_tickets",
        )
    if old is EventStatus.DRAFT and target is EventStatus.PUBLISHED:
        publishing.prepare_to_publish(session, row, context.now)
    row.status, row.updated_at = target.value, context.now
    _set_columns(row, old, target, context.now, reason)
    session.flush()
    put_rows(session, row, own_rows(row))
    moved = {name: at for name, at in _tracked_times(row).items() if at != times_before[name]}
    before = {"status": old.value, **{name: times_before[name] for name in moved}}
    after = {"status": target.value, "rescheduled_at": row.rescheduled_at, "mark": mark(row), **moved}
    if target in {EventStatus.CANCELLED, EventStatus.POSTPONED}:
        after["tickets_issued"] = row.tickets_issued  # whom it concerns, before any tickets end with it
    record_change(session, row, _FACTS[target], context, before=before, after=after, reason=reason)
    send(session, EventStatusChanged(row.organisation_id, row.id, row.number, target, context))


def _set_columns(row: EventRecord, old: EventStatus, target: EventStatus, now: Millis, reason: str) -> None:
    if target is EventStatus.PUBLISHED:
        row.published_at = row.published_at or now
    if target is EventStatus.CANCELLED:
        row.cancelled_at = now
    if target is EventStatus.ARCHIVED:
        row.archived_at = now
    if target is EventStatus.POSTPONED:
        row.postponement_reason = reason
    if old is EventStatus.LIVE and target is EventStatus.POSTPONED:
        row.counts_from = now  # tonight's guests are admitted again on the new date
    if old is EventStatus.POSTPONED and target in {EventStatus.PUBLISHED, EventStatus.LIVE}:
        _adopt_new_date(row)


def _adopt_new_date(row: EventRecord) -> None:
    if row.rescheduled_at is not None:
        length = row.end_at - row.start_at
        row.start_at, row.end_at = row.rescheduled_at, row.rescheduled_at + length
        row.rescheduled_at, row.postponement_reason = None, ""


def reschedule(
    session: Session,
    organisation_id: str,
    event_id: str,
    at: Millis,
    context: ActionContext,
    *,
    move_times: bool,
    reason: str,
) -> EventRecord:
    """Give a postponed event its new date.

    Planned times move with it; sale windows and ticket times only if `move_times` is set, and no sale that has opened
    closes.
    """
    row = queries.event(session, organisation_id, event_id, lock=True)
    if row.status != EventStatus.POSTPONED.value:
        raise Conflict("Postpone the event first, then give it a new date.", code="event_not_postponed")
    if at <= context.now:
        raise InvalidRequest("rescheduled_at: the new date is in the past.", field="rescheduled_at")
    shift = TimeShift(window(row)[0], at, row.timezone, opened_by=context.now)
    names = _PLANNED_TIMES + _SALE_TIMES if move_times else _PLANNED_TIMES  # not counts_from: admissions keep theirs
    old_days = days(row)
    before = writes.change(row, {"rescheduled_at": at, **shift.times({name: getattr(row, name) for name in names})})
    row.updated_at = context.now
    check_times(times_of(row))
    changed_days.follow(session, row, old_days, context)
    if move_times:
        send(session, EventTimesMoved(row.organisation_id, row.id, shift, context))
    session.flush()
    put_rows(session, row, own_rows(row))
    after = {name: getattr(row, name) for name in before}
    after["mark"] = mark(row)
    after["times_moved_by_ms"] = shift.distance if move_times else 0
    record_change(session, row, "event_rescheduled", context, before=before, after=after, reason=reason)
    return row


def empty_venue(
    session: Session, organisation_id: str, event_id: str, context: ActionContext, *, reason: str
) -> EventRecord:
    """Discard all admissions so far: nobody is inside, no entry is used."""
    row = queries.event(session, organisation_id, event_id, lock=True)
    if row.status not in {EventStatus.LIVE.value, EventStatus.POSTPONED.value}:
        raise Conflict("The venue can be emptied only while the event is live or postponed.", code="event_not_live")
    emptying.count_from(session, row, context.now, context, reason=reason)
    return row


def apply_due_transitions(session: Session, context: ActionContext) -> int:
    """Apply the planned transitions that are due, which gates already obey; the number of events."""
    organisations = planned_transitions.organisations_due_now(session, context.now)
    due = [row for each in organisations for row in planned_transitions.due_events(session, each, context.now)]
    for row in due:
        for target in _planned_steps(row, context.now):
            _transition(session, row, target, context, reason="as planned", times_before=_tracked_times(row))
    return len(due)


def _planned_steps(row: EventRecord, now: Millis) -> list[EventStatus]:
    live = row.status == EventStatus.LIVE.value
    undated = row.status == EventStatus.POSTPONED.value and row.rescheduled_at is None
    steps = []
    if not live and not undated and row.go_live_at is not None and row.go_live_at <= now:
        steps.append(EventStatus.LIVE)
    if (live or steps) and row.end_at_auto is not None and row.end_at_auto <= now:
        steps.append(EventStatus.ENDED)
    return steps
