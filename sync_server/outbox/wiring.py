"""Connects facts to the bus and the caches, and wakes the worker wherever it runs."""

from __future__ import annotations

from functools import partial

from sqlalchemy.orm import Session

from sync_server.outbox.notifications import changes_lists, invalidate_lists, list_invalidator
from sync_server.outbox.signals import FactRecorded
from sync_server.plumbing.database import after_commit
from sync_server.plumbing.parts import Parts

COMMITTED = "outbox:committed"


def wire(parts: Parts) -> None:
    """Invalidate caches, wake workers, and watch the broker where one is configured."""
    parts.subscribers.append(list_invalidator(parts.cache))
    parts.database.signals.on(FactRecorded, partial(_on_fact_recorded, parts))
    if parts.backends.bus_connected is not None:
        if parts.config.redis_url is not None:
            parts.dependencies["redis"] = parts.backends.bus_connected
        parts.bus.subscribe([COMMITTED], lambda _: parts.database.note_work())
        parts.database.wake_ups.append(lambda: parts.bus.publish(COMMITTED, {}))
    if parts.config.amqp_url is not None and not parts.config.embedded:
        _watch_broker(parts, parts.config.amqp_url)


def _on_fact_recorded(parts: Parts, session: Session, fact: FactRecorded) -> None:
    """Invalidate at the commit: whoever changes an event and reads it at once must not wait for the relay."""
    if changes_lists(fact.name):
        after_commit(session, partial(invalidate_lists, parts.cache, fact.organisation_id))
        after_commit(session, parts.metrics.event_changes.labels(fact.name).inc)


def _watch_broker(parts: Parts, url: str) -> None:
    """Let a process that leaves delivery to a worker report whether the broker is up."""
    from sync_server.outbox.broker.rabbit import RabbitDelivery

    broker = RabbitDelivery(url, parts.entropy, lambda: None)
    parts.dependencies["amqp"] = broker.ready
    parts.loops.append(broker.run)
