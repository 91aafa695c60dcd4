"""Lets the house hear its own facts, and wake the worker wherever it runs."""

from __future__ import annotations

import threading
from functools import partial

from sqlalchemy.orm import Session

from shared.clock import Millis
from sync_server.outbox.announcing import forget_lists, forgetter, is_news, is_of_houses, teller
from sync_server.outbox.service import RECORDED, Fact
from sync_server.plumbing.database import after_commit
from sync_server.plumbing.parts import Parts

STIRRED = "outbox:stirred"
LOOK_FOR_STOP_S = 0.5


def wire(parts: Parts) -> None:
    """Every fact reaches the topics of its event, and what is remembered of it is forgotten."""
    parts.announcers.extend([forgetter(parts.cache), teller(parts.bus)])
    parts.database.when(RECORDED, partial(_note_news, parts))
    if parts.nearby.hears_others is not None:
        parts.lines["redis"] = parts.nearby.hears_others
        parts.database.wake_ups.append(lambda: parts.bus.tell(STIRRED, {}))
    if parts.config.amqp_url is not None and not parts.config.embedded:
        _watch_broker(parts, parts.config.amqp_url)


def _note_news(parts: Parts, session: Session, fact: Fact, _now: Millis) -> None:
    """Whoever changes an event and reads it again a moment later reads the change: the relay may come later."""
    if is_news(fact.name) or is_of_houses(fact.name):
        after_commit(session, partial(forget_lists, parts.cache, fact.organisation_id))
        after_commit(session, parts.metrics.event_changes.labels(fact.name).inc)


def _watch_broker(parts: Parts, url: str) -> None:
    """Let a process that leaves the delivering to others know whether the broker is there."""
    from sync_server.outbox.rabbit import Rabbit

    line = Rabbit(url, parts.entropy, lambda: None)
    parts.lines["amqp"] = line.ready
    parts.loops.append(line.run)


def listen_for_commits(parts: Parts, stop: threading.Event) -> None:
    """Wake the relays of this process when another has committed facts; runs on a thread of its own."""
    with parts.bus.listen([STIRRED]) as listener:
        while not stop.is_set():
            if listener.wait(LOOK_FOR_STOP_S) or listener.missed():
                parts.database.stirred.set()
