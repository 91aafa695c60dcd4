"""Carries out a move in batches: others can write in between, and another process can resume it."""

from __future__ import annotations

from typing import Final

from sqlalchemy.orm import Session

from shared.clock import Millis
from sync_server.events import service as event_service
from sync_server.outbox.service import Fact, Subject, record_change
from sync_server.plumbing.due import AT_ONCE
from sync_server.plumbing.jobs import MORE
from sync_server.plumbing.requests.principals import ActionContext
from sync_server.reseating import queries, service
from sync_server.reseating.models import ReseatingRecord
from sync_server.seating import event_layouts
from sync_server.seating.plans.seat_plans import event_plan
from sync_server.tickets import seat_moves
from sync_server.tickets.seat_moves import NewSeat

BATCH_SIZE: Final = 1_000
"""Tickets that get their new seats in one transaction."""
ABANDONED_AFTER_MS: Final = 15_000
"""After so long without progress a worker resumes a move: a batch takes much less."""


def move_next_batch(session: Session, row: ReseatingRecord, context: ActionContext, *, limit: int = BATCH_SIZE) -> bool:
    """Do the next batch; the last one reopens the event. Returns whether anything is left to do.

    Safe to call concurrently: the event is locked, and the row records how far the move has come.
    """
    event_service.lock_event(session, row.organisation_id, row.event_id)
    session.refresh(row)
    if row.state != "moving":
        return False
    steps = queries.next_batch(session, row, limit)
    plan = event_plan(session, row.organisation_id, row.event_id)
    arriving: dict[int, NewSeat] = {}
    for step in steps:
        arriving[step.ticket_id] = NewSeat.of(plan, step.new_seat or 0, new_code=step.new_code, flags=step.flags)
    seat_moves.apply_moves(session, row.organisation_id, row.event_id, arriving, context)
    row.moved, row.touched_at = (steps[-1].place if steps else row.moved), context.now
    session.flush()
    if len(steps) == limit:
        return True
    _finish(session, row, context)
    return False


def _finish(session: Session, row: ReseatingRecord, context: ActionContext) -> None:
    seat_moves.finish_moves(session, row.organisation_id, row.event_id)
    event_layouts.reopen(session, row.organisation_id, row.event_id)
    row.state, row.done_at = "done", context.now
    session.flush()
    organisation_id, counts = row.organisation_id, row.report["counts"]
    before, after = {"layout": row.from_layout_id}, {"layout": row.to_layout_id, "reseating": row.id, **counts}
    subjects = {"event": row.event_id, "reseating": row.id}
    payload = {"from": row.from_layout_id, "to": row.to_layout_id, "stay": counts["stay"], "move": counts["move"]}
    fact = Fact("event_reseated", organisation_id, context.now, subjects, payload)
    record_change(session, context, Subject("event", row.event_id, before, after, row.reason), fact)


def any_abandoned(session: Session, now: Millis) -> Millis | None:
    """At once, where `resume_abandoned` has anything to do."""
    return AT_ONCE if queries.abandoned(session, now - ABANDONED_AFTER_MS) is not None else None


def resume_abandoned(session: Session, context: ActionContext) -> object:
    """The worker's job: resume a move whose server died; one that had not begun yet is called off."""
    row = queries.abandoned(session, context.now - ABANDONED_AFTER_MS)
    if row is None:
        return None
    if row.state == "closed":
        service.reopen(session, row.organisation_id, row.event_id, row.id)
        return None
    more = move_next_batch(session, row, context)
    if more:
        row.touched_at = context.now - ABANDONED_AFTER_MS  # still abandoned, so that a worker takes the next batch too
    return MORE if more else None
