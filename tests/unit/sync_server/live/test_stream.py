"""A stream sends notifications at once, polls for missed ones, sends heartbeats, and ends when it must."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice

from sqlalchemy.exc import OperationalError

from sync_server.live.frames import Frame
from sync_server.live.stream import Reader, stream_text
from sync_server.plumbing.messaging.bus import Listener, LocalBus, Notification

TOPIC = "events:event:e1"


class Clock:
    """Advances by a step whenever it is read."""

    def __init__(self, step_s: float) -> None:
        self.now, self._step = 0, int(step_s * 1e9)

    def __call__(self) -> int:
        self.now += self._step
        return self.now


class NonBlockingListener(Listener):
    """Returns what has arrived and never waits."""

    def wait(self, timeout_s: float) -> list[Notification]:
        return super().wait(0)


class FakeSource:
    """A source whose frames say which method made them."""

    def __init__(self) -> None:
        self.missed: list[Frame] = []

    def start(self) -> Iterable[Frame]:
        return [Frame("begin", {}, 7)]

    def on_notes(self, notes: Sequence[Notification]) -> Iterable[Frame]:
        return [Frame("news", note.body["n"]) for note in notes]

    def max_wait_s(self) -> float:
        return 1.0

    def flush(self) -> Iterable[Frame]:
        return ()

    def poll(self) -> Iterator[Frame]:
        while self.missed:
            yield self.missed.pop()


class RunningStream:
    """A stream with everything it needs."""

    def __init__(self, step_s: float = 0.0, allowed: Callable[[], bool] = lambda: True) -> None:
        self.hub, self.source, self.stop = LocalBus(), FakeSource(), threading.Event()
        self.listener = NonBlockingListener(self.hub, frozenset({TOPIC}))
        self.hub._listeners[TOPIC].add(self.listener)
        reader = Reader(allowed, self.stop, Clock(step_s), poll_interval_s=lambda: 10)
        self.frames = stream_text(self.source, self.listener, reader)

    def next(self, count: int) -> list[str]:
        return list(islice(self.frames, count))


def test_stream_starts_with_the_retry_hint_and_the_first_frames() -> None:
    assert RunningStream().next(2) == ["retry: 3000\n\n", "event: begin\nid: 7\ndata: {}\n\n"]


def test_notifications_are_sent_in_order() -> None:
    running = RunningStream()
    running.next(2)
    for n in (1, 2):
        running.hub.publish(TOPIC, {"n": n})
    assert running.next(2) == ["event: news\ndata: 1\n\n", "event: news\ndata: 2\n\n"]


def test_missed_changes_are_found_by_polling() -> None:
    running = RunningStream(step_s=3)
    running.next(2)
    running.source.missed.append(Frame("found", 1))
    assert "event: found" in "".join(running.next(3))


def test_listener_that_missed_something_polls_at_once() -> None:
    running = RunningStream()
    running.next(2)
    running.source.missed.append(Frame("found", 1))
    running.hub.mark_missed()
    assert running.next(1) == ["event: found\ndata: 1\n\n"]


def test_idle_stream_sends_heartbeats() -> None:
    running = RunningStream(step_s=4)
    assert ": heartbeat\n\n" in running.next(4)[2:]


def test_stream_ends_with_the_server() -> None:
    running = RunningStream()
    running.next(2)
    running.stop.set()
    assert list(running.frames) == []


def test_stream_ends_when_permission_is_revoked() -> None:
    running = RunningStream(step_s=5, allowed=lambda: False)
    running.next(2)
    running.hub.publish(TOPIC, {"n": 1})
    rest = list(running.frames)
    assert len(rest) < 5  # a few frames until the next check, then the end


def test_closed_stream_leaves_no_listener() -> None:
    running = RunningStream()
    running.next(2)
    running.frames.close()  # type: ignore[attr-defined]  # it is a generator
    assert not running.hub._listeners


def test_database_failure_ends_the_stream() -> None:
    running = RunningStream()

    def fail(_notes: Sequence[Notification]) -> Iterable[Frame]:
        raise OperationalError("SELECT 1", {}, OSError("gone"))

    running.source.on_notes = fail  # type: ignore[method-assign]
    running.next(2)
    running.hub.publish(TOPIC, {"n": 1})
    assert list(running.frames) == []
