"""Finds free TCP ports and checks whether a port is in use or responds."""

from __future__ import annotations

import socket

LOOPBACK = "127.0.0.1"


def free_port() -> int:
    """A port of the loopback address that is free now."""
    with socket.socket() as probe:
        probe.bind((LOOPBACK, 0))
        return int(probe.getsockname()[1])


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
