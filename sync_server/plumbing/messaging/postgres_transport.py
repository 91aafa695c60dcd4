"""Carries the bus through LISTEN and NOTIFY of PostgreSQL, on connections of its own."""

from __future__ import annotations

import select
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final

import psycopg

from sync_server.plumbing.messaging.shared_bus import Receive

CHANNEL: Final = "gatehouse_bus"
HEARD_WITHIN_S: Final = 3.0
# A connection whose other end has vanished is found within a quarter of a minute.
_CONNECT: Final[dict[str, Any]] = {
    "connect_timeout": 5,
    "keepalives_idle": 5,
    "keepalives_interval": 3,
    "keepalives_count": 3,
    "application_name": "gatehouse bus",
}
_NOTIFY: Final = "SELECT pg_notify(%s, message) FROM unnest(%s::text[]) AS message"


class NotHeardError(OSError):
    """The connection takes LISTEN but receives nothing, as behind a pooler that shares connections."""


class PostgresTransport:
    """Notifies in a transaction of its own: inside those that write, NOTIFY would make all commits queue up."""

    max_bytes = 7_900  # PostgreSQL takes less than 8,000
    errors: tuple[type[Exception], ...] = (psycopg.Error, OSError)

    def __init__(self, url: str) -> None:
        """The URL must lead to PostgreSQL itself, or to a pooler that leaves each client its own connection."""
        self._url = url
        self._sending: psycopg.Connection[Any] | None = None

    def send(self, messages: Sequence[bytes]) -> bool:
        """Notify the channel, in one statement."""
        texts = [message.decode() for message in messages]
        return self._notify(texts) or self._notify(texts)  # the connection may have died while idle

    def _notify(self, texts: list[str]) -> bool:
        try:
            if self._sending is None:
                self._sending = self._open()
            self._sending.execute(_NOTIFY, (CHANNEL, texts))
        except self.errors:
            self.close()
            return False
        return True

    @contextmanager
    def connect(self) -> Iterator[Receive]:
        """Listen to the channel; NotHeardError where notifications do not arrive."""
        with self._open() as connection:
            self._require_heard(connection)
            connection.execute(f"LISTEN {CHANNEL}")
            poll = select.poll()
            poll.register(connection.fileno(), select.POLLIN)
            yield lambda seconds: _received(connection, poll, seconds)

    def _require_heard(self, connection: psycopg.Connection[Any]) -> None:
        """Notify from another connection, on a channel that nobody else uses, and wait for it."""
        channel = f"{CHANNEL}_{connection.info.backend_pid}"
        connection.execute(f"LISTEN {channel}")
        with self._open() as other:
            other.execute("SELECT pg_notify(%s, '')", (channel,))
            if not list(connection.notifies(timeout=HEARD_WITHIN_S, stop_after=1)):
                raise NotHeardError("notifications of PostgreSQL do not arrive")
        connection.execute(f"UNLISTEN {channel}")

    def close(self) -> None:
        """Close the connection that notifies."""
        connection, self._sending = self._sending, None
        if connection is not None:
            connection.close()

    def _open(self) -> psycopg.Connection[Any]:
        return psycopg.connect(self._url, autocommit=True, prepare_threshold=None, **_CONNECT)


def _received(connection: psycopg.Connection[Any], poll: select.poll, seconds: float) -> Iterable[bytes]:
    # psycopg's own wait wakes up ten times a second.
    poll.poll(round(seconds * 1000))
    for notification in connection.notifies(timeout=0):
        yield notification.payload.encode()
