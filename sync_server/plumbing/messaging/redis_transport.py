"""Carries the bus through a channel of Redis."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

from redis import Redis
from redis.client import PubSub
from redis.exceptions import RedisError

from sync_server.plumbing.messaging.shared_bus import Receive
from sync_server.plumbing.redis_connection import RedisConnection

LOST_AFTER_S = 5
"""A connection without an answer to a ping for so long counts as lost."""


class RedisTransport:
    """Sends through the connection that the cache uses too, and receives on one of its own."""

    max_bytes = 1_000_000
    errors: tuple[type[Exception], ...] = (RedisError, OSError)

    def __init__(self, connection: RedisConnection, prefix: str) -> None:
        """Installations with different prefixes do not hear each other."""
        self._connection, self._channel = connection, f"{prefix}:bus"

    def send(self, messages: Sequence[bytes]) -> bool:
        """Publish on the channel, in one round trip."""

        def publish(redis: Redis) -> bool:
            with redis.pipeline(transaction=False) as pipeline:
                for message in messages:
                    pipeline.publish(self._channel, message)
                pipeline.execute()
            return True

        return self._connection.ask(publish, False)

    @contextmanager
    def connect(self) -> Iterator[Receive]:
        """Subscribe to the channel."""
        with (
            Redis.from_url(
                self._connection.url, socket_timeout=LOST_AFTER_S, health_check_interval=LOST_AFTER_S
            ) as client,
            client.pubsub() as pubsub,
        ):
            pubsub.subscribe(self._channel)
            if pubsub.get_message(timeout=LOST_AFTER_S) is None:
                raise TimeoutError("Redis did not confirm the subscription")
            yield lambda seconds: _received(pubsub, seconds)

    def close(self) -> None:
        """The connection is closed by whoever opened it."""


def _received(pubsub: PubSub, seconds: float) -> Iterable[bytes]:
    message = pubsub.get_message(timeout=seconds)
    if message is not None and message["type"] != "message":
        raise RedisError("the client has reconnected by itself")  # and may have missed something meanwhile
    if message is not None:
        yield message["data"]
