"""Connects holds to events, seating, guests, jobs and the bus."""

from __future__ import annotations

from functools import partial

from sqlalchemy.orm import Session

from sync_server.customers.signals import GuestCreated, GuestRemoved
from sync_server.events.signals import EventChanged, EventDaysChanged, EventStatusChanged
from sync_server.holds import event_handlers, expiry
from sync_server.holds.attempts import evidence
from sync_server.holds.attempts.runtime import STATE_KEY, HoldRuntime
from sync_server.holds.caches.redis_rebuild import cached_holds, job
from sync_server.holds.signals import HoldsEnded, HoldsMade
from sync_server.plumbing.database import after_commit
from sync_server.plumbing.jobs import Job
from sync_server.plumbing.parts import Parts
from sync_server.seating.signals import LayoutChanging


def wire(parts: Parts) -> None:
    """Register the handlers, which act in the transactions of other packages; caches change after the commit."""
    runtime = HoldRuntime(parts)
    parts.local_state[STATE_KEY] = runtime
    signals = parts.database.signals
    signals.on(EventStatusChanged, event_handlers.on_status_changed)
    signals.on(EventChanged, event_handlers.on_changed)
    signals.on(EventDaysChanged, event_handlers.on_days_changed)
    signals.on(GuestCreated, _create_counter)
    signals.on(GuestRemoved, event_handlers.on_guest_removed)
    signals.on(LayoutChanging, _layout_changing)
    signals.on(HoldsMade, partial(_cache, runtime))
    signals.on(HoldsEnded, partial(_drop, runtime))
    parts.jobs.append(Job("holds.sweep", 5_000, expiry.sweep, expiry.next_at))
    parts.jobs.append(
        Job("holds.forget_counters", 3_600_000, lambda s, context: expiry.delete_old_counters(s, context.now))
    )
    if runtime.hold_cache.redis is not None:
        parts.jobs.append(job(runtime.hold_cache.redis))


def _create_counter(session: Session, guest: GuestCreated) -> None:
    evidence.lock_counter(session, guest.guest_id, guest.organisation_id, guest.context.now)


def _layout_changing(session: Session, event: LayoutChanging) -> None:
    event_handlers.bump_sale_version(session, event.organisation_id, event.event_id)


def _cache(runtime: HoldRuntime, session: Session, made: HoldsMade) -> None:
    for one in cached_holds(session, made.holds, named=runtime.hold_cache.redis is not None):
        after_commit(session, partial(runtime.hold_cache.keep, one, made.now))


def _drop(runtime: HoldRuntime, session: Session, gone: HoldsEnded) -> None:
    ended = cached_holds(session, gone.holds, named=runtime.hold_cache.redis is not None)
    after_commit(session, lambda: runtime.hold_cache.forget(ended))
