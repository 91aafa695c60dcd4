"""The bus: notifications to whoever listens now, in this process or, through Redis, in all; nothing is stored."""

from __future__ import annotations

import threading
from collections import defaultdict, deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

QUEUE_LIMIT = 1_000
"""Notifications that a listener may leave unread; beyond that the oldest are dropped, and it is told so."""


@dataclass(frozen=True, slots=True)
class Notification:
    """One message on a topic."""

    topic: str
    body: Mapping[str, Any]


class Listener:
    """Receives the notifications of some topics; close it, or use it as a context manager."""

    def __init__(self, bus: LocalBus, topics: frozenset[str]) -> None:
        self._bus, self.topics = bus, topics
        self._queue: deque[Notification] = deque()
        self._missed = False
        self._arrived = threading.Condition()

    def wait(self, timeout_s: float) -> list[Notification]:
        """The unread notifications; waits for one where there are none, and returns none after the timeout."""
        with self._arrived:
            if timeout_s > 0:
                self._arrived.wait_for(self._has_news, timeout_s)
            notifications = list(self._queue)
            self._queue.clear()
            return notifications

    def missed(self) -> bool:
        """Whether a notification may have been missed since the last call: then the caller must look itself."""
        with self._arrived:
            missed, self._missed = self._missed, False
            return missed

    def receive(self, notification: Notification) -> None:
        """Queue a notification."""
        with self._arrived:
            if len(self._queue) >= QUEUE_LIMIT:
                self._queue.popleft()
                self._missed = True
            self._queue.append(notification)
            self._arrived.notify_all()

    def mark_missed(self) -> None:
        """Record that a notification may have been missed."""
        with self._arrived:
            self._missed = True
            self._arrived.notify_all()

    def close(self) -> None:
        """Stop listening."""
        self._bus.leave(self)

    def _has_news(self) -> bool:
        return bool(self._queue) or self._missed

    def __enter__(self) -> Listener:
        """Listen until the end of the block."""
        return self

    def __exit__(self, *_: object) -> None:
        """Stop listening."""
        self.close()


class Bus(Protocol):
    """Publishes notifications to all listeners of a topic. Who needs every fact subscribes to the outbox instead."""

    def publish(self, topic: str, body: Mapping[str, Any]) -> None:
        """Publish a notification; does not fail without listeners or without Redis."""
        ...

    def publish_all(self, notifications: Sequence[Notification]) -> None:
        """Publish many notifications, in order, in one message."""
        ...

    def listen(self, topics: Iterable[str]) -> Listener:
        """Listen to these topics from now on."""
        ...

    def serve(self, stop: threading.Event) -> None:
        """Receive from other processes until the stop; runs in a thread of its own."""
        ...


class LocalBus:
    """A bus within one process."""

    def __init__(self) -> None:
        self._listeners: dict[str, set[Listener]] = defaultdict(set)
        self._lock = threading.Lock()

    def publish(self, topic: str, body: Mapping[str, Any]) -> None:
        """Publish to the listeners of this process."""
        with self._lock:
            listeners = list(self._listeners.get(topic, ()))
        notification = Notification(topic, body)
        for listener in listeners:
            listener.receive(notification)

    def publish_all(self, notifications: Sequence[Notification]) -> None:
        """Publish all to the listeners of this process."""
        for notification in notifications:
            self.publish(notification.topic, notification.body)

    def listen(self, topics: Iterable[str]) -> Listener:
        """Listen to these topics from now on."""
        listener = Listener(self, frozenset(topics))
        with self._lock:
            for topic in listener.topics:
                self._listeners[topic].add(listener)
        return listener

    def leave(self, listener: Listener) -> None:
        """Remove a listener."""
        with self._lock:
            for topic in listener.topics:
                self._listeners[topic].discard(listener)
                if not self._listeners[topic]:
                    del self._listeners[topic]

    def mark_missed(self) -> None:
        """Tell all listeners that a notification may have been missed."""
        with self._lock:
            listeners = {listener for some in self._listeners.values() for listener in some}
        for listener in listeners:
            listener.mark_missed()

    def serve(self, stop: threading.Event) -> None:
        """Wait for the stop: there are no other processes."""
        stop.wait()


def organisation_topic(organisation_id: str) -> str:
    """The topic of an organisation's events: created, changed, or with a new status."""
    return f"events:org:{organisation_id}"


def event_topic(event_id: str) -> str:
    """The topic of one event."""
    return f"events:event:{event_id}"


def occupancy_topic(organisation_id: str, event: str | int) -> str:
    """The topic of an event's occupancy; `event` is its number."""
    return f"occupancy:{organisation_id}:{event}"
