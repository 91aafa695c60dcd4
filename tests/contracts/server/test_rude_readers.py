"""Readers of streams that leave without a word: each frees its place, although nothing is sent that could fail."""

from __future__ import annotations

import signal
import socket
import struct
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from scripts.processes.ports import LOOPBACK
from sync_server.waiting import asgi, channels, http_protocol
from tests.app_server import AppServer, Concert
from tests.contracts.facts.memory import eventually

RESET_AT_CLOSE = struct.pack("ii", 1, 0)


@pytest.fixture
def app_server(sqlite_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[AppServer]:
    """Without heartbeats, which would find the closed connection by themselves after a while."""
    monkeypatch.setattr(channels, "HEARTBEAT_EVERY_S", 3_600.0)
    made = AppServer(sqlite_url, tmp_path)
    yield made
    made.close()


@pytest.fixture
def path(app_server: AppServer, concert: Concert) -> str:
    """A stream that anybody may read, of an event where nothing happens."""
    concert.api.post(f"{concert.path}/publish", {}, 200)
    app_server.run_worker()
    return f"/api/public/events/{concert.event['id']}/live"


def opened(app_server: AppServer, path: str) -> socket.socket:
    connection = socket.create_connection((LOOPBACK, app_server.listener.port), timeout=30)
    connection.sendall(f"GET {path} HTTP/1.1\r\nHost: gatehouse\r\n\r\n".encode())
    assert connection.recv(4_096).startswith(b"HTTP/1.1 200")
    eventually(lambda: taken(app_server) == 1, "it has a place")
    return connection


def taken(app_server: AppServer) -> int:
    return app_server.listener.app.places.taken


def test_a_reader_that_resets_its_connection_frees_its_place(app_server: AppServer, path: str) -> None:
    connection = opened(app_server, path)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET_AT_CLOSE)
    connection.close()
    eventually(lambda: taken(app_server) == 0, "its place is free")


def test_a_reader_that_closes_its_half_frees_its_place(app_server: AppServer, path: str) -> None:
    connection = opened(app_server, path)
    connection.shutdown(socket.SHUT_WR)
    eventually(lambda: taken(app_server) == 0, "its place is free")
    connection.close()


def test_a_reader_that_is_killed_frees_its_place(app_server: AppServer, path: str) -> None:
    program = (
        "import socket, sys, time\n"
        "connection = socket.create_connection((sys.argv[1], int(sys.argv[2])))\n"
        "connection.sendall(sys.argv[3].encode())\n"
        "print(connection.recv(100)[:12].decode(), flush=True)\n"
        "time.sleep(60)\n"
    )
    request = f"GET {path} HTTP/1.1\r\nHost: gatehouse\r\n\r\n"
    arguments = [sys.executable, "-c", program, LOOPBACK, str(app_server.listener.port), request]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True) as reader:
        assert reader.stdout is not None and reader.stdout.readline() == "HTTP/1.1 200\n"
        eventually(lambda: taken(app_server) == 1, "it has a place")
        reader.send_signal(signal.SIGKILL)
        eventually(lambda: taken(app_server) == 0, "its place is free")


def test_a_body_that_does_not_arrive_is_refused(
    app_server: AppServer, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(asgi, "BODY_WITHIN_S", 0.1)
    with socket.create_connection((LOOPBACK, app_server.listener.port), timeout=30) as connection:
        connection.sendall(b"POST /sync/v1/changes HTTP/1.1\r\nHost: gatehouse\r\nContent-Length: 100\r\n\r\nx")
        assert connection.recv(100).startswith(b"HTTP/1.1 400")
    opened(app_server, path).close()


def test_a_reader_that_never_finishes_its_request_is_let_go(
    app_server: AppServer, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http_protocol, "HEADERS_WITHIN_S", 0.2)
    address = LOOPBACK, app_server.listener.port
    with socket.create_connection(address, timeout=30) as silent, socket.create_connection(address, timeout=30) as slow:
        slow.sendall(b"GET / HTTP/1.1\r\nHost: gate")
        assert (silent.recv(1), slow.recv(1)) == (b"", b"")
    with opened(app_server, path) as reading:  # whoever has asked stays
        assert not reading.recv(4_096).startswith(b"HTTP/1.1")
