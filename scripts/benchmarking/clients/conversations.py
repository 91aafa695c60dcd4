"""Load from clients that say the next thing depending on the answer: one purchase is one conversation."""

from __future__ import annotations

import selectors
import socket
import time
from collections import Counter
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from flask.testing import FlaskClient

Answer = tuple[int, bytes]
"""Status and body."""
Conversation = Generator[bytes, Answer, str]
"""Yields requests, gets their answers, and returns how it ended."""

_END = b"\r\n\r\n"


@dataclass
class Conversations:
    """How long a run took, how long each conversation took, and how they ended."""

    seconds: float = 0.0
    millis: list[float] = field(default_factory=list)
    endings: Counter[str] = field(default_factory=Counter)
    statuses: Counter[int] = field(default_factory=Counter)

    @property
    def rate(self) -> float:
        """Conversations per second."""
        return len(self.millis) / self.seconds


@dataclass
class _Client:
    coming: Iterator[Conversation]
    connection: socket.socket
    talk: Conversation | None = None
    started: float = 0.0
    received: bytes = b""

    def begin(self) -> bool:
        """Begin the next conversation; False if there is none."""
        self.talk = next(self.coming, None)
        if self.talk is None:
            return False
        self.started = time.perf_counter()
        self._send(next(self.talk))
        return True

    def _send(self, request: bytes) -> None:
        self.received = b""
        self.connection.sendall(request)

    def answer(self) -> Answer | None:
        """The answer, once it has arrived whole."""
        chunk = self.connection.recv(262_144)
        if not chunk:
            raise RuntimeError("the server closed a connection")
        self.received += chunk
        head, end, body = self.received.partition(_END)
        if not end:
            return None
        lengths = [line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")]
        length = int(lengths[0].split(b":")[1]) if lengths else 0  # 204 has no body
        return (int(head[9:12]), body) if len(body) >= length else None

    def go_on(self, answer: Answer) -> str | None:
        """Say the next thing; how the conversation ended, if it has."""
        assert self.talk is not None  # noqa: S101 - begun
        try:
            self._send(self.talk.send(answer))
        except StopIteration as end:
            return str(end.value)
        return None


def talk(address: str, clients: Sequence[Iterator[Conversation]]) -> Conversations:
    """Let each client have its conversations one after another, all clients at once."""
    split = urlsplit(address)
    result, waiting = Conversations(), selectors.DefaultSelector()
    open_ones = [_Client(each, socket.create_connection((split.hostname or "", split.port or 80))) for each in clients]
    started = time.perf_counter()
    left = 0
    for client in open_ones:
        client.connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        waiting.register(client.connection, selectors.EVENT_READ, client)
        left += client.begin()
    while left:
        for key, _ in waiting.select():
            client = key.data
            answer = client.answer()
            if answer is None:
                continue
            result.statuses[answer[0]] += 1
            ending = client.go_on(answer)
            if ending is None:
                continue
            result.millis.append((time.perf_counter() - client.started) * 1000)
            result.endings[ending] += 1
            if not client.begin():
                waiting.unregister(client.connection)
                left -= 1
    result.seconds = time.perf_counter() - started
    for client in open_ones:
        client.connection.close()
    return result


def timed(talk: Conversation, millis: list[float]) -> Conversation:
    """The same conversation, whose duration is noted."""
    started = time.perf_counter()
    ending = yield from talk
    millis.append((time.perf_counter() - started) * 1000)
    return ending


def asked(client: FlaskClient, request: bytes) -> Answer:
    """The answer of an application in this process."""
    head, _, body = request.partition(_END)
    line, *lines = head.decode().split("\r\n")
    method, path, _ = line.split()
    headers = [each.split(": ", 1) for each in lines]
    cookies = [value for name, value in headers if name == "Cookie"]
    kept = [(name, value) for name, value in headers if name not in {"Cookie", "Host", "Content-Length"}]
    for cookie in cookies:
        name, _, value = cookie.partition("=")
        client.set_cookie(name, value)
    answer = client.open(path, method=method, data=body, headers=kept)
    return answer.status_code, answer.get_data()
