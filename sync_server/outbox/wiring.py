"""Lets the house hear its own facts, and wake the worker wherever it runs."""

from __future__ import annotations

import threading

from sync_server.outbox.announcing import forgetter, teller
from sync_server.plumbing.parts import Parts

STIRRED = "outbox:stirred"
LOOK_FOR_STOP_S = 0.5


def wire(parts: Parts) -> None:
    """Every fact reaches the topics of its event, and what is remembered of it is forgotten."""
    parts.announcers.extend([forgetter(parts.cache), teller(parts.bus)])
    if parts.config.redis_url is not None:
        parts.database.wake_ups.append(lambda: parts.bus.tell(STIRRED, {}))


def listen_for_commits(parts: Parts, stop: threading.Event) -> None:
    """Wake the relays of this process when another has committed facts; runs on a thread of its own."""
    with parts.bus.listen([STIRRED]) as listener:
        while not stop.is_set():
            if listener.wait(LOOK_FOR_STOP_S) or listener.missed():
                parts.database.stirred.set()
