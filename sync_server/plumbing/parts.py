"""The parts a running server is made of, as the composition root put them together."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Final

from flask.ctx import AppContext
from flask.globals import _cv_app

from shared.clock import Clock, MonotonicClock
from shared.ids import Entropy
from sync_server.config import Config
from sync_server.plumbing.backends import Backends, Loop
from sync_server.plumbing.caching.cache import Cache
from sync_server.plumbing.database import Database
from sync_server.plumbing.jobs import HeavyJob, Job, Subscriber
from sync_server.plumbing.messaging.bus import Bus
from sync_server.plumbing.requests.principals import Action, Principal
from sync_server.plumbing.sealing import Sealer
from sync_server.plumbing.telemetry.metrics import Metrics
from sync_server.plumbing.telemetry.spans import NO_SPANS, Spans

EXTENSION = "gatehouse"
CONTEXT: Final[ContextVar[AppContext]] = _cv_app
"""What Flask's proxies look in: each access through one costs four calls, and a request made fifty."""


@dataclass(frozen=True, slots=True)
class Parts:
    """All that routes and wiring need; tests bring their own clock and entropy."""

    config: Config
    database: Database
    clock: Clock
    entropy: Entropy
    sealer: Sealer
    may: Callable[[Principal, Action], bool]
    metrics: Metrics
    backends: Backends
    monotonic: MonotonicClock
    spans: Spans = NO_SPANS
    draining: threading.Event = field(default_factory=threading.Event)  # the end is near, and balancers are to know
    stop: threading.Event = field(default_factory=threading.Event)  # ends long polls and streams
    jobs: list[Job | HeavyJob] = field(default_factory=list)  # packages add theirs when they are wired
    loops: list[Loop] = field(default_factory=list)  # run in threads of each process that serves requests
    subscribers: list[Subscriber] = field(default_factory=list)
    dependencies: dict[str, Callable[[], bool]] = field(default_factory=dict)  # optional ones, and whether they work
    local_state: dict[str, Any] = field(default_factory=dict)  # of packages, by name, in this process

    @property
    def bus(self) -> Bus:
        """Notifications of changes, to publish and to listen to."""
        return self.backends.bus

    @property
    def cache(self) -> Cache:
        """The cache of costly reads."""
        return self.backends.cache


def parts() -> Parts:
    """The parts of the server of this request."""
    found: Parts = CONTEXT.get().app.extensions[EXTENSION]
    return found
