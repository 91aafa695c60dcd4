"""Load from many HTTP clients on one thread: each sends its next request as soon as it has a response."""

from __future__ import annotations

import selectors
import socket
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from urllib.parse import urlsplit

_END = b"\r\n\r\n"


@dataclass
class LoadResult:
    """Duration, latencies and status counts of a run."""

    seconds: float = 0.0
    millis: list[float] = field(default_factory=list)
    statuses: Counter[int] = field(default_factory=Counter)

    @property
    def rate(self) -> float:
        """Responses per second."""
        return len(self.millis) / self.seconds

    def add(self, other: LoadResult) -> None:
        """Add another run to this one."""
        self.seconds += other.seconds
        self.millis += other.millis
        self.statuses += other.statuses


@dataclass
class _Client:
    requests: Iterator[bytes]
    connection: socket.socket
    started: float = 0.0
    received: bytes = b""
    expected: int | None = None

    def send_next(self) -> bool:
        """Send the next request; False if there is none."""
        request = next(self.requests, None)
        if request is None:
            return False
        self.received, self.expected, self.started = b"", None, time.perf_counter()
        self.connection.sendall(request)
        return True

    def receive(self) -> int | None:
        """The status once the whole response has arrived, else None."""
        chunk = self.connection.recv(65_536)
        if not chunk:
            raise RuntimeError("the server closed a connection")
        self.received += chunk
        if self.expected is None and _END in self.received:
            head, _, _ = self.received.partition(_END)
            length = next(header for header in head.lower().split(b"\r\n") if header.startswith(b"content-length:"))
            self.expected = len(head) + len(_END) + int(length.split(b":")[1])
        done = self.expected is not None and len(self.received) >= self.expected
        return int(self.received[9:12]) if done else None


def generate_load(
    address: str, clients: int, requests: Callable[[int], Iterator[bytes]], *, reconnect: bool = False
) -> LoadResult:
    """Run so many clients until each has sent all its requests; `reconnect` opens a connection per request."""
    split = urlsplit(address)
    where = split.hostname or "", split.port or 80
    result, waiting = LoadResult(), selectors.DefaultSelector()
    all_clients = [_Client(requests(number), _connected(where)) for number in range(clients)]
    started = time.perf_counter()
    for client in all_clients:
        waiting.register(client.connection, selectors.EVENT_READ, client)
        client.send_next()
    left = clients
    while left:
        for key, _ in waiting.select():
            client = key.data
            status = client.receive()
            if status is None:
                continue
            result.millis.append((time.perf_counter() - client.started) * 1000)
            result.statuses[status] += 1
            if reconnect:
                waiting.unregister(client.connection)
                client.connection.close()
                client.connection = _connected(where)
                waiting.register(client.connection, selectors.EVENT_READ, client)
            if not client.send_next():
                waiting.unregister(client.connection)
                client.connection.close()
                left -= 1
    result.seconds = time.perf_counter() - started
    return result


def _connected(address: tuple[str, int]) -> socket.socket:
    connection = socket.create_connection(address)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return connection


def post(path: str, body: bytes, **headers: str) -> bytes:
    """The bytes of a POST request with a JSON body."""
    lines = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in headers.items())
    return (
        f"POST {path} HTTP/1.1\r\nHost: bench\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\n{lines}\r\n"
    ).encode() + body
