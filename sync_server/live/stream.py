"""Keeps a stream going: told at once by the bus, by a look now and then where the bus may have been deaf."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from sqlalchemy.exc import SQLAlchemyError

from shared.clock import MonotonicClock
from shared.errors import NotFound
from sync_server.live.frames import HEARTBEAT, HINT, Frame
from sync_server.plumbing.bus import Listener, Note
from sync_server.plumbing.logs import LOG

LOOK_FOR_STOP_S = 1.0
HEARTBEAT_NS = 10_000_000_000
ASK_AGAIN_NS = 20_000_000_000
"""So often it is asked whether the reader may still listen: within a minute a revoked one hears nothing more."""


class Story(Protocol):
    """What one stream tells."""

    def begin(self) -> Iterable[Frame]:
        """What a reader must know first."""
        ...

    def news(self, notes: Sequence[Note]) -> Iterable[Frame]:
        """What these notes mean to the reader."""
        ...

    def patience_s(self) -> float:
        """How long it may be left waiting for more notes."""
        ...

    def settled(self) -> Iterable[Frame]:
        """What it has gathered long enough."""
        ...

    def look(self) -> Iterable[Frame]:
        """What the reader has not been told, found without the help of the bus."""
        ...


@dataclass(frozen=True, slots=True)
class Reader:
    """Who listens, and until when."""

    welcome: Callable[[], bool]  # may still listen
    stop: threading.Event
    monotonic: MonotonicClock
    look_every_s: Callable[[], float]


def told(story: Story, listener: Listener, reader: Reader) -> Iterator[str]:
    """The stream as text, until the server stops, the reader goes, or may listen no more.

    It ends too where the database is away or the event is gone: whoever comes again is told in words.
    """
    try:
        yield from _told(story, listener, reader)
    except (SQLAlchemyError, NotFound) as problem:
        LOG.warning("stream_ended", problem=type(problem).__name__)


def _told(story: Story, listener: Listener, reader: Reader) -> Iterator[str]:
    with listener:
        yield HINT
        yield from _texts(story.begin())
        pulse = Pulse(reader)
        while not reader.stop.is_set():
            notes = listener.wait(min(LOOK_FOR_STOP_S, story.patience_s()))
            if pulse.due("ask", ASK_AGAIN_NS) and not reader.welcome():
                return
            for text in _texts(_news(story, listener, notes, pulse, reader)):
                pulse.restart("heartbeat")
                yield text
            if pulse.due("heartbeat", HEARTBEAT_NS):
                yield HEARTBEAT


def _news(story: Story, listener: Listener, notes: Sequence[Note], pulse: Pulse, reader: Reader) -> Iterator[Frame]:
    """What the bus has told, and what it may have missed."""
    if notes:
        yield from story.news(notes)
    yield from story.settled()
    if listener.missed() or pulse.due("look", int(reader.look_every_s() * 1e9)):
        yield from story.look()


def _texts(frames: Iterable[Frame]) -> Iterator[str]:
    return (frame.text() for frame in frames)


class Pulse:
    """Remembers what was done when, by a clock that never runs backwards."""

    def __init__(self, reader: Reader) -> None:
        """Everything was done just now."""
        self._monotonic = reader.monotonic
        self._begun = reader.monotonic()
        self._done: dict[str, int] = {}

    def due(self, what: str, every_ns: int) -> bool:
        """Whether it is time to do it again; then it counts as done."""
        if self._monotonic() - self._done.get(what, self._begun) < every_ns:
            return False
        self.restart(what)
        return True

    def restart(self, what: str) -> None:
        """It was done just now."""
        self._done[what] = self._monotonic()
