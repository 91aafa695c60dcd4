"""Keeps listings in step with events, invalidates cached responses, and adds the worker's jobs."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from sqlalchemy.orm import Session

from sync_server.events.signals import EventChanged, SoldOutChanged
from sync_server.listings import interest, service, trending
from sync_server.outbox.catalogue import kind_of
from sync_server.outbox.notifications import changes_lists
from sync_server.outbox.signals import JoinedElsewhere
from sync_server.plumbing.caching.cache import Cache, public_key
from sync_server.plumbing.database import after_commit
from sync_server.plumbing.jobs import Job, Message, Subscriber
from sync_server.plumbing.messaging.bus import Notification
from sync_server.plumbing.parts import Parts

PUBLIC_SCOPE = public_key("", "").scope


def wire(parts: Parts) -> None:
    """Subscribe to the transactions that change events and count joins."""
    signals = parts.database.signals
    signals.on(EventChanged, partial(_event_changed, parts.cache))
    signals.on(SoldOutChanged, partial(_sold_out_changed, parts.cache))
    signals.on(JoinedElsewhere, partial(_joined, parts.cache))
    parts.subscribers.append(Subscriber("feed", _concerns_feed, partial(_on_facts, parts.cache)))
    parts.jobs.extend(
        [
            Job("listings.forget_interest", 3_600_000, interest.delete_old),
            Job("listings.rank", trending.INTERVAL_MS, trending.rank),
            Job("listings.delete_expired", 60_000, service.delete_expired),
        ]
    )


def _event_changed(cache: Cache, session: Session, event: EventChanged) -> None:
    if service.refresh_listing(session, event.organisation_id, event.event_id, event.context.now):
        after_commit(session, partial(_invalidate_lists, cache))
    after_commit(session, lambda: cache.invalidate(public_key("event", event.event_id)))


def _sold_out_changed(cache: Cache, session: Session, event: SoldOutChanged) -> None:
    """Other numbers in the feed may be a few seconds old, but nobody should come for a sold-out event."""
    after_commit(session, lambda: cache.invalidate(public_key("event", event.event_id)))
    after_commit(session, lambda: cache.invalidate_family(PUBLIC_SCOPE, "feed"))


def _invalidate_lists(cache: Cache) -> None:
    for family in ("feed", "cities"):
        cache.invalidate_family(PUBLIC_SCOPE, family)


def _concerns_feed(fact: Message) -> bool:
    return changes_lists(fact.name) or kind_of(fact.name).page or interest.interest_in(fact) > 0


def _on_facts(cache: Cache, session: Session, facts: Sequence[Message]) -> Sequence[Notification]:
    """Count interest, and invalidate once more for a process that has died between its commit and its invalidation."""
    interest.count_interest(session, facts)
    stale = [fact for fact in facts if changes_lists(fact.name) or kind_of(fact.name).page]
    events = {str(fact.subjects["event"]) for fact in stale if "event" in fact.subjects}
    if events:
        cache.invalidate(*(public_key("event", event) for event in events))
    if any(changes_lists(fact.name) for fact in facts):
        _invalidate_lists(cache)
    return ()


def _joined(cache: Cache, session: Session, join: JoinedElsewhere) -> None:
    interest.record_join(session, join)
    after_commit(session, lambda: cache.invalidate(public_key("event", join.event_id)))
