"""A bus through Redis: every process hears every other; without Redis each goes on hearing itself."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import orjson
from redis import Redis
from redis.client import PubSub
from redis.exceptions import RedisError

from sync_server.plumbing.bus import Hub, Listener, Note
from sync_server.plumbing.logs import LOG
from sync_server.plumbing.redis_line import RedisLine

LOOK_FOR_STOP_S = 0.2
TRY_AGAIN_S = 0.5
DEAF_AFTER_S = 5
"""A line on which Redis answers no ping for so long is dead, whatever the network says."""


class RedisBus:
    """A hub for this process, and a line to those of others."""

    def __init__(self, line: RedisLine, prefix: str, mark: str) -> None:
        """`mark` is this process's own, so that nobody hears themselves twice."""
        self._line, self._mark = line, mark
        self._channel = f"{prefix}:bus"
        self._hub = Hub()
        self.joined = threading.Event()

    def tell(self, topic: str, body: Mapping[str, Any]) -> None:
        """Say it here at once, and to the others as long as Redis is there."""
        self.tell_all([Note(topic, body)])

    def tell_all(self, notes: Sequence[Note]) -> None:
        """The same for many, in one message."""
        if not notes:
            return
        self._hub.tell_all(notes)
        told = orjson.dumps({"from": self._mark, "notes": [(note.topic, note.body) for note in notes]})
        self._line.ask(lambda redis: redis.publish(self._channel, told), 0)

    def listen(self, topics: Iterable[str]) -> Listener:
        """Hear what is told to these topics from now on, anywhere."""
        return self._hub.listen(topics)

    def serve(self, stop: threading.Event) -> None:
        """Bring what others tell, over one line after the other."""
        client = Redis.from_url(self._line.url, socket_timeout=DEAF_AFTER_S, health_check_interval=DEAF_AFTER_S)
        losses = 0
        while not stop.is_set():
            try:
                with PubSub(client.connection_pool) as heard:
                    heard.subscribe(self._channel)
                    while not stop.is_set():
                        losses = 0 if self._bring(heard) else losses
            except (RedisError, OSError) as problem:
                losses += 1
                self._deaf(problem, losses)
                stop.wait(TRY_AGAIN_S)
        client.close()

    def _bring(self, heard: PubSub) -> bool:
        message = heard.get_message(timeout=LOOK_FOR_STOP_S)
        if message is None:
            return False
        if message["type"] == "subscribe":
            # Whatever was told before this moment passed us by.
            self._hub.warn()
            self.joined.set()
        elif message["type"] == "message":
            self._hear(message["data"])
        return True

    def _hear(self, data: bytes) -> None:
        try:
            told = orjson.loads(data)
            notes = [Note(topic, body) for topic, body in told["notes"]] if told["from"] != self._mark else []
        except (ValueError, TypeError, KeyError):
            self._hub.warn()  # another version's words, or a stranger's: whoever listens looks for themselves
            return
        self._hub.tell_all(notes)

    def _deaf(self, problem: Exception, losses: int) -> None:
        self.joined.clear()
        if losses == 1:
            LOG.warning("bus_away", problem=type(problem).__name__, meaning="other processes are heard again later")
