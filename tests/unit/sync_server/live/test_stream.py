"""A stream: told at once what is noted, looked for what is not, heartbeats between, and an end for whoever must go."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice

from sqlalchemy.exc import OperationalError

from sync_server.live.frames import Frame
from sync_server.live.stream import Reader, told
from sync_server.plumbing.bus import Hub, Listener, Note

TOPIC = "events:event:e1"


class Clock:
    """Goes on by so much whenever somebody looks at it."""

    def __init__(self, step_s: float) -> None:
        self.now, self._step = 0, int(step_s * 1e9)

    def __call__(self) -> int:
        self.now += self._step
        return self.now


class Impatient(Listener):
    """Hears what is there and waits for nothing."""

    def wait(self, timeout_s: float) -> list[Note]:
        return super().wait(0)


class Told:
    """A story that says what it was asked."""

    def __init__(self) -> None:
        self.unheard: list[Frame] = []

    def begin(self) -> Iterable[Frame]:
        return [Frame("begin", {}, 7)]

    def news(self, notes: Sequence[Note]) -> Iterable[Frame]:
        return [Frame("news", note.body["n"]) for note in notes]

    def patience_s(self) -> float:
        return 1.0

    def settled(self) -> Iterable[Frame]:
        return ()

    def look(self) -> Iterator[Frame]:
        while self.unheard:
            yield self.unheard.pop()


class Room:
    """One stream with everything it needs."""

    def __init__(self, step_s: float = 0.0, welcome: Callable[[], bool] = lambda: True) -> None:
        self.hub, self.story, self.stop = Hub(), Told(), threading.Event()
        self.listener = Impatient(self.hub, frozenset({TOPIC}))
        self.hub._listeners[TOPIC].add(self.listener)
        reader = Reader(welcome, self.stop, Clock(step_s), look_every_s=lambda: 10)
        self.frames = told(self.story, self.listener, reader)

    def next(self, count: int) -> list[str]:
        return list(islice(self.frames, count))


def test_a_stream_begins_with_when_to_come_again_and_how_things_stand() -> None:
    assert Room().next(2) == ["retry: 3000\n\n", "event: begin\nid: 7\ndata: {}\n\n"]


def test_what_is_noted_is_told_in_its_order() -> None:
    room = Room()
    room.next(2)
    for n in (1, 2):
        room.hub.tell(TOPIC, {"n": n})
    assert room.next(2) == ["event: news\ndata: 1\n\n", "event: news\ndata: 2\n\n"]


def test_what_the_bus_has_not_told_is_found_after_a_while() -> None:
    room = Room(step_s=3)
    room.next(2)
    room.story.unheard.append(Frame("found", 1))
    assert "event: found" in "".join(room.next(3))


def test_a_listener_that_may_have_missed_something_looks_at_once() -> None:
    room = Room()
    room.next(2)
    room.story.unheard.append(Frame("found", 1))
    room.hub.warn()
    assert room.next(1) == ["event: found\ndata: 1\n\n"]


def test_silence_is_broken_by_heartbeats() -> None:
    room = Room(step_s=4)
    assert ": heartbeat\n\n" in room.next(4)[2:]


def test_the_stream_ends_with_the_server() -> None:
    room = Room()
    room.next(2)
    room.stop.set()
    assert list(room.frames) == []


def test_whoever_may_listen_no_more_hears_nothing_more() -> None:
    room = Room(step_s=5, welcome=lambda: False)
    room.next(2)
    room.hub.tell(TOPIC, {"n": 1})
    rest = list(room.frames)
    assert len(rest) < 5  # a few words until it is asked again, then the end


def test_a_stream_that_ends_leaves_nobody_listening() -> None:
    room = Room()
    room.next(2)
    room.frames.close()  # type: ignore[attr-defined]  # it is a generator
    assert not room.hub._listeners


def test_a_database_that_goes_away_ends_the_stream_and_not_the_server() -> None:
    room = Room()

    def fail(_notes: Sequence[Note]) -> Iterable[Frame]:
        raise OperationalError("SELECT 1", {}, OSError("gone"))

    room.story.news = fail  # type: ignore[method-assign]
    room.next(2)
    room.hub.tell(TOPIC, {"n": 1})
    assert list(room.frames) == []
