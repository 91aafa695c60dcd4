"""The bus of all processes of an installation: a local bus in each, connected by a transport."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

import orjson

from sync_server.plumbing.messaging.bus import Callback, Listener, LocalBus, Notification, Subscription
from sync_server.plumbing.messaging.sender import Sender
from sync_server.plumbing.telemetry.logs import LOG

CHECK_STOP_S = 0.5
RETRY_S = 0.5

Receive = Callable[[float], Iterable[bytes]]
"""The messages that arrive within so many seconds, each as soon as it arrives; raises once the connection is lost."""


class Transport(Protocol):
    """Carries messages between processes; loses them while it is away."""

    max_bytes: int
    errors: tuple[type[Exception], ...]

    def send(self, messages: Sequence[bytes]) -> bool:
        """Send messages to all processes, in order; False where some may be lost."""
        ...

    def connect(self) -> AbstractContextManager[Receive]:
        """Receive from now on; raises one of `errors` where that is not possible."""
        ...

    def close(self) -> None:
        """Close what `send` opened."""
        ...


class SharedBus:
    """A local bus that also reaches other processes; while it does not, subscribers learn that they may miss some."""

    def __init__(self, transport: Transport, mark: str) -> None:
        """`mark` identifies this process, so that it skips its own messages."""
        self._transport, self._mark = transport, mark
        self._local = LocalBus()
        self._sender = Sender(transport.send, transport.max_bytes, mark)
        self.joined = threading.Event()

    def publish(self, topic: str, body: Mapping[str, Any]) -> None:
        """Publish here at once, and to other processes right afterwards."""
        self.publish_all([Notification(topic, body)])

    def publish_all(self, notifications: Sequence[Notification]) -> None:
        """Publish many notifications, in order."""
        if notifications:
            self._local.publish_all(notifications)
            self._sender.put(notifications)

    def listen(self, topics: Iterable[str]) -> Listener:
        """Listen to these topics from now on, in all processes."""
        return self._local.listen(topics)

    def subscribe(self, topics: Iterable[str], callback: Callback) -> Subscription:
        """Call back for notifications from all processes."""
        return self._local.subscribe(topics, callback)

    def serve(self, stop: threading.Event) -> None:
        """Receive from other processes, reconnecting as often as needed."""
        losses = 0
        while not stop.is_set():
            try:
                with self._transport.connect() as receive:
                    losses = 0
                    self._local.mark_missed()  # whatever was published before this moment
                    self.joined.set()
                    while not stop.is_set():
                        for message in receive(CHECK_STOP_S):
                            self._publish_received(message)
            except self._transport.errors as problem:
                losses += 1
                self._disconnected(problem, losses)
                stop.wait(RETRY_S)

    def close(self) -> None:
        """Send what is still to be sent, then close the transport."""
        self._sender.close()
        self._transport.close()

    def _publish_received(self, data: bytes) -> None:
        try:
            message = orjson.loads(data)
            own, missed = message["from"] == self._mark, message.get("missed", False)
            notes = [(str(topic), body) for topic, body in message["notes"]]
        except (ValueError, TypeError, KeyError, AttributeError):
            self._local.mark_missed()  # from another version or another program: let subscribers look themselves
            return
        if own:
            return
        if missed:
            self._local.mark_missed()
        for topic, body in notes:
            if body is None:
                self._local.mark_missed(topic)
            else:
                self._local.publish(topic, body)

    def _disconnected(self, problem: Exception, losses: int) -> None:
        was_joined = self.joined.is_set()
        self.joined.clear()
        if was_joined:
            self._local.mark_missed()  # whoever rests looks now, and more often until the bus is back
        if losses == 1:
            LOG.warning(
                "bus_away", problem=type(problem).__name__, meaning="other processes are heard a few seconds later"
            )
