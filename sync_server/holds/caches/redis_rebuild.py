"""Writes holds from the tables to Redis: all of them where Redis has lost some."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from sqlalchemy import select, text, tuple_
from sqlalchemy.orm import Session

from shared.clock import Millis
from shared.ids import NIL_ID
from sync_server.holds.caches.hold_cache import CachedHold, RedisHolds
from sync_server.holds.models import HoldRow
from sync_server.plumbing.jobs import Job
from sync_server.plumbing.requests.principals import ActionContext
from sync_server.plumbing.telemetry.logs import LOG
from sync_server.seating.plans.seat_plan import SeatPlan
from sync_server.seating.plans.seat_plans import find_event_plan

INTERVAL_MS: Final = 30_000
BATCH_SIZE: Final = 500


def cached_holds(session: Session, holds: Sequence[HoldRow], *, named: bool) -> list[CachedHold]:
    """Holds of seats as the caches have them; `named`: with the seat ids that Redis keys need."""
    seats = [hold for hold in holds if hold.seat is not None]
    where = {(hold.organisation_id, hold.event_id) for hold in seats} if named else ()
    plans = {event_id: find_event_plan(session, organisation_id, event_id) for organisation_id, event_id in where}
    return [_cached_hold(hold, hold.seat, plans.get(hold.event_id)) for hold in seats if hold.seat is not None]


def _cached_hold(hold: HoldRow, number: int, plan: SeatPlan | None) -> CachedHold:
    seat_id = plan.layout.seat(number).id if plan is not None and plan.layout.has(number) else ""
    changed = hold.updated_at != hold.created_at
    where = hold.organisation_id, hold.event_id, number, seat_id
    return CachedHold(*where, hold.id, hold.bearer_id, hold.held_until, changed, hold.days)


def job(redis_holds: RedisHolds) -> Job:
    """The worker's job that fills a Redis which came back without some holds."""
    return Job("holds.remember", INTERVAL_MS, lambda session, context: rebuild(session, redis_holds, context))


def rebuild(session: Session, redis_holds: RedisHolds, context: ActionContext) -> None:
    """Write every hold of a seat to Redis, unless it has them all."""
    if redis_holds.is_complete():
        return
    count, last = 0, (context.now + 1, NIL_ID)
    while batch := _next_batch(session, last):
        last = batch[-1].held_until, batch[-1].id
        written = cached_holds(session, batch, named=True)
        if not redis_holds.keep(written, context.now):
            return
        redis_holds.forget(_ended_meanwhile(session, written))
        count += len(written)
    redis_holds.mark_complete()
    LOG.info("holds_remembered", count=count)


def _next_batch(session: Session, after: tuple[Millis, str]) -> Sequence[HoldRow]:
    # As literal text, to match the partial index. Suspended holds are written when they are resumed.
    here = HoldRow.status == text("'active'"), HoldRow.seat.is_not(None)
    further = tuple_(HoldRow.held_until, HoldRow.id) > after
    wanted = select(HoldRow).where(*here, further).order_by(HoldRow.held_until, HoldRow.id).limit(BATCH_SIZE)
    return session.execute(wanted.execution_options(populate_existing=True)).scalars().all()


def _ended_meanwhile(session: Session, written: Sequence[CachedHold]) -> list[CachedHold]:
    ids = [(hold.organisation_id, hold.hold_id) for hold in written]
    key = tuple_(HoldRow.organisation_id, HoldRow.id)
    here = select(HoldRow.id).where(key.in_(ids), HoldRow.status == "active")
    active = set(session.execute(here).scalars())
    return [hold for hold in written if hold.hold_id not in active]
