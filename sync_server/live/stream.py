"""A board as server-sent events: each state once, with heartbeats between, until the reader or the server goes."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import asdict

import orjson

from sync_server.live.board import Board

LOOK_EVERY_S = 1.0
HEARTBEAT_EVERY = 10
RECONNECT_MS = 3_000
LOOKS = 600
"""After as many a reader must come again: whoever has signed out meanwhile is not let in."""


def frames(look: Callable[[], Board], stop: threading.Event, seen: str) -> Iterator[str]:
    """Events in the text form of server-sent events. `seen` is the Last-Event-ID of a reader that comes back."""
    yield f"retry: {RECONNECT_MS}\n\n"
    quiet, status = 0, ""
    for _ in range(LOOKS):
        if stop.is_set():
            return
        board = look()
        if status and board.status != status:
            yield _event("status", board.version, {"old_status": status, "new_status": board.status})
        status = board.status
        if board.version != seen:
            seen, quiet = board.version, 0
            yield _event("counters", board.version, asdict(board))
        else:
            quiet += 1
            if quiet % HEARTBEAT_EVERY == 0:
                yield ": heartbeat\n\n"
        stop.wait(LOOK_EVERY_S)


def _event(name: str, id: str, told: object) -> str:
    return f"event: {name}\nid: {id}\ndata: {orjson.dumps(told).decode()}\n\n"
