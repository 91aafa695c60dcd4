"""Tells whoever listens now that something changed, in this process or through Redis in all of them; keeps nothing."""

from __future__ import annotations

import threading
from collections import defaultdict, deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

KEPT = 1_000
"""Messages that a listener may leave lying; beyond that it has missed something and must look anew."""


@dataclass(frozen=True, slots=True)
class Note:
    """Something that was told to a topic."""

    topic: str
    body: Mapping[str, Any]


class Listener:
    """What came to some topics since one began to listen; close it, or use it as a context."""

    def __init__(self, hub: Hub, topics: frozenset[str]) -> None:
        """Hears from now on."""
        self._hub, self.topics = hub, topics
        self._notes: deque[Note] = deque()
        self._missed = False
        self._rung = threading.Condition()

    def wait(self, timeout_s: float) -> list[Note]:
        """What came, at once where something lies here, else when it comes; nothing after the timeout."""
        with self._rung:
            if timeout_s > 0:
                self._rung.wait_for(self._anything, timeout_s)
            notes = list(self._notes)
            self._notes.clear()
            return notes

    def missed(self) -> bool:
        """Whether something may have been lost since the last time this was asked: then look anew."""
        with self._rung:
            missed, self._missed = self._missed, False
            return missed

    def hear(self, note: Note) -> None:
        """Lay a note before the listener."""
        with self._rung:
            if len(self._notes) >= KEPT:
                self._notes.popleft()
                self._missed = True
            self._notes.append(note)
            self._rung.notify_all()

    def warn(self) -> None:
        """Say that something may have been lost."""
        with self._rung:
            self._missed = True
            self._rung.notify_all()

    def close(self) -> None:
        """Hear nothing more."""
        self._hub.leave(self)

    def _anything(self) -> bool:
        return bool(self._notes) or self._missed

    def __enter__(self) -> Listener:
        """Listen for the time of a block."""
        return self

    def __exit__(self, *_: object) -> None:
        """Hear nothing more."""
        self.close()


class Bus(Protocol):
    """One place to tell, many to hear. Nothing is kept: whoever needs every fact reads the outbox."""

    def tell(self, topic: str, body: Mapping[str, Any]) -> None:
        """Say it to whoever listens now; never fails for want of listeners or of Redis."""
        ...

    def tell_all(self, notes: Sequence[Note]) -> None:
        """The same for many at once, in their order, at the price of one."""
        ...

    def listen(self, topics: Iterable[str]) -> Listener:
        """Hear what is told to these topics from now on."""
        ...

    def serve(self, stop: threading.Event) -> None:
        """Bring what other processes tell, until the stop; runs on a thread of its own."""
        ...


class Hub:
    """A bus within one process."""

    def __init__(self) -> None:
        """Nobody listens yet."""
        self._listeners: dict[str, set[Listener]] = defaultdict(set)
        self._turn = threading.Lock()

    def tell(self, topic: str, body: Mapping[str, Any]) -> None:
        """Say it to whoever listens in this process."""
        with self._turn:
            hearing = list(self._listeners.get(topic, ()))
        note = Note(topic, body)
        for listener in hearing:
            listener.hear(note)

    def tell_all(self, notes: Sequence[Note]) -> None:
        """Say all of it to whoever listens in this process."""
        for note in notes:
            self.tell(note.topic, note.body)

    def listen(self, topics: Iterable[str]) -> Listener:
        """Hear what is told to these topics from now on."""
        listener = Listener(self, frozenset(topics))
        with self._turn:
            for topic in listener.topics:
                self._listeners[topic].add(listener)
        return listener

    def leave(self, listener: Listener) -> None:
        """Tell this listener nothing more."""
        with self._turn:
            for topic in listener.topics:
                self._listeners[topic].discard(listener)
                if not self._listeners[topic]:
                    del self._listeners[topic]

    def warn(self) -> None:
        """Let all know that something may have been lost."""
        with self._turn:
            everybody = {listener for hearing in self._listeners.values() for listener in hearing}
        for listener in everybody:
            listener.warn()

    def serve(self, stop: threading.Event) -> None:
        """There are no other processes."""
        stop.wait()


def of_organisation(organisation_id: str) -> str:
    """The topic of an organisation's events: made, changed, walked on."""
    return f"events:org:{organisation_id}"


def of_event(event_id: str) -> str:
    """The topic of one event."""
    return f"events:event:{event_id}"


def of_occupancy(organisation_id: str, event: str | int) -> str:
    """The topic of who is inside; `event` is the event's number."""
    return f"occupancy:{organisation_id}:{event}"
