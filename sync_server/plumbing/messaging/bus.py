"""The bus: notifications to whoever listens now, in this process or in all of them; nothing is stored."""

from __future__ import annotations

import threading
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol, Self

from msgspec import Struct

from sync_server.plumbing.telemetry.logs import LOG

QUEUE_LIMIT = 1_000
"""Notifications that a listener may leave unread; beyond that the oldest are dropped, and it is told so."""


class Notification(Struct, frozen=True):
    """One message on a topic."""

    topic: str
    body: Mapping[str, Any]


Callback = Callable[[Notification | None], object]
"""Gets each notification, and None where some may have been missed. It delays everybody else: hand the work over."""


class Subscription:
    """Passes notifications of some topics to a callback until it is closed; a context manager."""

    def __init__(self, bus: LocalBus, topics: frozenset[str], callback: Callback | None = None) -> None:
        self._bus, self.topics, self._callback = bus, topics, callback

    def receive(self, notification: Notification | None) -> None:
        """Call back; None where notifications may have been missed."""
        try:
            if self._callback is not None:
                self._callback(notification)
        except Exception as problem:  # whoever publishes must not fail because of one subscriber
            LOG.error("subscriber_failed", topics=sorted(self.topics), exc_info=problem)

    def close(self) -> None:
        """End the subscription."""
        self._bus.leave(self)

    def __enter__(self) -> Self:
        """Subscribe until the end of the block."""
        return self

    def __exit__(self, *_: object) -> None:
        """End the subscription."""
        self.close()


class Listener(Subscription):
    """Queues the notifications of some topics for a thread that waits for them."""

    def __init__(self, bus: LocalBus, topics: frozenset[str]) -> None:
        super().__init__(bus, topics)
        self._queue: deque[Notification] = deque()
        self._missed = False
        self._arrived = threading.Condition()

    @property
    def is_quiet(self) -> bool:
        """Whether nothing has arrived, and nothing was missed: asked for at every hold, without the lock."""
        return not self._queue and not self._missed

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

    def receive(self, notification: Notification | None) -> None:
        """Queue a notification."""
        with self._arrived:
            if notification is None or len(self._queue) >= QUEUE_LIMIT:
                self._missed = True
            if notification is not None:
                if len(self._queue) >= QUEUE_LIMIT:
                    self._queue.popleft()
                self._queue.append(notification)
            self._arrived.notify_all()

    def _has_news(self) -> bool:
        return bool(self._queue) or self._missed


class Bus(Protocol):
    """Publishes notifications to all subscribers of a topic. Who needs every fact subscribes to the outbox instead."""

    def publish(self, topic: str, body: Mapping[str, Any]) -> None:
        """Publish a notification; does not fail without subscribers, nor while other processes are out of reach."""
        ...

    def publish_all(self, notifications: Sequence[Notification]) -> None:
        """Publish many notifications, in order."""
        ...

    def listen(self, topics: Iterable[str]) -> Listener:
        """Listen to these topics from now on, on a thread of one's own."""
        ...

    def subscribe(self, topics: Iterable[str], callback: Callback) -> Subscription:
        """Call back for each notification on these topics from now on, on the thread that publishes or receives it."""
        ...

    def serve(self, stop: threading.Event) -> None:
        """Receive from other processes until the stop; runs in a thread of its own."""
        ...

    def close(self) -> None:
        """Send what is still to be sent."""
        ...


class LocalBus:
    """A bus within one process."""

    def __init__(self) -> None:
        self._subscriptions: dict[str, set[Subscription]] = defaultdict(set)
        self._lock = threading.Lock()

    def publish(self, topic: str, body: Mapping[str, Any]) -> None:
        """Publish to the subscribers of this process."""
        with self._lock:
            subscriptions = list(self._subscriptions.get(topic, ()))
        notification = Notification(topic, body)
        for subscription in subscriptions:
            subscription.receive(notification)

    def publish_all(self, notifications: Sequence[Notification]) -> None:
        """Publish all to the subscribers of this process."""
        for notification in notifications:
            self.publish(notification.topic, notification.body)

    def listen(self, topics: Iterable[str]) -> Listener:
        """Listen to these topics from now on."""
        listener = Listener(self, frozenset(topics))
        self._join(listener)
        return listener

    def subscribe(self, topics: Iterable[str], callback: Callback) -> Subscription:
        """Call back for each notification on these topics from now on."""
        subscription = Subscription(self, frozenset(topics), callback)
        self._join(subscription)
        return subscription

    def _join(self, subscription: Subscription) -> None:
        with self._lock:
            for topic in subscription.topics:
                self._subscriptions[topic].add(subscription)

    def leave(self, subscription: Subscription) -> None:
        """Remove a subscription."""
        with self._lock:
            for topic in subscription.topics & self._subscriptions.keys():
                self._subscriptions[topic].discard(subscription)
                if not self._subscriptions[topic]:
                    del self._subscriptions[topic]

    def mark_missed(self, topic: str | None = None) -> None:
        """Tell the subscribers of a topic, or all, that a notification may have been missed."""
        with self._lock:
            affected = self._subscriptions.values() if topic is None else [self._subscriptions.get(topic, set())]
            subscriptions = {subscription for some in affected for subscription in some}
        for subscription in subscriptions:
            subscription.receive(None)

    def serve(self, stop: threading.Event) -> None:
        """Wait for the stop: there are no other processes."""
        stop.wait()

    def close(self) -> None:
        """Nothing is waiting to be sent."""


def organisation_topic(organisation_id: str) -> str:
    """The topic of an organisation's events: created, changed, or with a new status."""
    return f"events:org:{organisation_id}"


def event_topic(event_id: str) -> str:
    """The topic of one event."""
    return f"events:event:{event_id}"


def occupancy_topic(organisation_id: str, event: str | int) -> str:
    """The topic of an event's occupancy; `event` is its number."""
    return f"occupancy:{organisation_id}:{event}"
