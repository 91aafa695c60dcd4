"""The bus through Redis: reaches every process; without Redis each process still reaches itself."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import orjson
from redis import Redis
from redis.client import PubSub
from redis.exceptions import RedisError

from sync_server.plumbing.logs import LOG
from sync_server.plumbing.messaging.bus import Listener, LocalBus, Notification
from sync_server.plumbing.redis_connection import RedisConnection

POLL_S = 0.2
RETRY_S = 0.5
LOST_AFTER_S = 5
"""A connection without an answer to a ping for so long counts as lost."""


class RedisBus:
    """A local bus, connected to those of other processes."""

    def __init__(self, connection: RedisConnection, prefix: str, mark: str) -> None:
        """`mark` identifies this process, so that it skips its own messages."""
        self._connection, self._mark = connection, mark
        self._channel = f"{prefix}:bus"
        self._local = LocalBus()
        self.joined = threading.Event()

    def publish(self, topic: str, body: Mapping[str, Any]) -> None:
        """Publish here at once, and to other processes while Redis answers."""
        self.publish_all([Notification(topic, body)])

    def publish_all(self, notifications: Sequence[Notification]) -> None:
        """Publish many notifications, in one message."""
        if not notifications:
            return
        self._local.publish_all(notifications)
        message = orjson.dumps({"from": self._mark, "notes": [(each.topic, each.body) for each in notifications]})
        self._connection.ask(lambda redis: redis.publish(self._channel, message), 0)

    def listen(self, topics: Iterable[str]) -> Listener:
        """Listen to these topics from now on, in all processes."""
        return self._local.listen(topics)

    def serve(self, stop: threading.Event) -> None:
        """Receive from other processes, reconnecting as often as needed."""
        client = Redis.from_url(self._connection.url, socket_timeout=LOST_AFTER_S, health_check_interval=LOST_AFTER_S)
        losses = 0
        while not stop.is_set():
            try:
                with PubSub(client.connection_pool) as pubsub:
                    pubsub.subscribe(self._channel)
                    while not stop.is_set():
                        losses = 0 if self._receive_next(pubsub) else losses
            except (RedisError, OSError) as problem:
                losses += 1
                self._disconnected(problem, losses)
                stop.wait(RETRY_S)
        client.close()

    def _receive_next(self, pubsub: PubSub) -> bool:
        message = pubsub.get_message(timeout=POLL_S)
        if message is None:
            return False
        if message["type"] == "subscribe":
            # What was published before this moment was missed.
            self._local.mark_missed()
            self.joined.set()
        elif message["type"] == "message":
            self._publish_received(message["data"])
        return True

    def _publish_received(self, data: bytes) -> None:
        try:
            message = orjson.loads(data)
            own = message["from"] == self._mark
            notifications = [] if own else [Notification(topic, body) for topic, body in message["notes"]]
        except (ValueError, TypeError, KeyError):
            self._local.mark_missed()  # from another version or another program: let listeners look themselves
            return
        self._local.publish_all(notifications)

    def _disconnected(self, problem: Exception, losses: int) -> None:
        self.joined.clear()
        if losses == 1:
            LOG.warning("bus_away", problem=type(problem).__name__, meaning="other processes are pubsub again later")
