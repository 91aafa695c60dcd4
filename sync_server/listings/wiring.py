"""Keeps listings in step with events, invalidates cached responses, and adds the worker's jobs."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from sqlalchemy.orm import Session

from shared.clock import Millis
from sync_server.events.service import SOLD_OUT_CHANGED
from sync_server.listings import interest, service, trending
from sync_server.outbox.joins import JOINED_ELSEWHERE
from sync_server.outbox.notifications import is_event_change
from sync_server.plumbing.caching.cache import Cache, public_key
from sync_server.plumbing.database import after_commit
from sync_server.plumbing.jobs import Job, Message
from sync_server.plumbing.parts import Parts

PUBLIC_SCOPE = public_key("", "").scope


def wire(parts: Parts) -> None:
    """Subscribe to the transactions that change events and count joins."""
    parts.database.on("event_changed", partial(_event_changed, parts.cache))
    parts.database.on(SOLD_OUT_CHANGED, partial(_sold_out_changed, parts.cache))
    parts.database.on(JOINED_ELSEWHERE, partial(_joined, parts.cache))
    counter = interest.InterestCounter(parts.cache)
    parts.announcers.extend([counter.receive, partial(_invalidate_again, parts.cache)])
    parts.jobs.extend(
        [
            Job("listings.flush_interest", 10_000, counter.flush),
            Job("listings.rank", trending.INTERVAL_MS, trending.rank),
            Job("listings.delete_expired", 60_000, service.delete_expired),
        ]
    )


def _event_changed(cache: Cache, session: Session, subject: Any, now: Millis) -> None:
    _organisation, event_id, _number = subject
    if service.refresh_listing(session, event_id, now):
        after_commit(session, partial(_invalidate_lists, cache))
    after_commit(session, lambda: cache.invalidate(public_key("event", event_id)))


def _sold_out_changed(cache: Cache, session: Session, event_id: Any, _now: Millis) -> None:
    """Other numbers in the feed may be a few seconds old, but nobody should come for a sold-out event."""
    after_commit(session, lambda: cache.invalidate(public_key("event", event_id)))
    after_commit(session, lambda: cache.invalidate_family(PUBLIC_SCOPE, "feed"))


def _invalidate_lists(cache: Cache) -> None:
    for family in ("feed", "cities"):
        cache.invalidate_family(PUBLIC_SCOPE, family)


def _invalidate_again(cache: Cache, messages: Sequence[Message]) -> None:
    """For a process that dies between its commit and its invalidation: the fact still arrives."""
    events = {str(message.subjects.get("event")) for message in messages if is_event_change(message.name)}
    if events:
        cache.invalidate(*(public_key("event", event) for event in events))
        _invalidate_lists(cache)


def _joined(cache: Cache, session: Session, join: Any, now: Millis) -> None:
    interest.record_join(session, join, now)
    after_commit(session, lambda: cache.invalidate(public_key("event", join.event_id)))
