"""Connects holds to events, seating, guests, jobs and the bus."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from sqlalchemy.orm import Session

from shared.clock import Millis
from sync_server.events.dependents import DEPENDENTS_REQUESTED
from sync_server.holds import event_handlers, expiry, occupancy_notifier, queries, service
from sync_server.holds.ending import HOLDS_ENDED
from sync_server.holds.redis_rebuild import cached_holds, job
from sync_server.holds.runtime import STATE_KEY, HoldRuntime
from sync_server.plumbing.database import after_commit
from sync_server.plumbing.jobs import Job
from sync_server.plumbing.parts import Parts
from sync_server.seating.event_layouts import LAYOUT_CHANGING
from sync_server.seating.taken import COLLECT_TAKEN

_ENDED = ("event_cancelled", "event_ended", "event_archived")
_DATED = ("event_published", "event_went_live")


def wire(parts: Parts) -> None:
    """Register the handlers, which act in the transactions of other packages; caches change after the commit."""
    runtime = HoldRuntime(parts)
    parts.local_state[STATE_KEY] = runtime
    on = parts.database.on
    on(COLLECT_TAKEN, _add_taken)
    on(DEPENDENTS_REQUESTED, _count_holds)
    for names, handler in (
        (_ENDED, event_handlers.on_cancelled),
        (_DATED, event_handlers.on_dated),
        (("event_unpublished",), event_handlers.on_back_to_draft),
        (("event_postponed",), event_handlers.on_postponed),
        (("event_changed",), event_handlers.on_changed),
        (("guest_gone",), event_handlers.on_guest_removed),
    ):
        for name in names:
            on(name, handler)
    on(LAYOUT_CHANGING, _layout_changing)
    on("guest_let_in", _create_counter)
    on(service.HELD, _cache(runtime))
    on(HOLDS_ENDED, _drop(runtime))
    parts.jobs.append(Job("holds.sweep", 1_000, expiry.sweep))
    parts.jobs.append(
        Job("holds.forget_tallies", 3_600_000, lambda s, context: expiry.delete_old_counters(s, context.now))
    )
    if runtime.hold_cache.redis is not None:
        parts.jobs.append(job(runtime.hold_cache.redis))
    parts.announcers.append(occupancy_notifier.occupancy_notifier(parts))


def _add_taken(session: Session, query: Any, now: Millis) -> None:
    seats, sold = queries.taken_seats(session, query.event_id, now)
    query.seats |= seats
    query.places.update(queries.taken_places(session, query.event_id, now))
    query.sold = query.sold or sold


def _count_holds(session: Session, query: Any, _now: Millis) -> None:
    query.uses["holds, old ones among them"] = queries.count_ever(session, query.event_id)


def _create_counter(session: Session, guest: Any, now: Millis) -> None:
    service.create_counter(session, guest.id, guest.organisation_id, now)


def _layout_changing(session: Session, subject: Any, _now: Millis) -> None:
    event_handlers.bump_sale_version(session, *subject)


def _cache(runtime: HoldRuntime) -> Callable[[Session, Any, Millis], None]:
    def handle(session: Session, holds: Any, now: Millis) -> None:
        for one in cached_holds(session, holds, named=runtime.hold_cache.redis is not None):
            after_commit(session, partial(runtime.hold_cache.keep, one, now))

    return handle


def _drop(runtime: HoldRuntime) -> Callable[[Session, Any, Millis], None]:
    def handle(session: Session, holds: Any, _now: Millis) -> None:
        ended = cached_holds(session, holds, named=runtime.hold_cache.redis is not None)
        after_commit(session, lambda: runtime.hold_cache.forget(ended))

    return handle
