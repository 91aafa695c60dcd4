"""What floods cost the others: invented methods, dribbled bodies, large pictures, a killed process, a stopped database.

Two server processes on PostgreSQL. Beside a flood eight visitors read the list of events, each request over a
connection of its own; before it they do the same, which is the yardstick. A request that is not answered, or by an
error of the server, has failed.
"""

from __future__ import annotations

import io
import os
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import urlsplit

import requests
from PIL import Image

from scripts.benchmarking.meters import cpu_time
from scripts.benchmarking.meters.peak_memory import peak_mb
from scripts.benchmarking.result import Figure, Result, at_most, both
from scripts.benchmarking.servers.measured_server import POSTGRES_PROCESSES, MeasuredServer, measured_server
from scripts.benchmarking.statistics import percentile

VISITORS: Final = 8
METHODS: Final = 3_000
SLOW: Final = 260
PICTURES: Final = 4
PICTURE: Final = (7_900, 5_000)
PATIENCE_S: Final = 10
LOOK_S: Final = 0.2
BODY: Final = (
    b"POST /api/session HTTP/1.1\r\nHost: bench\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"
)


@dataclass
class Visits:
    """What visitors experienced."""

    millis: list[float] = field(default_factory=list)
    failed: int = 0

    @property
    def p95(self) -> float:
        """Milliseconds."""
        return percentile(self.millis, 0.95)


def measure(*, quick: bool) -> Iterator[Result]:
    """Let each flood come over the same server, one after another."""
    seconds = 3.0 if quick else 10.0
    with measured_server("postgresql") as server:
        server.serve()
        with visits(server):
            time.sleep(1)  # the first requests compile their statements
        with visits(server) as before:
            time.sleep(seconds)
        yield _invented_methods(server)
        yield _dribbled_bodies(server, seconds, before)
        yield _large_pictures(server)
        yield from _killed_process(server)
        yield _stopped_database(server)


@contextmanager
def visits(server: MeasuredServer) -> Iterator[Visits]:
    """Visitors who read the list of events, one request after another, for as long as the block lasts."""
    result, stop = Visits(), threading.Event()
    with ThreadPoolExecutor(VISITORS) as visitors:
        for _ in range(VISITORS):
            visitors.submit(_visit, server.layout.address, result, stop)
        try:
            yield result
        finally:
            stop.set()


def _visit(address: str, result: Visits, stop: threading.Event) -> None:
    while not stop.is_set():
        started = time.perf_counter()
        try:
            answered = requests.get(f"{address}/api/events", timeout=PATIENCE_S).ok
        except requests.RequestException:
            answered = False
        result.millis.append((time.perf_counter() - started) * 1_000)
        result.failed += not answered


def _invented_methods(server: MeasuredServer) -> Result:
    def size() -> int:
        return len(requests.get(f"{server.layout.metrics_address}/metrics", timeout=PATIENCE_S).content)

    before = size()
    with requests.Session() as connection:
        for number in range(METHODS):
            connection.request(f"X{number}", f"{server.layout.address}/api/events", timeout=PATIENCE_S)
    grown = Figure(value=(size() - before) / 1_000, unit="kB more")
    return Result("floods", f"metrics after {METHODS} invented methods", grown, at_most(20))


def _dribbled_bodies(server: MeasuredServer, seconds: float, before: Visits) -> Result:
    split = urlsplit(server.layout.address)
    with ExitStack() as held:
        for _ in range(SLOW):
            connection = held.enter_context(socket.create_connection((split.hostname, split.port)))
            connection.sendall(BODY)
        with visits(server) as meanwhile:
            time.sleep(seconds)
    figure = Figure(
        value=meanwhile.failed,
        unit="failed",
        p95=meanwhile.p95,
        yardstick=before.p95,
        ratio=meanwhile.p95 / before.p95,
    )
    return Result("floods", f"visitors beside {SLOW} dribbled bodies", figure, both(at_most(0), at_most(2, "ratio")))


def _large_pictures(server: MeasuredServer) -> Result:
    event, picture = server.demo["event"]["id"], _picture()
    headers = {"Authorization": f"Bearer {server.demo['api_token']}", "Content-Type": "image/png"}

    def upload(number: int) -> int:
        url = f"{server.layout.address}/api/events/{event}/covers?alt=Large+{number}"
        return requests.post(url, picture, headers=headers, timeout=60).status_code

    def peaks() -> float:
        return sum(peak_mb(id) for id in cpu_time.descendants(server.programs["server"]))

    before = peaks()
    with ThreadPoolExecutor(PICTURES) as together:
        statuses = list(together.map(upload, range(PICTURES)))
    if set(statuses) != {201}:
        raise RuntimeError(f"not every picture was taken: {statuses}")
    figure = Figure(value=peaks() - before, unit="MB more")
    return Result("floods", f"memory for {PICTURES} large pictures at once", figure, at_most(1_000))


def _picture() -> bytes:
    """Few bytes, but as many pixels as a cover may have."""
    file = io.BytesIO()
    Image.linear_gradient("L").resize(PICTURE).convert("RGB").save(file, "PNG")
    return file.getvalue()


def _killed_process(server: MeasuredServer) -> Iterator[Result]:
    """One of the processes that answer ends without a word; the others answer, and another takes its place."""

    root = server.programs["server"]

    def serving() -> list[int]:
        return [id for id in cpu_time.descendants(root) if id != root]

    before = serving()
    with visits(server) as meanwhile:
        time.sleep(1)
        os.kill(before[-1], signal.SIGKILL)
        seconds = _until(lambda: len(set(serving()) - {before[-1]}) >= len(before))
        time.sleep(1)
    # Whoever was being answered by it has lost the connection: at most one request each.
    lost = Figure(value=meanwhile.failed, unit="failed")
    yield Result("floods", "visitors at a killed process", lost, at_most(VISITORS))
    yield Result("floods", f"{POSTGRES_PROCESSES} processes again", Figure(value=seconds, unit="s"), at_most(10))


def _stopped_database(server: MeasuredServer) -> Result:
    """Its processes stand still, as on a hung disk; whoever asks whether the server is ready still gets an answer."""
    database = cpu_time.descendants(server.programs["database"])
    for id in database:
        os.kill(id, signal.SIGSTOP)
    try:
        started = time.perf_counter()
        status = requests.get(f"{server.layout.address}/readyz", timeout=60).status_code
        seconds = time.perf_counter() - started
    finally:
        for id in database:
            os.kill(id, signal.SIGCONT)
    if status != requests.codes.unavailable:
        raise RuntimeError(f"a server without its database is not ready, but said {status}")
    _until(lambda: requests.get(f"{server.layout.address}/readyz", timeout=60).ok)
    return Result("floods", "readyz while the database stands", Figure(value=seconds, unit="s"), at_most(5))


def _until(done: Callable[[], bool]) -> float:
    """The seconds until it is so."""
    started = time.perf_counter()
    while not done():
        if time.perf_counter() - started > 60:
            raise RuntimeError("it did not recover within a minute")
        time.sleep(LOOK_S)
    return time.perf_counter() - started
