"""A proxy in front of PostgreSQL that keeps notifications to itself, as a pooler does that shares connections."""

from __future__ import annotations

import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from urllib.parse import parse_qs, urlsplit

NOTIFICATION = b"A"


@contextmanager
def deaf_pooler(url: str) -> Iterator[str]:
    """The URL of the same database through the proxy."""
    parts = urlsplit(url)
    address = f"{parse_qs(parts.query)['host'][0]}/.s.PGSQL.5432"
    with socket.create_server(("127.0.0.1", 0)) as listening:
        threading.Thread(target=_accept, args=(listening, address), daemon=True).start()
        port = listening.getsockname()[1]
        yield f"postgresql://{parts.username}@127.0.0.1:{port}{parts.path}?sslmode=disable&gssencmode=disable"


def _accept(listening: socket.socket, address: str) -> None:
    with suppress(OSError):
        while True:
            client, server = listening.accept()[0], socket.socket(socket.AF_UNIX)
            server.connect(address)
            for forward, ends in ((_questions, (client, server)), (_answers, (server, client))):
                threading.Thread(target=forward, args=ends, daemon=True).start()


def _questions(client: socket.socket, server: socket.socket) -> None:
    with suppress(OSError), client, server:
        while text := client.recv(65536):
            server.sendall(text)


def _answers(server: socket.socket, client: socket.socket) -> None:
    with suppress(OSError), server.makefile("rb") as stream:
        while head := stream.read(5):
            body = stream.read(struct.unpack("!I", head[1:])[0] - 4)
            if head[:1] != NOTIFICATION:
                client.sendall(head + body)
