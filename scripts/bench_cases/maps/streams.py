"""Ten thousand open streams of one event's map: what they cost, and whether others notice.

`200 gates waiting threads`: how many threads 200 waiting gates add, each with a signed request of its own.

The server is asked directly, on SQLite, where requests and streams share one process; every stream is a real connection
over loopback. A change is a guest's hold, and counts from the end of its request. Requests are one client's, for the
event; their time without streams, before and after, is the yardstick.
"""

from __future__ import annotations

import json
import os
import resource
import select
import selectors
import socket
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from urllib.parse import urlsplit

from scripts.bench_cases.maps.seatmap import Connection
from scripts.benchmarking.clients import waiting_gates
from scripts.benchmarking.clients.waiting_gates import WaitingGate
from scripts.benchmarking.meters.cpu_time import descendants
from scripts.benchmarking.result import Figure, Goal, Result, at_most
from scripts.benchmarking.rows import rows_venue
from scripts.benchmarking.servers.measured_server import MeasuredServer, measured_server
from scripts.benchmarking.statistics import Spread, milliseconds
from scripts.processes.streams_address import streams_netloc

OPEN = 10_000
READ = 5_000
BATCH = 200
ADDRESSES = 50
"""Addresses of the loopback network from which the streams come, because each may have only some of the places."""
CHANGE_EVERY_S = 2.0
TIMEOUT_S = 120.0
REQUESTS = 400
GUESTS = 100
GATES = 200
ACCEPT = {"Accept": "text/event-stream"}


def measure(*, quick: bool) -> Iterator[Result]:
    """Measure memory at all streams, and changes and requests at half of them."""
    count, read = (1_000, 500) if quick else (OPEN, READ)
    _raise_open_files(count + 2_000)
    with _places(count * 2), measured_server("sqlite") as server:
        rows = rows_venue.create_rows_venue(server, 5_000)
        guests = iter(rows_venue.register_guests(server, rows, GUESTS))
        gates = waiting_gates.enrol(server, GATES)
        server.serve()
        yield waiting_threads(server, gates)
        yield from Benchmark(server, rows, guests).results(count, read, rounds=3 if quick else 10)


def waiting_threads(server: MeasuredServer, gates: Sequence[WaitingGate]) -> Result:
    """How many threads all gates add while they wait."""
    netloc = waiting_gates.listener_netloc(server)
    before = _threads(server)
    with ExitStack() as opened:
        connections = [opened.enter_context(gate.waits(netloc)) for gate in gates]
        time.sleep(3)  # for the last to have been read
        if answered := select.select(connections, [], [], 0)[0]:
            raise RuntimeError(f"{len(answered)} gates do not wait: {answered[0].recv(1_000)!r}")
        added = _threads(server) - before
    return _result(f"{GATES} gates waiting threads", Figure(value=added, unit=""), at_most(2))


class Benchmark:
    """A running server with an event on sale."""

    def __init__(self, server: MeasuredServer, rows: rows_venue.RowsVenue, guests: Iterator[rows_venue.Guest]) -> None:
        self._server, self._rows, self._guests = server, rows, guests
        self._path = f"/api/events/{rows.event_id}"
        self._ask = Connection(server.layout.address)
        self._seats = iter(rows.seats[:: rows_venue.SOLD_OF_A_ROW])

    def results(self, count: int, read: int, *, rounds: int) -> Iterator[Result]:
        """Measure all cases."""
        version = self._version()
        alone = [milliseconds(self._request) for _ in range(REQUESTS)]
        with ExitStack() as opened:
            Streams(self._server, self._path, version, opened).open(20)  # the first ones cost what all others share
            before = self._resident_kb()
            streams = Streams(self._server, self._path, version, opened)
            streams.open(count)
            grown = (self._resident_kb() - before) / count
            yield _result(f"{count} streams kilobytes each", Figure(value=grown, unit="kB"), at_most(40))
        with ExitStack() as opened:
            streams = Streams(self._server, self._path, self._version(), opened)
            streams.open(read)
            taken = [one for _ in range(rounds) for one in self._change(streams)]
            spread = Figure.of_spread(Spread.of(taken), "ms")
            yield _result(f"{read} streams change to page", spread, at_most(1_000, "p95"))
            beside = Spread.of(self._requests_beside_changes(rounds))
        time.sleep(1)  # for the streams to be closed
        alone += [milliseconds(self._request) for _ in range(REQUESTS)]  # other work on the machine comes and goes
        figure = Figure.of_spread(beside, "ms", Spread.of(alone).p50)
        yield _result("requests beside streams", figure, at_most(1.5, "ratio"))

    def _version(self) -> str:
        plain = Connection(self._server.layout.address, {"Accept-Encoding": "identity"})
        return str(json.loads(plain.get(f"{self._path}/seatmap/state"))["version"])

    def _request(self) -> None:
        self._ask.get(f"{self._path}/occupancy")

    def _change(self, streams: Streams) -> list[float]:
        """Milliseconds until each stream has the change that a hold makes, after a pause."""
        time.sleep(CHANGE_EVERY_S)
        streams.changed.clear()
        self._hold()
        held_at = time.perf_counter()
        streams.wait_until_all_changed()
        return [max(0.0, (at - held_at) * 1000) for at in streams.changed.values()]

    def _hold(self) -> None:
        guest, (seat, _) = next(self._guests), next(self._seats)
        rows_venue.hold_seat(self._server.layout.address, self._rows.event_id, guest, seat)

    def _requests_beside_changes(self, rounds: int) -> list[float]:
        """Milliseconds of requests, while a seat is held every two seconds."""
        self._ask = Connection(self._server.layout.address)  # the server has closed the idle one
        done = threading.Event()

        def hold_now_and_then() -> None:
            for _ in range(rounds):
                self._hold()
                if done.wait(CHANGE_EVERY_S):
                    return

        holding = threading.Thread(target=hold_now_and_then)
        holding.start()
        taken = []
        until = time.monotonic() + rounds * CHANGE_EVERY_S
        while time.monotonic() < until:
            taken.append(milliseconds(self._request))
            time.sleep(0.005)
        done.set()
        holding.join()
        return taken

    def _resident_kb(self) -> float:
        """The resident memory of the server and its children."""
        time.sleep(2)
        return sum(_resident_kb(id) for id in descendants(self._server.programs["server"]))


