"""An event gets or loses days: refused where that would change what somebody has, and passed on to other packages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from sqlalchemy.orm import Session

from shared.errors import Conflict
from shared.wire.rows import EventDay
from sync_server.events.dependents import EventPorts
from sync_server.events.models import EventRecord
from sync_server.events.signals import EventDaysChanged
from sync_server.events.snapshot_rows import days
from sync_server.outbox.service import Fact, Subject, record_change
from sync_server.plumbing.ports import ports_of
from sync_server.plumbing.requests.principals import ActionContext
from sync_server.plumbing.signals import send

_ANY_DAY: Final = 0


def follow(session: Session, event: EventRecord, before: Sequence[EventDay], context: ActionContext) -> None:
    """Let other packages follow if the event has another number of days than `before`; call it with its row locked.

    Days keep their order: the second stays the second when the event moves to other dates. Conflict `days_in_use` where
    a ticket, a hold or a ticket type names a day that is no more, or where it could not be said which day it means.
    """
    after = days(event)
    if len(after) == len(before):
        return
    starts_elsewhere = after[0].date != before[0].date
    if starts_elsewhere or len(after) < len(before):
        _require_unused(session, event, before, _ANY_DAY if starts_elsewhere else len(after))
    change = {"days": [day.date for day in before]}, {"days": [day.date for day in after]}
    subjects = {"event": event.id, "event_number": event.number, "venue": event.venue_id}
    payload = {"before": change[0], "after": change[1], "reason": ""}
    fact = Fact("event_days_changed", event.organisation_id, context.now, subjects, payload)
    record_change(session, context, Subject("event", event.id, *change), fact)
    send(session, EventDaysChanged(event.organisation_id, event.id, event.number, len(before), len(after), context))


def _require_unused(session: Session, event: EventRecord, before: Sequence[EventDay], first: int) -> None:
    """Conflict if anything is for a certain day, the first of these or a later one."""
    naming = ports_of(session, EventPorts).naming_days
    uses = {what: count(session, event.organisation_id, event.id, first) for what, count in naming.items()}
    used = {what: count for what, count in uses.items() if count}
    if not used:
        return
    dates = [day.date for day in before[first:]]
    listed = ", ".join(f"{count} {what}" for what, count in sorted(used.items()))
    advice = (
        "Change the start and the number of days one after the other: days keep their order when the event moves."
        if first == _ANY_DAY
        else "Cancel or exchange those first, or keep the day."
    )
    raise Conflict(
        f"Some are for certain days of the event ({', '.join(dates)}): {listed}. {advice}",
        code="days_in_use",
        days=dates,
        uses=used,
    )
