"""Streams of a real server process: visitors have a share of them, and a client that does not read delays nobody."""

from __future__ import annotations

import socket
from contextlib import ExitStack
from pathlib import Path

import orjson
import redis

from scripts.processes.ports import LOOPBACK
from scripts.processes.streams_address import streams_netloc
from sync_server.plumbing.messaging.bus import occupancy_topic
from tests.contracts.facts.memory import eventually
from tests.contracts.facts.programs import Programs, Server, Stream
from tests.contracts.facts.world import Sender

LONG = {"words": "x" * 100_000}
MANY = 60


def asks_and_never_reads(server: Server, path: str, headers: dict[str, str]) -> socket.socket:
    """A client with a tiny receive buffer."""
    host, _, port = streams_netloc(f"{LOOPBACK}:{server.port}", path, headers).partition(":")
    connection = socket.socket()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2_048)
    connection.connect((host, int(port)))
    text = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    connection.sendall(f"GET {path} HTTP/1.1\r\nHost: gatehouse\r\n{text}\r\n".encode())
    return connection


def test_visitors_are_refused_first_and_whoever_leaves_frees_a_place(sqlite_url: str, tmp_path: Path) -> None:
    with ExitStack() as ends:
        sender = Sender(tmp_path, sqlite_url, None)
        programs = Programs(sender, tmp_path, ends, STREAMS="10")  # 8 of visitors, 9 with those of staff
        sender.close()
        server = programs.server().up()
        path = f"/api/public{programs.event.removeprefix('/api')}/live"
        status, _ = server.ask("POST", f"{programs.event}/publish", {})
        assert status in {200, 409}  # the demo may have done it
        visitors = [Stream(server, path, guest=True) for _ in range(8)]
        for one in visitors:
            ends.callback(one.close)
        assert [one.answer.status for one in visitors] == [200] * 8
        visitors[0].until("occupancy")
        with Stream(server, path, guest=True) as another:
            assert (another.answer.status, another.answer.headers["Retry-After"]) == (503, "5")
        with Stream(server, "/api/live") as staff:
            assert staff.answer.status == 200
            staff.until("ready")
        visitors.pop().close()

        def let_in() -> bool:
            with Stream(server, path, guest=True) as another:
                return another.answer.status == 200

        eventually(let_in, "a place that was given back is taken")
        assert server.ask("GET", programs.event)[0] == 200


def _next_number(reader: Stream) -> int:
    """The number of the next text that the test has sent; the demo's own counts may come between."""
    while "n" not in (text := orjson.loads(reader.until("occupancy")[-1]["data"])):
        pass
    return int(text["n"])


def test_a_client_that_does_not_read_delays_nobody(sqlite_url: str, redis_url: str, tmp_path: Path) -> None:
    """More is sent than all buffers can hold: others receive everything, and the server stops when told to."""
    with ExitStack() as ends:
        sender = Sender(tmp_path, sqlite_url, None, redis_url)
        programs = Programs(sender, tmp_path, ends)
        sender.close()
        server = programs.server().up()
        eventually(lambda: server.ready()[1]["redis"] == "ok", "it hears others")
        ends.callback(asks_and_never_reads(server, f"{programs.event}/live", programs.signed_in).close)
        others = ends.enter_context(redis.Redis.from_url(redis_url))
        topic = occupancy_topic(programs.made["organisation"]["id"], programs.made["event"]["number"])
        with Stream(server, f"{programs.event}/live") as reader:
            reader.until("counters")
            for n in range(MANY):
                others.publish("gatehouse:bus", orjson.dumps({"from": "another", "notes": [[topic, {"n": n} | LONG]]}))
                assert _next_number(reader) == n
            server.change("with strings")
            reader.until("event_updated")
        assert server.child is not None
        assert server.child.stop() == 0
