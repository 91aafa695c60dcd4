"""Finds free TCP ports and checks whether a port is in use or responds."""

from __future__ import annotations

import secrets
import socket

LOOPBACK = "127.0.0.1"
SERVER_PORTS = range(15_000, 32_000)


def free_port() -> int:
    """A port of the loopback address that is free now, and that no outgoing connection is given later.

    A server that is stopped and started again finds its port free: outgoing connections have higher ones.
    """
    while True:
        port = secrets.choice(SERVER_PORTS)
        if not is_taken(port):
            return port


def is_taken(port: int) -> bool:
    """Whether binding the port would fail, however recently it was in use."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOOPBACK, port))
        except OSError:
            return True
    return False


def responds(port: int, ask: bytes = b"", expect: bytes = b"") -> bool:
    """Whether the port accepts a connection and, sent `ask`, responds with `expect`."""
    try:
        with socket.create_connection((LOOPBACK, port), timeout=1) as connection:
            connection.sendall(ask)
            return connection.recv(len(expect)) == expect if expect else True
    except OSError:
        return False
