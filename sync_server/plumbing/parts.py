"""The parts a running server is made of, as the composition root put them together."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, cast

from flask import current_app

from shared.clock import Clock, MonotonicClock
from shared.ids import Entropy
from sync_server.config import Config
from sync_server.plumbing.bus import Bus
from sync_server.plumbing.cache import Cache
from sync_server.plumbing.database import Database
from sync_server.plumbing.metrics import Metrics
from sync_server.plumbing.principals import Action, Principal
from sync_server.plumbing.redis_or_not import Loop, Nearby
from sync_server.plumbing.sealing import Sealer
from sync_server.plumbing.work import Announcer, Job, Subscriber

EXTENSION = "gatehouse"


@dataclass(frozen=True, slots=True)
class Parts:
    """What routes may reach for; tests bring their own clock and entropy."""

    config: Config
    database: Database
    clock: Clock
    entropy: Entropy
    sealer: Sealer
    may: Callable[[Principal, Action], bool]
    metrics: Metrics
    nearby: Nearby
    monotonic: MonotonicClock
    stop: threading.Event = field(default_factory=threading.Event)  # ends long polls and streams
    jobs: list[Job] = field(default_factory=list)  # rooms add theirs when they are wired
    loops: list[Loop] = field(default_factory=list)  # of every process that answers requests, on threads of their own
    subscribers: list[Subscriber] = field(default_factory=list)
    announcers: list[Announcer] = field(default_factory=list)
    lines: dict[str, Callable[[], bool]] = field(default_factory=dict)  # whether a part is there that we can do without
    memories: dict[str, Any] = field(default_factory=dict)  # what a room keeps in this process, under its name

    @property
    def bus(self) -> Bus:
        """Where to tell, and to hear, that something has changed just now."""
        return self.nearby.bus

    @property
    def cache(self) -> Cache:
        """What is costly to look up; never the truth of anything."""
        return self.nearby.cache


def parts() -> Parts:
    """The parts of the server that is answering this request."""
    return cast(Parts, current_app.extensions[EXTENSION])
