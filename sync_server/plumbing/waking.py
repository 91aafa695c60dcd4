"""Wakes jobs of the worker, in whichever process it runs, as soon as what they are to do is committed."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Final

from sqlalchemy.orm import Session

from shared.clock import Millis
from sync_server.plumbing.backends import Backends
from sync_server.plumbing.database import Database, after_commit, database_of
from sync_server.plumbing.jobs import LOOK_EVERY_MS
from sync_server.plumbing.messaging.bus import Subscription

DEAF_LOOK_MS: Final[Millis] = 5_000
"""How often jobs look while the bus is away, and no other process can wake them."""
_TOPIC: Final = "job:"
_WOKEN: Final = "woken jobs"


def wire(database: Database, backends: Backends) -> None:
    """Let commits wake the jobs of all processes."""
    database.wake_job = lambda job: backends.bus.publish(_TOPIC + job, {})


def wake(session: Session, job: str) -> None:
    """Wake this job after the commit of this transaction, once; not after a rollback."""
    woken: set[str] = session.info.setdefault(_WOKEN, set())
    if job not in woken:
        woken.add(job)
        after_commit(session, partial(database_of(session).wake_job, job))


def on_wake(backends: Backends, jobs: Iterable[str], call: Callable[[Iterable[str]], object]) -> Subscription:
    """Call with the names of those of these jobs that are woken: with all where wake-ups may have been missed."""
    topics = {_TOPIC + job: job for job in jobs}
    return backends.bus.subscribe(topics, lambda note: call(topics.values() if note is None else [topics[note.topic]]))


def look_ms(backends: Backends, most: Millis = LOOK_EVERY_MS) -> Millis:
    """How long a job may rest until it looks by itself."""
    return most if backends.in_touch() else min(most, DEAF_LOOK_MS)