class Streams:
    """Open streams of one map, all read by one thread."""

    def __init__(self, server: MeasuredServer, path: str, version: str, opened: ExitStack) -> None:
        self._path = f"{path}/seatmap/changes?since={version}"
        netloc = streams_netloc(urlsplit(server.layout.address).netloc, self._path, ACCEPT)
        host, _, port = netloc.partition(":")
        self._address = (host, int(port))
        self._opened = opened
        self._sockets: list[socket.socket] = []
        self._selector = opened.enter_context(selectors.DefaultSelector())
        self.changed: dict[int, float] = {}  # by socket
        self._all_changed = threading.Condition()
        self._stop = threading.Event()

    def open(self, count: int) -> None:
        """Open so many streams, some at a time, and wait until each has begun."""
        request = f"GET {self._path} HTTP/1.1\r\nHost: bench\r\nAccept: text/event-stream\r\n\r\n".encode()
        for start in range(0, count, BATCH):
            batch = []
            for n in range(start, min(start + BATCH, count)):
                batch.append(socket.create_connection(self._address, TIMEOUT_S, (f"127.0.1.{n % ADDRESSES + 1}", 0)))
                self._opened.callback(batch[-1].close)
                batch[-1].sendall(request)
            for each in batch:
                if not each.recv(4096).startswith(b"HTTP/1.1 200"):
                    raise RuntimeError("a stream was refused")
                self._selector.register(each, selectors.EVENT_READ)
            self._sockets += batch
        reading = threading.Thread(target=self._read)
        reading.start()
        self._opened.callback(reading.join)
        self._opened.callback(self._stop.set)

    def wait_until_all_changed(self) -> None:
        """Return once each stream has got a change."""
        with self._all_changed:
            if not self._all_changed.wait_for(lambda: len(self.changed) >= len(self._sockets), TIMEOUT_S):
                raise RuntimeError(f"only {len(self.changed)} of {len(self._sockets)} streams got the change")

    def _read(self) -> None:
        while not self._stop.is_set():
            for key, _ in self._selector.select(0.1):
                text = key.fileobj.recv(65_536)  # type: ignore[union-attr]
                if not text:
                    self._selector.unregister(key.fileobj)
                elif b"event: changes" in text:
                    self.changed.setdefault(key.fd, time.perf_counter())
            with self._all_changed:
                self._all_changed.notify_all()


def _result(case: str, figure: Figure, goal: Goal) -> Result:
    return Result("streams", case, figure, goal)


def _threads(server: MeasuredServer) -> int:
    return sum(len(list(Path(f"/proc/{id}/task").iterdir())) for id in descendants(server.programs["server"]))


def _resident_kb(process: int) -> float:
    pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 1024


def _raise_open_files(count: int) -> None:
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, count) if hard > 0 else count, hard))


@contextmanager
def _places(count: int) -> Iterator[None]:
    os.environ["GATEHOUSE_STREAMS"] = str(count)
    try:
        yield
    finally:
        del os.environ["GATEHOUSE_STREAMS"]
