"""Runs a stream: notifications from the bus at once, and a poll now and then for what the bus may have missed."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from sqlalchemy.exc import SQLAlchemyError

from shared.clock import MonotonicClock
from shared.errors import NotFound
from sync_server.live.frames import HEARTBEAT, HINT, Frame
from sync_server.plumbing.logs import LOG
from sync_server.plumbing.messaging.bus import Listener, Notification

CHECK_STOP_S = 1.0
HEARTBEAT_NS = 10_000_000_000
RECHECK_NS = 20_000_000_000
"""How often permissions are checked again: a revoked reader is cut off within a minute."""


class StreamSource(Protocol):
    """The contents of one stream."""

    def start(self) -> Iterable[Frame]:
        """The first frames."""
        ...

    def on_notes(self, notes: Sequence[Notification]) -> Iterable[Frame]:
        """The frames for these notifications."""
        ...

    def max_wait_s(self) -> float:
        """How long to wait for notifications before `flush` is due."""
        ...

    def flush(self) -> Iterable[Frame]:
        """The frames that were held back and are now due."""
        ...

    def poll(self) -> Iterable[Frame]:
        """Frames for what the bus did not announce."""
        ...


@dataclass(frozen=True, slots=True)
class Reader:
    """Who reads a stream, and until when."""

    allowed: Callable[[], bool]  # whether they may still read
    stop: threading.Event
    monotonic: MonotonicClock
    poll_interval_s: Callable[[], float]


def stream_text(source: StreamSource, listener: Listener, reader: Reader) -> Iterator[str]:
    """The text of a stream, until the server stops, the reader leaves, or they may no longer read it.

    It also ends if the database is down or the event is gone: the reader gets the error when it reconnects.
    """
    try:
        yield from _frames_text(source, listener, reader)
    except (SQLAlchemyError, NotFound) as problem:
        LOG.warning("stream_ended", problem=type(problem).__name__)


def _frames_text(source: StreamSource, listener: Listener, reader: Reader) -> Iterator[str]:
    with listener:
        yield HINT
        yield from _texts(source.start())
        timers = Timers(reader)
        while not reader.stop.is_set():
            notes = listener.wait(min(CHECK_STOP_S, source.max_wait_s()))
            if timers.due("permission", RECHECK_NS) and not reader.allowed():
                return
            for text in _texts(_due_frames(source, listener, notes, timers, reader)):
                timers.restart("heartbeat")
                yield text
            if timers.due("heartbeat", HEARTBEAT_NS):
                yield HEARTBEAT


def _due_frames(
    source: StreamSource, listener: Listener, notes: Sequence[Notification], timers: Timers, reader: Reader
) -> Iterator[Frame]:
    """What the bus has announced, and what it may have missed."""
    if notes:
        yield from source.on_notes(notes)
    yield from source.flush()
    if listener.missed() or timers.due("poll", int(reader.poll_interval_s() * 1e9)):
        yield from source.poll()


def _texts(frames: Iterable[Frame]) -> Iterator[str]:
    return (frame.text() for frame in frames)


class Timers:
    """When each thing was last done, by the monotonic clock."""

    def __init__(self, reader: Reader) -> None:
        self._monotonic = reader.monotonic
        self._started_at = reader.monotonic()
        self._done: dict[str, int] = {}

    def due(self, name: str, every_ns: int) -> bool:
        """Whether it is time to do it again; if so it counts as done."""
        if self._monotonic() - self._done.get(name, self._started_at) < every_ns:
            return False
        self.restart(name)
        return True

    def restart(self, name: str) -> None:
        """Count it as done now."""
        self._done[name] = self._monotonic()
