"""Many clients at once from one thread: each has a connection of its own, and asks again as soon as it is answered."""

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
class Crowd:
    """What came of it."""

    seconds: float = 0.0
    millis: list[float] = field(default_factory=list)
    statuses: Counter[int] = field(default_factory=Counter)

    @property
    def rate(self) -> float:
        """Answers a second."""
        return len(self.millis) / self.seconds

    def add(self, other: Crowd) -> None:
        """What came of another time, as one with this."""
        self.seconds += other.seconds
        self.millis += other.millis
        self.statuses += other.statuses


@dataclass
class _Client:
    requests: Iterator[bytes]
    line: socket.socket
    begun: float = 0.0
    got: bytes = b""
    wanted: int | None = None

    def ask(self) -> bool:
        """Send the next request; False where there is none."""
        request = next(self.requests, None)
        if request is None:
            return False
        self.got, self.wanted, self.begun = b"", None, time.perf_counter()
        self.line.sendall(request)
        return True

    def hear(self) -> int | None:
        """The status, once the whole answer is there."""
        some = self.line.recv(65_536)
        if not some:
            raise RuntimeError("the server closed a connection")
        self.got += some
        if self.wanted is None and _END in self.got:
            head, _, _ = self.got.partition(_END)
            length = next(line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:"))
            self.wanted = len(head) + len(_END) + int(length.split(b":")[1])
        done = self.wanted is not None and len(self.got) >= self.wanted
        return int(self.got[9:12]) if done else None


def ask(address: str, clients: int, requests: Callable[[int], Iterator[bytes]], *, each_anew: bool = False) -> Crowd:
    """Let so many clients ask until each has come to the end of its requests; `each_anew`: a new client for each."""
    split = urlsplit(address)
    where = split.hostname or "", split.port or 80
    told, waiting = Crowd(), selectors.DefaultSelector()
    crowd = [_Client(requests(turn), _connected(where)) for turn in range(clients)]
    begun = time.perf_counter()
    for client in crowd:
        waiting.register(client.line, selectors.EVENT_READ, client)
        client.ask()
    left = clients
    while left:
        for key, _ in waiting.select():
            client = key.data
            status = client.hear()
            if status is None:
                continue
            told.millis.append((time.perf_counter() - client.begun) * 1000)
            told.statuses[status] += 1
            if each_anew:
                waiting.unregister(client.line)
                client.line.close()
                client.line = _connected(where)
                waiting.register(client.line, selectors.EVENT_READ, client)
            if not client.ask():
                waiting.unregister(client.line)
                client.line.close()
                left -= 1
    told.seconds = time.perf_counter() - begun
    return told


def _connected(where: tuple[str, int]) -> socket.socket:
    line = socket.create_connection(where)
    line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return line


def post(path: str, body: bytes, **headers: str) -> bytes:
    """A request as it goes over the wire."""
    words = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in headers.items())
    return (
        f"POST {path} HTTP/1.1\r\nHost: bench\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\n{words}\r\n"
    ).encode() + body
