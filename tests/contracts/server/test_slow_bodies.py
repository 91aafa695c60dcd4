"""Clients that send a body drop by drop, or nothing of it, do not keep the server from the others."""

from __future__ import annotations

import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from scripts.processes.child import Child
from scripts.processes.ports import LOOPBACK, free_port
from shared.errors import Unavailable
from sync_server.plumbing.requests.request_bodies import BodyReads
from tests.contracts.server.test_serving import ROOT, is_ready, read

CONNECTIONS = 260
HEAD = b"POST /api/session HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n"


@pytest.fixture
def port(tmp_path: Path) -> Iterator[int]:
    number = free_port()
    environment = {
        "GATEHOUSE_DATABASE_URL": f"sqlite:///{tmp_path}/gatehouse.db",
        "GATEHOUSE_MASTER_KEY_FILE": str(tmp_path / "master.key"),
        "GATEHOUSE_LOG_LEVEL": "error",
        "GATEHOUSE_BODY_SECONDS": "2",
    }
    command = [sys.executable, "-m", "sync_server", "serve", "--port", str(number)]
    server = Child("the server", command, tmp_path / "log", environment, ROOT)
    server.start()
    try:
        server.wait_until(lambda: is_ready(number))
        yield number
    finally:
        server.stop()


def ended(connection: socket.socket) -> bool:
    """Whether the server has refused the request, or ended the connection; waits for that."""
    try:
        answer = connection.recv(4096)
    except ConnectionError:
        return True
    return not answer or b" 503 " in answer or b" 400 " in answer


def test_dribbling_connections_do_not_stop_the_server(port: int) -> None:
    with ExitStack() as stack:
        slow = []
        for number in range(CONNECTIONS):
            connection = stack.enter_context(socket.create_connection((LOOPBACK, port), timeout=60))
            connection.sendall(HEAD + b"{"[: number % 2])
            slow.append(connection)
        assert read(port, "/healthz")[0] == 200, "the threads that are left answer"
        assert is_ready(port)
        assert all(ended(connection) for connection in slow), "and nobody keeps a thread"
        sent = stack.enter_context(socket.create_connection((LOOPBACK, port), timeout=60))
        sent.sendall(HEAD.replace(b"100", b"2") + b"{}")
        assert b" 400 " in sent.recv(4096), "bodies are read again"


def test_a_body_that_comes_in_time_is_read_however_many_pieces_it_has(port: int) -> None:
    with socket.create_connection((LOOPBACK, port), timeout=60) as connection:
        body = b'{"email": "olga@marquee.example", "password": "' + b"x" * 300_000 + b'"}'
        connection.sendall(HEAD.replace(b"100", str(len(body)).encode()))
        for start in range(0, len(body), 50_000):
            connection.sendall(body[start : start + 50_000])
        assert b" 400 " in connection.recv(4096)  # a password that is too long


WRONG, TOO_LONG = b"password is wrong", b"must have at most 500 characters"


@pytest.mark.parametrize(("padding", "problem"), [(10, WRONG), (5_000, TOO_LONG), (12_000, TOO_LONG)])
def test_a_body_is_read_to_its_end_however_it_arrives(port: int, padding: int, problem: bytes) -> None:
    body = b'{"email": "olga@marquee.example", "password": "' + b"x" * padding + b'"}'
    with socket.create_connection((LOOPBACK, port), timeout=60) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection.sendall(HEAD.replace(b"100", str(len(body)).encode()))
        for piece in (body[:1], body[1:7], body[7:-1], body[-1:]):
            connection.sendall(piece)
            threading.Event().wait(0.1)
        assert problem in connection.recv(4096)


@pytest.mark.parametrize("size", [b"100", b"20000"], ids=["short", "read in pieces"])
@pytest.mark.parametrize("sent", [b"", b"{}"], ids=["before any of it", "where it could have ended"])
def test_a_body_whose_sender_leaves_is_refused(port: int, size: bytes, sent: bytes) -> None:
    with socket.create_connection((LOOPBACK, port), timeout=60) as connection:
        connection.sendall(HEAD.replace(b"100", size) + sent)
        connection.shutdown(socket.SHUT_WR)
        assert b"The request could not be read." in connection.recv(4096)
    assert is_ready(port)


def test_one_address_waits_on_a_quarter_of_the_threads_at_most_and_a_proxy_on_three() -> None:
    reads = BodyReads(16, 10, lambda: 0)
    mine = [reads.begin("198.51.100.1", 80) for _ in range(4)]
    with pytest.raises(Unavailable, match="too many bodies"):
        reads.begin("198.51.100.1", 80)
    behind_a_proxy = [reads.begin("127.0.0.1", 80) for _ in range(8)]
    with pytest.raises(Unavailable, match="too many bodies"):
        reads.begin("198.51.100.2", 80)
    for number in mine + behind_a_proxy:
        reads.end(number)
    reads.end(reads.begin("198.51.100.1", 80))


def test_only_an_overdue_connection_is_ended() -> None:
    """Its thread reads the end; a connection that was quiet for less long stays."""
    now = 0
    reads = BodyReads(16, 1, lambda: now)
    with socket.create_server((LOOPBACK, 0)) as listener:
        port = listener.getsockname()[1]
        with socket.create_connection((LOOPBACK, port)) as client, listener.accept()[0] as served:
            reads.begin(LOOPBACK, port)
            now = 999_999_999
            assert reads.end_overdue() == 0
            now = 1_000_000_000
            while not reads.end_overdue():  # by its own clock the kernel waits as long
                client.send(b"x")
            while served.recv(4096):
                pass
